//! Locks on paths, across processes: never two programs on one file.

use std::fs::{self, File, TryLockError};
use std::io;
use std::iter;
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
        let end = Instant::now() + patience;
        let mut names: Vec<String> = paths.iter().map(|path| name(path)).collect();
        names.sort();
        names.dedup();
        let everything = iter::once((EVERYTHING.to_owned(), Hold::Shared));
        let files = everything.chain(names.into_iter().map(|name| (name, Hold::Alone)));
        Ok(Self { _files: files.map(|(name, hold)| locked(folder, &name, hold, end)).collect::<io::Result<_>>()? })
    }

    /// The same for every path there is.
    pub fn take_all(folder: &Path, patience: Duration) -> io::Result<Self> {
        Ok(Self { _files: vec![locked(folder, EVERYTHING, Hold::Alone, Instant::now() + patience)?] })
    }
}

/// Whoever has some paths shares this; whoever has all of them, has it alone.
const EVERYTHING: &str = "everything.lock";

#[derive(Clone, Copy)]
enum Hold {
    Shared,
    Alone,
}

fn locked(folder: &Path, name: &str, hold: Hold, end: Instant) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let place = folder.join(name);
    // A link would have us make a file where somebody else says.
    if place.is_symlink() {
        return Err(io::Error::other(format!("`{}` is a link", place.display())));
    }
    let file = File::options().create(true).truncate(false).write(true).open(place)?;
    loop {
        let tried = match hold {
            Hold::Shared => file.try_lock_shared(),
            Hold::Alone => file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(file),
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
