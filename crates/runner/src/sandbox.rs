//! The paths that a process may write.

use std::path::{Component, Path, PathBuf};

use crate::caches::caches;
use crate::environment::GetVariable;

/// How the paths that a process may write are limited. Reading, starting programs and the network are never restricted,
/// nor are permissions, owners and times of files, which Landlock does not cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxMode {
    Off,
    /// The process may write only to this directory, the temporary directory, caches of toolchains and `/dev/null`. If
    /// the kernel does not support this, the process runs unconfined, with a note.
    Repo {
        root: PathBuf,
    },
    /// Like `Repo`, but the process is not started if the kernel does not support it.
    Require {
        root: PathBuf,
    },
}

/// The limit that follows from a [`SandboxMode`] on this system.
#[derive(Debug, PartialEq, Eq)]
pub enum SandboxLimit<'c> {
    None,
    /// [`SandboxMode::Repo`] on a system that cannot limit writes: the process runs unconfined.
    Unsupported,
    /// The process must not start, because a required limit is not supported.
    Refused,
    Within(&'c Path),
}

impl SandboxMode {
    pub(crate) fn limit(&self, is_supported: bool) -> SandboxLimit<'_> {
        match self {
            Self::Off => SandboxLimit::None,
            Self::Repo { root } | Self::Require { root } if is_supported => SandboxLimit::Within(root),
            Self::Repo { .. } => SandboxLimit::Unsupported,
            Self::Require { .. } => SandboxLimit::Refused,
        }
    }
}

/// Returns the existing paths that a process confined to `root` may write. Paths inside of other listed paths are left
/// out.
pub fn writable_paths(root: &Path, get_variable: GetVariable<'_>) -> Vec<PathBuf> {
    let temporary = get_variable("TMPDIR").map(PathBuf::from).filter(|path| is_specific(path));
    let mut paths = vec![temporary.unwrap_or_else(|| "/tmp".into()), "/dev/null".into()];
    paths.extend(caches(get_variable).into_iter().filter(|path| is_specific(path)));
    paths.push(root.to_owned());
    paths.retain(|path| path.exists());
    outermost(paths)
}

/// False for the root directory, and for paths that depend on the working directory.
fn is_specific(path: &Path) -> bool {
    path.is_absolute() && path.parent().is_some() && !path.components().any(|part| part == Component::ParentDir)
}

/// Drops paths inside of other listed paths. They are redundant, and must not be opened: a program that may write the
/// outer path could have replaced the inner one by a symlink to another place.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !outer.last().is_some_and(|last| path.starts_with(last)) {
            outer.push(path);
        }
    }
    outer
}
