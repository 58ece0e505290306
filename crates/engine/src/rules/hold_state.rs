//! Compares the number of times that a rule has held a stop or refused a call with the rule's `max_holds`.

use std::cmp::Ordering;

use super::Rule;
use crate::file_rules::PossibleDemand;

/// The number of times that a rule has held a stop, asked for files or refused a call, compared with its maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldState {
    /// The rule can still hold stops or refuse calls.
    BelowMaximum,
    /// The rule has reached its maximum: it no longer holds stops or refuses calls, and the person gets a notice.
    AtMaximum,
    /// The count is above the maximum. A pace rule or file rule in this state reports nothing, because the person got a
    /// notice when the count reached the maximum.
    AboveMaximum,
}

impl HoldState {
    /// The state of a rule that has held a stop, asked for files or refused a call `times` times.
    fn of(times: u32, max_holds: u32) -> Self {
        match times.cmp(&max_holds) {
            Ordering::Less => Self::BelowMaximum,
            Ordering::Equal => Self::AtMaximum,
            Ordering::Greater => Self::AboveMaximum,
        }
    }
}

impl Rule {
    pub fn hold_state(&self, times: u32) -> HoldState {
        HoldState::of(times, self.max_holds_or_default())
    }
}

impl PossibleDemand<'_> {
    pub fn hold_state(&self, times_asked: u32) -> HoldState {
        HoldState::of(times_asked, self.max_holds)
    }
}

#[cfg(test)]
mod tests {
    use super::HoldState::{self, AboveMaximum, AtMaximum, BelowMaximum};

    #[test]
    fn the_state_compares_the_count_with_the_maximum() {
        let states = |max_holds| [0, 1, 2, 3].map(|times| HoldState::of(times, max_holds));
        assert_eq!(states(2), [BelowMaximum, BelowMaximum, AtMaximum, AboveMaximum]);
        assert_eq!(states(0), [AtMaximum, AboveMaximum, AboveMaximum, AboveMaximum]);
        assert_eq!(states(u32::MAX), [BelowMaximum; 4]);
    }
}
