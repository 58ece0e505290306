//! Pauses: a person turns the enforcement of verdicts off for a while. A pause is stored as a file in the user's state
//! directory.
//!
//! During a pause, rules that protect Linchpin itself are still enforced: see [`super::EnforcementMode`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Environment;

/// The longest pause that can be set.
pub const MAX_PAUSE: Duration = Duration::from_hours(24);

/// A time during which verdicts are not enforced, except those that protect Linchpin itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The end of the pause, in milliseconds since 1970.
    pub until: i64,
    pub reason: String,
}

impl Pause {
    /// The current pause; `None` if there is none, if it is over, or if its end is too far in the future.
    pub fn of(root: &Path, environment: &Environment, now: i64) -> Option<Self> {
        let text = fs::read_to_string(file(root, environment)).ok()?;
        let (until, reason) = text.split_once('\n')?;
        let pause = Self { until: until.parse().ok()?, reason: reason.trim().to_owned() };
        // No pause that `linchpin pause` begins is longer than this. If the end is further away, another program wrote
        // the file or the clock was set back, so the pause is ignored.
        let max_length = i64::try_from(MAX_PAUSE.as_millis()).unwrap_or(i64::MAX);
        (pause.until > now && pause.until <= now.saturating_add(max_length)).then_some(pause)
    }

    /// Begins this pause. It replaces an earlier pause.
    pub fn begin(&self, root: &Path, environment: &Environment) -> io::Result<()> {
        policy::write_private_file(&file(root, environment), format!("{}\n{}\n", self.until, self.reason))
    }

    /// Ends the current pause, if there is one.
    pub fn end(root: &Path, environment: &Environment) -> io::Result<()> {
        match fs::remove_file(file(root, environment)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// The time until the end of the pause, rounded up to minutes or hours: `10 more minutes`.
    pub fn time_left(&self, now: i64) -> String {
        const MINUTE: i64 = 60 * 1000;
        match (self.until - now + MINUTE - 1) / MINUTE {
            1 => "1 more minute".to_owned(),
            minutes if minutes <= 120 => format!("{minutes} more minutes"),
            minutes => format!("{} more hours", (minutes + 59) / 60),
        }
    }
}

fn file(root: &Path, environment: &Environment) -> PathBuf {
    environment.project_state(root).join("paused")
}
