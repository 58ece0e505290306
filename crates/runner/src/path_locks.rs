//! Locks on paths, across processes: two programs never change the same file at once.

use std::fs::{self, File, TryLockError};
use std::io;
use std::iter;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// The pause between two attempts; most programs hold a lock for longer.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Exclusive access to paths, until it is dropped or the process ends. The lock files are not deleted: if one were
/// deleted while another process waits for it, there would be two locks for one path.
#[must_use = "the paths are free again when it is dropped"]
#[derive(Debug)]
pub struct PathLocks {
    _files: Vec<File>,
}

impl PathLocks {
    /// Waits until all paths are free, but not longer than `timeout`. `directory` contains one empty file for each path
    /// that was ever locked.
    ///
    /// All processes take the locks in the same order, so there is no deadlock, unless a process takes more locks while
    /// it holds some.
    pub fn acquire(directory: &Path, paths: &[&str], timeout: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + timeout;
        let mut names: Vec<String> = paths.iter().map(|path| lock_file_name(path)).collect();
        names.sort();
        names.dedup();
        let all_paths = iter::once((ALL_PATHS_LOCK.to_owned(), LockMode::Shared));
        let files = all_paths.chain(names.into_iter().map(|name| (name, LockMode::Exclusive)));
        Ok(Self {
            _files: files
                .map(|(name, mode)| open_and_lock(directory, &name, mode, deadline))
                .collect::<io::Result<_>>()?,
        })
    }

    /// Locks every path.
    pub fn acquire_all(directory: &Path, timeout: Duration) -> io::Result<Self> {
        Ok(Self {
            _files: vec![open_and_lock(directory, ALL_PATHS_LOCK, LockMode::Exclusive, Instant::now() + timeout)?],
        })
    }
}

/// The lock file for all paths: processes that lock some paths hold it shared, a process that locks all paths holds it
/// exclusively.
const ALL_PATHS_LOCK: &str = "everything.lock";

#[derive(Clone, Copy)]
enum LockMode {
    Shared,
    Exclusive,
}

fn open_and_lock(directory: &Path, name: &str, mode: LockMode, deadline: Instant) -> io::Result<File> {
    fs::create_dir_all(directory)?;
    let lock_file = directory.join(name);
    // With a symlink, another user could choose where the file is created.
    if lock_file.is_symlink() {
        return Err(io::Error::other(format!("`{}` is a symlink", lock_file.display())));
    }
    let file = File::options().create(true).truncate(false).write(true).open(lock_file)?;
    loop {
        let result = match mode {
            LockMode::Shared => file.try_lock_shared(),
            LockMode::Exclusive => file.try_lock(),
        };
        match result {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(RETRY_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process has locked one of the files"));
            }
        }
    }
}

/// Returns a short file name for any path.
fn lock_file_name(path: &str) -> String {
    let digest = Sha256::digest(path.as_bytes());
    let mut name = HEXLOWER.encode(digest.as_slice());
    name.truncate(32);
    name + ".lock"
}
