//! Repeats a walk for each possible value of a variable or substitution.

use super::Walker;
use crate::interpret::possible_output::MAX_ALTERNATIVES;
use crate::interpret::state::{MAX_COMBINATIONS, State};

impl Walker<'_> {
    /// Walks a part that may run in addition. Its output is possible, not certain.
    pub(super) fn in_addition(&mut self, visit: impl FnOnce(&mut Self)) {
        self.or_else(visit);
        self.streams.output.mark_incomplete();
    }

    /// Walks an alternative to the part that was walked last.
    pub(super) fn or_else(&mut self, visit: impl FnOnce(&mut Self)) {
        let printed = std::mem::take(&mut self.streams.output);
        let (found, meaning) = (std::mem::take(&mut self.streams.paths), self.streams.output_example.take());
        visit(self);
        self.streams.output.or(printed);
        self.streams.output_example = meaning;
        self.streams.paths.retain(|path| !found.contains(path));
        self.streams.paths.splice(..0, found);
    }

    /// Visits with the values that are known, and then once for each possible value of the script's variables and
    /// substitutions.
    pub(super) fn for_each_possible_value<T: PartialEq>(
        &mut self,
        text: &str,
        mut look: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let outer = std::mem::take(&mut self.alternatives.possible_count);
        let decided = self.state.split_by_variable_in(text, MAX_COMBINATIONS / self.alternatives.state_count);
        if !decided.is_empty() && self.state.variables.assumed_index.is_none() {
            return self.in_each_state(decided, look);
        }
        let mut looks = vec![look(self)];
        let printed = std::mem::replace(&mut self.alternatives.possible_count, outer);
        if self.state.variables.assumed_index.is_some() {
            return looks;
        }
        for number in 0..self.state.possible_count_in(text).max(printed).min(MAX_ALTERNATIVES) {
            if !self.has_budget() {
                break;
            }
            self.state.variables.assumed_index = Some(number);
            let assumed = look(self);
            self.state.variables.assumed_index = None;
            if !looks.contains(&assumed) {
                looks.push(assumed);
            }
        }
        looks
    }

    /// Visits once in each of the given states, and restores the present state.
    fn in_each_state<T: PartialEq>(&mut self, states: Vec<State>, mut look: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let before = self.saved_state();
        let mut looks = Vec::new();
        for state in states {
            if !self.spend(state.size()) {
                break;
            }
            self.state = state;
            let seen = look(self);
            if !looks.contains(&seen) {
                looks.push(seen);
            }
        }
        self.state = before;
        looks
    }
}
