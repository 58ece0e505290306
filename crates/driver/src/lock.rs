//! One run at a time in a tree.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use guard::Environment;
use work::RunId;

/// Held as long as the run is driven; the system lets go of it with the process.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

impl RunLock {
    /// None where another run is driven here.
    pub fn take(root: &Path, environment: &Environment) -> io::Result<Option<Self>> {
        let path = path(root, environment);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Says which run it is, for whoever comes meanwhile.
    pub fn name(&mut self, run: RunId) -> io::Result<()> {
        self.file.set_len(0)?;
        write!(self.file, "{run}")
    }
}

/// The run that is driven in a tree now.
pub fn running(root: &Path, environment: &Environment) -> Option<RunId> {
    let path = path(root, environment);
    let file = File::open(&path).ok()?;
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
        .then(|| fs::read_to_string(&path).ok()?.trim().parse().ok())
        .flatten()
}

fn path(root: &Path, environment: &Environment) -> PathBuf {
    environment.project_state(root).join("run.lock")
}
