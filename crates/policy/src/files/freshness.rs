//! Whether files are still as they were when a policy was read from them.
//!
//! This is asked at every event, for a thousand files as well as for one. So they are looked at as they lie in the bytes,
//! without a copy; each is looked up in its open folder instead of from the root of the disk; and where there are many, a
//! second thread begins while the first still has something else to do.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::SystemTime;

use crate::files::inputs::{Chunk, chunks};
use crate::files::stamp::Stamp;

/// To look at so many chunks takes longer than to begin a thread.
const FEW_CHUNKS: usize = 4;
/// It needs next to none.
const STACK: usize = 128 * 1024;

/// Files that are being looked at.
pub struct FreshnessCheck {
    task: Arc<Task>,
    /// What the other thread found in each chunk that it took.
    others: Option<Receiver<Option<Vec<PathBuf>>>>,
}

struct Task {
    /// As [`Inputs::to_bytes`](crate::files::inputs::Inputs::to_bytes) wrote them down.
    bytes: Arc<Vec<u8>>,
    /// When they were read.
    then: SystemTime,
    /// The first chunk that nobody has taken.
    next: AtomicUsize,
}

impl FreshnessCheck {
    pub fn begin(bytes: Arc<Vec<u8>>, then: SystemTime) -> Self {
        let task = Arc::new(Task { bytes, then, next: AtomicUsize::new(0) });
        let are_many = chunks(&task.bytes).is_some_and(|chunks| chunks.len() > FEW_CHUNKS);
        let others = are_many.then(|| {
            let (found, others) = mpsc::channel();
            let task = Arc::clone(&task);
            // Where no thread can be had, there is nobody to share with.
            let _ = thread::Builder::new().stack_size(STACK).spawn(move || {
                task.work(|chunk| drop(found.send(chunk)));
            });
            others
        });
        Self { task, others }
    }

    /// Which of the files differ now, or may: one that was written shortly before it was read could have been written once
    /// more without its stamp showing it. `None`: that cannot be told.
    pub fn finish(self) -> Option<Vec<PathBuf>> {
        let count = chunks(&self.task.bytes)?.len();
        let mut found = Vec::with_capacity(count);
        self.task.work(|chunk| found.push(chunk));
        while found.len() < count {
            found.push(self.others.as_ref()?.recv().ok()?);
        }
        let found: Option<Vec<Vec<PathBuf>>> = found.into_iter().collect();
        Some(found?.concat())
    }
}

impl Task {
    /// Takes chunks while there are any.
    fn work(&self, mut tell: impl FnMut(Option<Vec<PathBuf>>)) {
        let chunks = chunks(&self.bytes).unwrap_or_default();
        while let Some(chunk) = chunks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            tell(chunk.changed(self.then));
        }
    }
}

impl Chunk<'_> {
    fn changed(&self, then: SystemTime) -> Option<Vec<PathBuf>> {
        let folder = OpenFolder::new(self.folder);
        let mut changed = Vec::new();
        for file in self.files() {
            let file = file?;
            let is_fresh = file.stamp.is_some_and(|stamp| stamp.is_fresh(then));
            if is_fresh || folder.stamp(file.name) != file.stamp {
                changed.push(Path::new(self.folder).join(file.name));
            }
        }
        Some(changed)
    }
}

/// `None`: there is no such folder, and so nothing in it.
#[cfg(unix)]
struct OpenFolder(Option<std::os::fd::OwnedFd>);

#[cfg(unix)]
impl OpenFolder {
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
struct OpenFolder<'a>(&'a Path);

#[cfg(not(unix))]
impl<'a> OpenFolder<'a> {
    fn new(path: &'a str) -> Self {
        Self(Path::new(path))
    }

    fn stamp(&self, name: &str) -> Option<Stamp> {
        Stamp::of(&self.0.join(name))
    }
}
