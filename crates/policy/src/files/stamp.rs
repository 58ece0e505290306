//! Whether a file is still the one that was read.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// What tells two versions of a file apart without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// When the file last changed in any way, in nanoseconds. Unlike the time of its last write, nobody can set it.
    changed: u64,
    size: u64,
    inode: u64,
}

/// A file system's clock moves in steps: two writes within one leave the same time.
const CLOCK_STEP: Duration = Duration::from_millis(50);

impl Stamp {
    /// `None` where there is nothing that can be looked at.
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

    /// Whether the file could be written once more without its stamp showing it. One from a time farther ahead could
    /// not: the clock was set back since, and a file that is written now has a time of now.
    pub fn is_fresh(self, now: SystemTime) -> bool {
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
        reason = "types differ by system; equality is all that counts"
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
    fn fresh_is_what_was_written_within_a_step_of_the_clock() {
        let now = UNIX_EPOCH + Duration::from_hours(24);
        let stamp = |time| Stamp { changed: nanoseconds(time), size: 1, inode: 1 };
        let (near, far) = (CLOCK_STEP / 2, CLOCK_STEP * 2);
        assert!([now, now - near, now + near].into_iter().all(|time| stamp(time).is_fresh(now)));
        assert!(
            ![now - far, now + far, now + Duration::from_hours(1)].into_iter().any(|time| stamp(time).is_fresh(now))
        );
    }
}
