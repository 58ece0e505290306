//! A file's stamp: its ctime, size and inode, which show whether it changed without reading it.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A value that differs between two versions of a file, except in the case of [`Stamp::is_ambiguous`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The `ctime` in nanoseconds. Unlike the `mtime`, it cannot be set by a program.
    changed: u64,
    size: u64,
    inode: u64,
}

/// The resolution of file system clocks: two writes within one step have the same time.
const CLOCK_STEP: Duration = Duration::from_millis(50);

impl Stamp {
    /// `None` if the file does not exist or cannot be accessed.
    #[cfg(unix)]
    pub fn of(path: &Path) -> Option<Self> {
        rustix::fs::stat(path).ok().map(|stat| Self::from(&stat))
    }

    #[cfg(not(unix))]
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok()?;
        let changed = nanoseconds(metadata.modified().unwrap_or(UNIX_EPOCH));
        Some(Self { changed, size: metadata.len(), inode: 0 })
    }

    /// True if a further write at the time `now` could leave the same stamp. A stamp far in the future is not
    /// ambiguous: the clock was set back, and a write now would get an earlier time.
    pub fn is_ambiguous(self, now: SystemTime) -> bool {
        let step = u64::try_from(CLOCK_STEP.as_nanos()).unwrap_or(u64::MAX);
        nanoseconds(now).abs_diff(self.changed) < step
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

#[cfg(unix)]
impl From<&rustix::fs::Stat> for Stamp {
    #[expect(
        clippy::cast_sign_loss,
        clippy::unnecessary_cast,
        reason = "types differ by system; only equality matters"
    )]
    fn from(stat: &rustix::fs::Stat) -> Self {
        let changed = (stat.st_ctime as u64).wrapping_mul(1_000_000_000).wrapping_add(stat.st_ctime_nsec as u64);
        Self { changed, size: stat.st_size as u64, inode: stat.st_ino as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_within_a_clock_step_are_ambiguous() {
        let now = UNIX_EPOCH + Duration::from_hours(24);
        let stamp = |time| Stamp { changed: nanoseconds(time), size: 1, inode: 1 };
        let (near, far) = (CLOCK_STEP / 2, CLOCK_STEP * 2);
        assert!([now, now - near, now + near].into_iter().all(|time| stamp(time).is_ambiguous(now)));
        assert!(
            ![now - far, now + far, now + Duration::from_hours(1)]
                .into_iter()
                .any(|time| stamp(time).is_ambiguous(now))
        );
    }
}
