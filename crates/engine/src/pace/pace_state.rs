use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Attempt, Tokens};

/// The phase that a rule counts in, and the current time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The name of the node; `None` if the phase is a whole session.
    pub name: Option<String>,
    /// The time at which the phase began, in milliseconds since 1970.
    pub started: i64,
    pub now: i64,
    /// The number of seconds by which local time is ahead of UTC.
    pub utc_offset: i32,
}

impl Phase {
    /// The start of the window that ends now and lasts at most `window` seconds. `continued` is the time of the last
    /// `linchpin continue`. The window begins after that time, and not before the phase began.
    pub fn window_start(&self, window: u64, continued: Option<i64>) -> i64 {
        let window = i64::try_from(window.saturating_mul(1000)).unwrap_or(i64::MAX);
        let after_continue = continued.map_or(i64::MIN, |time| time.saturating_add(1));
        self.now.saturating_sub(window).max(self.started).max(after_continue)
    }

    /// The milliseconds that have passed since the phase began.
    pub fn elapsed(&self) -> i64 {
        self.now.saturating_sub(self.started).max(0)
    }
}

/// The counted value that a limit is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tally {
    /// The attempts within the window, oldest first. If different commands or paths count separately, the list has only
    /// the attempts of the most frequent command or path.
    Attempts(Vec<Attempt>),
    /// The elapsed time, which is computed from the [`Phase`].
    Time,
    /// The tokens used in the phase; `None` if the number of tokens is unknown.
    Tokens(Option<Tokens>),
    /// The number of commits. `phases` has the names of the phases in which commits are counted, the current phase
    /// last; the list is empty if commits are counted in the whole session. `count` is `None` if the number is unknown.
    Commits { count: Option<u32>, phases: Vec<String> },
}

/// The state of a pace rule in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaceState {
    pub phase: Phase,
    pub tally: Tally,
    /// The start of the window in which attempts count, in milliseconds since 1970.
    #[serde(rename = "since")]
    pub window_start: i64,
    /// True if the agent has read the interrupt, and the limit has been violated ever since.
    #[serde(rename = "is_told")]
    pub was_interrupted: bool,
    /// How often the rule has refused a call in this phase.
    pub refusals: u32,
    /// True if calls are refused until `linchpin continue`.
    #[serde(rename = "is_closed")]
    pub is_blocking: bool,
    /// The number of seconds or tokens that had been used up to the last `linchpin continue`. Only seconds or tokens
    /// that were used after this command count.
    #[serde(rename = "passed", default)]
    pub continued_from: u64,
}

impl PaceState {
    /// Returns a copy of the state in which the rule has not interrupted the agent and has refused no call.
    #[must_use]
    pub fn without_enforcement(&self) -> Self {
        Self { was_interrupted: false, refusals: 0, is_blocking: false, ..self.clone() }
    }
}

impl Tally {
    /// Keeps the largest group of attempts with the same key. Of several groups with this size, keeps the group with
    /// the latest attempt. `attempts` are ordered from the oldest to the newest.
    pub fn of_attempts(attempts: Vec<Attempt>) -> Self {
        let mut groups: BTreeMap<&str, (usize, i64)> = BTreeMap::new();
        for attempt in &attempts {
            let (number, latest) = groups.entry(&attempt.key).or_default();
            (*number, *latest) = (*number + 1, attempt.time);
        }
        let largest = groups.into_iter().max_by_key(|(_, group)| *group).map(|(key, _)| key.to_owned());
        Self::Attempts(attempts.into_iter().filter(|attempt| Some(&attempt.key) == largest.as_ref()).collect())
    }
}
