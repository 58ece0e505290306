//! What a process may write.

use std::path::{Component, Path, PathBuf};

use crate::caches::caches;
use crate::environment::Get;

/// How far a process is kept from writing. Reading, starting programs and the network are free in any case, and so is
/// what Landlock has no right for: permissions, owners and times of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    Off,
    /// To this folder, the temporary one, caches of toolchains and `/dev/null`; to nothing where the kernel cannot, which
    /// is said in a note.
    Repo {
        root: PathBuf,
    },
    /// The same, and not started where the kernel cannot.
    Require {
        root: PathBuf,
    },
}

/// What comes of a confinement on this system.
#[derive(Debug, PartialEq, Eq)]
pub enum SandboxLimit<'c> {
    None,
    /// None, though one was asked for.
    Missing,
    /// None, though one was required.
    Refused,
    Within(&'c Path),
}

impl Confinement {
    pub(crate) fn limit(&self, is_supported: bool) -> SandboxLimit<'_> {
        match self {
            Self::Off => SandboxLimit::None,
            Self::Repo { root } | Self::Require { root } if is_supported => SandboxLimit::Within(root),
            Self::Repo { .. } => SandboxLimit::Missing,
            Self::Require { .. } => SandboxLimit::Refused,
        }
    }
}

/// What a process may write that is confined to `root`: what is there of it, and no path inside of another.
pub fn writable(root: &Path, get: Get<'_>) -> Vec<PathBuf> {
    let temporary = get("TMPDIR").map(PathBuf::from).filter(|path| is_sensible(path));
    let mut paths = vec![temporary.unwrap_or_else(|| "/tmp".into()), "/dev/null".into()];
    paths.extend(caches(get).into_iter().filter(|path| is_sensible(path)));
    paths.push(root.to_owned());
    paths.retain(|path| path.exists());
    outermost(paths)
}

/// Nothing that means the whole system, or another place for every working directory.
fn is_sensible(path: &Path) -> bool {
    path.is_absolute() && path.parent().is_some() && !path.components().any(|part| part == Component::ParentDir)
}

/// A path inside of another adds nothing. It must not even be looked at: a program that may write the outer one could have
/// put a link there which leads elsewhere.
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
