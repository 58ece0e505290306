//! Whether a file is still the one that was read.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// What tells two versions of a file apart without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    modified: u64,
    /// Cannot be set back by whoever writes the file, as its modification time can.
    changed: u64,
    size: u64,
    inode: u64,
}

/// A file system's clock moves in steps: two writes within one leave the same times.
const CLOCK_STEP: Duration = Duration::from_millis(50);

impl Stamp {
    /// `None` where there is nothing that can be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        path.metadata().ok().map(|metadata| Self::from(&metadata))
    }

    /// Whether the file could be written once more without its stamp showing it.
    pub fn is_fresh(self, now: SystemTime) -> bool {
        let step = u64::try_from(CLOCK_STEP.as_nanos()).unwrap_or(u64::MAX);
        nanoseconds(now).saturating_sub(self.changed.max(self.modified)) < step
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

impl From<&Metadata> for Stamp {
    #[cfg(unix)]
    fn from(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let join = |seconds: i64, nanoseconds: i64| {
            let seconds = u64::try_from(seconds).unwrap_or(0);
            seconds.wrapping_mul(1_000_000_000).wrapping_add(u64::try_from(nanoseconds).unwrap_or(0))
        };
        Self {
            modified: join(metadata.mtime(), metadata.mtime_nsec()),
            changed: join(metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.size(),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    fn from(metadata: &Metadata) -> Self {
        let modified = nanoseconds(metadata.modified().unwrap_or(UNIX_EPOCH));
        Self { modified, changed: modified, size: metadata.len(), inode: 0 }
    }
}
