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
    /// Waits until all paths are free, but not longer than `patience`. `folder` contains one empty file for each path
    /// that was ever locked.
    ///
    /// All processes take the locks in the same order, so there is no deadlock, unless a process takes more locks while
    /// it holds some.
    pub fn take(folder: &Path, paths: &[&str], patience: Duration) -> io::Result<Self> {
        let end = Instant::now() + patience;
        let mut names: Vec<String> = paths.iter().map(|path| name(path)).collect();
        names.sort();
        names.dedup();
        let everything = iter::once((EVERYTHING.to_owned(), LockMode::Shared));
        let files = everything.chain(names.into_iter().map(|name| (name, LockMode::Exclusive)));
        Ok(Self { _files: files.map(|(name, mode)| locked(folder, &name, mode, end)).collect::<io::Result<_>>()? })
    }

    /// Locks every path.
    pub fn take_all(folder: &Path, patience: Duration) -> io::Result<Self> {
        Ok(Self { _files: vec![locked(folder, EVERYTHING, LockMode::Exclusive, Instant::now() + patience)?] })
    }
}

/// The lock file for all paths: processes that lock some paths hold it shared, a process that locks all paths holds it
/// exclusively.
const EVERYTHING: &str = "everything.lock";

#[derive(Clone, Copy)]
enum LockMode {
    Shared,
    Exclusive,
}

fn locked(folder: &Path, name: &str, mode: LockMode, end: Instant) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let lock_file = folder.join(name);
    // With a symlink, another user could choose where the file is created.
    if lock_file.is_symlink() {
        return Err(io::Error::other(format!("`{}` is a link", lock_file.display())));
    }
    let file = File::options().create(true).truncate(false).write(true).open(lock_file)?;
    loop {
        let tried = match mode {
            LockMode::Shared => file.try_lock_shared(),
            LockMode::Exclusive => file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(RETRY_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process has locked one of them"));
            }
        }
    }
}

/// Returns a short file name for any path.
fn name(path: &str) -> String {
    let digest = Sha256::digest(path.as_bytes());
    let mut name = HEXLOWER.encode(digest.as_slice());
    name.truncate(32);
    name + ".lock"
}
