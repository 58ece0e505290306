//! How often a rule may hold an agent: the one place that compares a count with `max_holds`.

use std::cmp::Ordering;

use super::Rule;
use crate::file_rules::UnmetFileRule;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldState {
    /// The rule may hold the agent.
    Holding,
    /// The rule has held as often as it may. It lets the agent go, and tells the person.
    Released,
    /// The rule has let the agent go before. Where every time is counted, the rule now stays silent.
    GivenUp,
}

impl HoldState {
    /// The state of a rule that has held `times` times.
    fn of(times: u32, max_holds: u32) -> Self {
        match times.cmp(&max_holds) {
            Ordering::Less => Self::Holding,
            Ordering::Equal => Self::Released,
            Ordering::Greater => Self::GivenUp,
        }
    }
}

impl Rule {
    pub fn hold_state(&self, times: u32) -> HoldState {
        HoldState::of(times, self.max_holds_or_default())
    }
}

impl UnmetFileRule<'_> {
    pub fn hold_state(&self, times_asked: u32) -> HoldState {
        HoldState::of(times_asked, self.max_holds)
    }
}

#[cfg(test)]
mod tests {
    use super::HoldState::{self, GivenUp, Holding, Released};

    #[test]
    fn a_rule_holds_below_its_maximum_and_releases_once_at_it() {
        let states = |max_holds| [0, 1, 2, 3].map(|times| HoldState::of(times, max_holds));
        assert_eq!(states(2), [Holding, Holding, Released, GivenUp]);
        assert_eq!(states(0), [Released, GivenUp, GivenUp, GivenUp]);
        assert_eq!(states(u32::MAX), [Holding; 4]);
    }
}
