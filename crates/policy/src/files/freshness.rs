//! The freshness check: finds the files that changed since the policy was read from them.
//!
//! The check runs at every event, and a policy may have a thousand files. To be fast, it uses the serialized inputs
//! without copying them, calls `statat` relative to the opened directory instead of resolving whole paths, and for many
//! files starts a second thread, which checks while the calling thread reads the rules.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::SystemTime;

use crate::files::inputs::{Chunk, chunks};
use crate::files::stamp::Stamp;

/// With at most this many chunks, starting a second thread takes longer than it saves.
const FEW_CHUNKS: usize = 4;
/// The stack size of the second thread, which needs very little.
const STACK: usize = 128 * 1024;

/// The inputs of a policy that have changed since they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedInputs {
    /// These files have changed, and no others.
    Files(Vec<PathBuf>),
    /// Any file may have changed.
    Unknown,
}

impl ChangedInputs {
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Files(files) if files.is_empty())
    }
}

/// A freshness check in progress.
pub struct FreshnessCheck {
    task: Arc<Task>,
    /// Receives the changed files of each chunk that the second thread checked.
    second_thread: Option<Receiver<Option<Vec<PathBuf>>>>,
}

struct Task {
    /// Inputs, serialized by [`Inputs::to_bytes`](crate::files::inputs::Inputs::to_bytes).
    bytes: Arc<Vec<u8>>,
    /// When the files were read.
    read_at: SystemTime,
    /// Index of the next chunk to check.
    next_chunk: AtomicUsize,
}

impl FreshnessCheck {
    pub fn begin(bytes: Arc<Vec<u8>>, read_at: SystemTime) -> Self {
        let task = Arc::new(Task { bytes, read_at, next_chunk: AtomicUsize::new(0) });
        let needs_second_thread = chunks(&task.bytes).is_some_and(|chunks| chunks.len() > FEW_CHUNKS);
        let second_thread = needs_second_thread.then(|| {
            let (sender, receiver) = mpsc::channel();
            let task = Arc::clone(&task);
            // If the second thread cannot be started, the calling thread checks everything.
            let _ = thread::Builder::new().stack_size(STACK).spawn(move || {
                task.check_chunks(|chunk| drop(sender.send(chunk)));
            });
            receiver
        });
        Self { task, second_thread }
    }

    /// Returns what has changed since `read_at`. A file that was written shortly before it was read counts as changed,
    /// because a later write might have left the same stamp.
    pub fn finish(self) -> ChangedInputs {
        self.changed_files().map_or(ChangedInputs::Unknown, ChangedInputs::Files)
    }

    /// `None` if the inputs cannot be decoded.
    fn changed_files(self) -> Option<Vec<PathBuf>> {
        let count = chunks(&self.task.bytes)?.len();
        let mut reports = Vec::with_capacity(count);
        self.task.check_chunks(|chunk| reports.push(chunk));
        while reports.len() < count {
            reports.push(self.second_thread.as_ref()?.recv().ok()?);
        }
        let reports: Option<Vec<Vec<PathBuf>>> = reports.into_iter().collect();
        Some(reports?.concat())
    }
}

impl Task {
    /// Checks chunks until none is left, and passes the changed files of each to `report`.
    fn check_chunks(&self, mut report: impl FnMut(Option<Vec<PathBuf>>)) {
        let chunks = chunks(&self.bytes).unwrap_or_default();
        while let Some(chunk) = chunks.get(self.next_chunk.fetch_add(1, Ordering::Relaxed)) {
            report(chunk.changed_files(self.read_at));
        }
    }
}

impl Chunk<'_> {
    fn changed_files(&self, read_at: SystemTime) -> Option<Vec<PathBuf>> {
        let directory = OpenDirectory::new(self.directory);
        let mut changed_files = Vec::new();
        for file in self.files() {
            let file = file?;
            let is_ambiguous = file.stamp.is_some_and(|stamp| stamp.is_ambiguous(read_at));
            if is_ambiguous || directory.stamp(file.name) != file.stamp {
                changed_files.push(Path::new(self.directory).join(file.name));
            }
        }
        Some(changed_files)
    }
}

/// An opened directory; `None` if it does not exist.
#[cfg(unix)]
struct OpenDirectory(Option<std::os::fd::OwnedFd>);

#[cfg(unix)]
impl OpenDirectory {
    fn new(path: &str) -> Self {
        use rustix::fs::{Mode, OFlags, open};
        Self(open(path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok())
    }

    fn stamp(&self, name: &str) -> Option<Stamp> {
        use rustix::fs::{AtFlags, statat};
        statat(self.0.as_ref()?, name, AtFlags::empty()).ok().map(|stat| Stamp::from(&stat))
    }
}

#[cfg(not(unix))]
struct OpenDirectory<'a>(&'a Path);

#[cfg(not(unix))]
impl<'a> OpenDirectory<'a> {
    fn new(path: &'a str) -> Self {
        Self(Path::new(path))
    }

    fn stamp(&self, name: &str) -> Option<Stamp> {
        Stamp::of(&self.0.join(name))
    }
}
