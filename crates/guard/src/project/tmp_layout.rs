//! The layout of a project's `tmp` directory.

use std::path::PathBuf;

/// The paths in a project's `tmp` directory. File rules use all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmpLayout {
    rules: PathBuf,
}

impl TmpLayout {
    pub fn of(tmp: impl Into<PathBuf>) -> Self {
        Self { rules: tmp.into().join("rules") }
    }

    /// The entries of the queue.
    pub fn queue(&self) -> PathBuf {
        self.rules.join("queue")
    }

    /// The marks of queue entries, if the user's state directory cannot be written.
    pub fn marks(&self) -> PathBuf {
        self.rules.join("demands")
    }

    /// The snapshots of the working tree.
    pub fn baselines(&self) -> PathBuf {
        self.rules.join("baselines")
    }

    /// The locks of files that a rule's command is running for.
    pub fn locks(&self) -> PathBuf {
        self.rules.join("locks")
    }

    /// The file with the project's random name.
    pub fn name_file(&self) -> PathBuf {
        self.rules.join("name")
    }

    pub(super) fn folders(&self) -> [PathBuf; 5] {
        [self.rules.clone(), self.queue(), self.marks(), self.baselines(), self.locks()]
    }
}
