//! Containers: what runs in one has files of its own, and reaches those of the host only where they are mounted.
//!
//! What a running container has mounted is not known here, and taken for nothing.

use super::Folders;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    pub(crate) mounts: Vec<Mount>,
    /// Whether it may reach more of the host than that.
    pub(crate) is_open: bool,
    /// Where it is started: what sources are relative to.
    pub(crate) started_in: Folders,
    /// Where its command runs in it.
    pub(crate) workdir: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Where it is in the container; absolute and plain.
    pub(crate) target: String,
    /// What it is on the host; `None` for a volume, which is none of its folders.
    pub(crate) source: Option<String>,
    pub(crate) is_read_only: bool,
}

impl Container {
    /// The folders that its command may run in. Without a word on it, the image says.
    pub(crate) fn folders(&self) -> Folders {
        self.workdir.as_deref().map_or_else(Folders::unknown, Folders::at)
    }
}
