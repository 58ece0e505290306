//! Compares the number of times that a rule has held or refused with the rule's `max_holds`.

use std::cmp::Ordering;

use super::Rule;
use crate::file_rules::PossibleDemand;

/// The number of times that a rule has held a stop, asked for files or refused a call, compared with its maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldState {
    /// The rule can still hold or refuse.
    BelowMaximum,
    /// The rule has reached its maximum: it no longer holds or refuses, and the person is told.
    AtMaximum,
    /// The count is above the maximum. A pace rule or file rule in this state reports nothing, because the person was
    /// told at the maximum.
    AboveMaximum,
}

impl HoldState {
    /// The state of a rule that has held or refused `times` times.
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
