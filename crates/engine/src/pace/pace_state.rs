use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Attempt, Tokens};

/// The phase that a rule counts in, and the current time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The node's name; `None` for a session.
    pub name: Option<String>,
    /// Milliseconds since 1970.
    pub started: i64,
    pub now: i64,
    /// Seconds that local time is ahead of UTC.
    pub utc_offset: i32,
}

impl Phase {
    /// The start of a window of `window` seconds. `continued` is the time of the last `linchpin continue`, at which
    /// counts restart.
    pub fn window_start(&self, window: u64, continued: Option<i64>) -> i64 {
        let window = i64::try_from(window.saturating_mul(1000)).unwrap_or(i64::MAX);
        let afresh = continued.map_or(i64::MIN, |time| time.saturating_add(1));
        self.now.saturating_sub(window).max(self.started).max(afresh)
    }

    /// Milliseconds since the phase began.
    pub fn elapsed(&self) -> i64 {
        self.now.saturating_sub(self.started).max(0)
    }
}

/// The counted value that a limit is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tally {
    /// Attempts within the window, oldest first. If several groups count separately, the largest.
    Attempts(Vec<Attempt>),
    /// The phase has the times.
    Time,
    /// `None` if unknown.
    Tokens(Option<Tokens>),
    /// Commits in these phases, of which the current one is last. `None` if unknown.
    Commits { count: Option<u32>, phases: Vec<String> },
}

/// The state of a pace rule in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaceState {
    pub phase: Phase,
    pub tally: Tally,
    /// Start of the counted window in milliseconds since 1970.
    #[serde(rename = "since")]
    pub window_start: i64,
    /// The agent has read the interrupt, and the limit has been exceeded ever since.
    #[serde(rename = "is_told")]
    pub was_interrupted: bool,
    /// How often the rule has refused a call in this phase.
    pub refusals: u32,
    /// Calls are refused until `linchpin continue`.
    #[serde(rename = "is_closed")]
    pub is_blocking: bool,
    /// The total (seconds or tokens) at the last `linchpin continue`; the limit counts from there.
    #[serde(rename = "passed", default)]
    pub continued_from: u64,
}

impl PaceState {
    /// The counts alone, without interrupts and refusals.
    #[must_use]
    pub fn without_enforcement(&self) -> Self {
        Self { was_interrupted: false, refusals: 0, is_blocking: false, ..self.clone() }
    }
}

impl Tally {
    /// Keeps the largest group of attempts with the same key; of equal groups the latest. `attempts` are oldest first.
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
