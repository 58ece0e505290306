//! The lock that allows one run per tree.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use guard::Environment;
use work::RunId;

const ATTEMPTS: u32 = 20;
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Held while the run is active. The operating system releases it when the process ends.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

impl RunLock {
    /// Returns `None` if another run is active in this tree.
    pub fn acquire(root: &Path, environment: &Environment) -> io::Result<Option<Self>> {
        let path = path(root, environment);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(path)?;
        for attempt in 0.. {
            match file.try_lock() {
                Ok(()) => break,
                // `active_run_id` holds the lock for a moment to test it.
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => thread::sleep(RETRY_INTERVAL),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        // Removes the id of the last run.
        file.set_len(0)?;
        Ok(Some(Self { file }))
    }

    /// Writes the id of the run that holds the lock.
    pub fn write_run_id(&mut self, run: RunId) -> io::Result<()> {
        write!(self.file, "{run}")
    }
}

/// Returns the run that is active in a tree, if any.
pub fn active_run_id(root: &Path, environment: &Environment) -> Option<RunId> {
    let path = path(root, environment);
    let file = File::open(&path).ok()?;
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
        .then(|| fs::read_to_string(&path).ok()?.trim().parse().ok())
        .flatten()
}

fn path(root: &Path, environment: &Environment) -> PathBuf {
    environment.project_state(root).join("run.lock")
}
