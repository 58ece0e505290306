//! Locks on paths, across processes: never two programs on one file.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// How long to wait between looks; most programs take longer.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Nobody else has these paths until this is dropped, or its process ends. The files stay: to remove one that somebody
/// else waits for would make two locks of it.
#[must_use = "the paths are free again when it is dropped"]
#[derive(Debug)]
pub struct PathLocks {
    _files: Vec<File>,
}

impl PathLocks {
    /// Waits until all are free, but not longer than `patience`. `folder` holds one empty file for each path that was ever locked.
    ///
    /// Everybody takes them in one order, so nobody waits for somebody who waits for him; but only if nobody takes more
    /// while he has some.
    pub fn take(folder: &Path, paths: &[&str], patience: Duration) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let end = Instant::now() + patience;
        let mut names: Vec<String> = paths.iter().map(|path| name(path)).collect();
        names.sort();
        names.dedup();
        let files = names.iter().map(|name| {
            let place = folder.join(name);
            // A link would have us make a file where somebody else says.
            if place.is_symlink() {
                return Err(io::Error::other(format!("`{}` is a link", place.display())));
            }
            let file = File::options().create(true).truncate(false).write(true).open(place)?;
            lock(&file, end)?;
            Ok(file)
        });
        Ok(Self { _files: files.collect::<io::Result<_>>()? })
    }
}

fn lock(file: &File, end: Instant) -> io::Result<()> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(LOOK_AGAIN),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process has one of them"));
            }
        }
    }
}

/// Short, and a file name whatever the path is.
fn name(path: &str) -> String {
    let digest = Sha256::digest(path.as_bytes());
    let mut name = HEXLOWER.encode(digest.as_slice());
    name.truncate(32);
    name + ".lock"
}
