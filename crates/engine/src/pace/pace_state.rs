use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Attempt, Tokens};

/// The phase that a rule looks at, and when it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The node's name; none: it is a session.
    pub name: Option<String>,
    /// Milliseconds since 1970.
    pub started: i64,
    pub now: i64,
    /// Seconds that the clock on the wall is ahead of UTC.
    pub utc_offset: i32,
}

impl Phase {
    /// The first moment that a window of so many seconds reaches back to. `continued`: when somebody last went on
    /// deliberately, from where counts begin again.
    pub fn window_start(&self, window: u64, continued: Option<i64>) -> i64 {
        let window = i64::try_from(window.saturating_mul(1000)).unwrap_or(i64::MAX);
        let afresh = continued.map_or(i64::MIN, |time| time.saturating_add(1));
        self.now.saturating_sub(window).max(self.started).max(afresh)
    }

    /// Milliseconds since it began.
    pub fn elapsed(&self) -> i64 {
        self.now.saturating_sub(self.started).max(0)
    }
}

/// What was counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tally {
    /// Those in the window that count together, oldest first; of several such lots the largest.
    Attempts(Vec<Attempt>),
    /// The phase itself says.
    Time,
    /// `None`: nobody can tell.
    Tokens(Option<Tokens>),
    /// In these phases, this one last. `None`: nobody can tell.
    Commits { count: Option<u32>, phases: Vec<String> },
}

/// How a phase stands with a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaceState {
    pub phase: Phase,
    pub tally: Tally,
    /// Where the window begins.
    pub since: i64,
    /// The agent was told, and it has been too much ever since.
    pub is_told: bool,
    /// How often calls were refused for it in this phase.
    pub refusals: u32,
    /// Calls are refused until somebody goes on deliberately.
    pub is_closed: bool,
    /// How much of a total (seconds or tokens) somebody went on past: the limit counts from there.
    #[serde(default)]
    pub passed: u64,
}

impl PaceState {
    /// What was counted, without what came of it.
    #[must_use]
    pub fn as_it_was(&self) -> Self {
        Self { is_told: false, refusals: 0, is_closed: false, ..self.clone() }
    }
}

impl Tally {
    /// Of attempts with several keys, oldest first, those that count together and are most; of as many, the latest.
    pub fn of_attempts(attempts: Vec<Attempt>) -> Self {
        let mut lots: BTreeMap<&str, (usize, i64)> = BTreeMap::new();
        for attempt in &attempts {
            let (number, latest) = lots.entry(&attempt.key).or_default();
            (*number, *latest) = (*number + 1, attempt.time);
        }
        let most = lots.into_iter().max_by_key(|(_, lot)| *lot).map(|(key, _)| key.to_owned());
        Self::Attempts(attempts.into_iter().filter(|attempt| Some(&attempt.key) == most.as_ref()).collect())
    }
}
