//! Containers. A command in a container has its own files, and reaches files of the host only through mounts.
//!
//! A container that is already running is assumed to have no mounts, because its mounts are not known.

use super::PossibleDirectories;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    pub(crate) mounts: Vec<Mount>,
    /// True if the container may reach files of the host outside of its mounts.
    pub(crate) may_reach_host: bool,
    /// The directories of the command that starts the container. Sources of mounts are relative to these directories.
    pub(crate) started_in: PossibleDirectories,
    /// The directory in the container in which the container's command runs.
    pub(crate) workdir: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The absolute, normalized path in the container.
    pub(crate) target: String,
    /// The path on the host; `None` for a volume.
    pub(crate) source: Option<String>,
    pub(crate) is_read_only: bool,
}

impl Container {
    /// The directories that the command in the container may run in. Without a `workdir`, the image determines the
    /// directory, which is then unknown.
    pub(crate) fn directories(&self) -> PossibleDirectories {
        self.workdir.as_deref().map_or_else(PossibleDirectories::unknown, PossibleDirectories::at)
    }
}
