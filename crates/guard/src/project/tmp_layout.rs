//! The layout of a project's `tmp` directory.

use std::path::PathBuf;

/// The paths in a project's `tmp` directory. All of them are for file rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmpLayout {
    rules: PathBuf,
}

impl TmpLayout {
    pub fn of(tmp: impl Into<PathBuf>) -> Self {
        Self { rules: tmp.into().join("rules") }
    }

    /// The directory of the queue's entries.
    pub fn queue(&self) -> PathBuf {
        self.rules.join("queue")
    }

    /// The directory of the marks of queue entries. Marks are stored in it only if the user's state directory is not
    /// writable.
    pub fn marks(&self) -> PathBuf {
        self.rules.join("demands")
    }

    /// The directory of the snapshots of the working tree.
    pub fn baselines(&self) -> PathBuf {
        self.rules.join("baselines")
    }

    /// The directory of the locks. While a rule's command is running for a file, there is a lock for that file.
    pub fn locks(&self) -> PathBuf {
        self.rules.join("locks")
    }

    /// The path of a file that contains a random name. The marks of the project's queue entries are stored under this
    /// name.
    pub fn name_file(&self) -> PathBuf {
        self.rules.join("name")
    }

    /// All directories in the `tmp` directory.
    pub(super) fn directories(&self) -> [PathBuf; 5] {
        [self.rules.clone(), self.queue(), self.marks(), self.baselines(), self.locks()]
    }
}
