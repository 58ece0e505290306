//! Repeats a walk for each possible value of a variable or substitution.

use super::Walker;
use crate::interpret::possible_output::MAX_ALTERNATIVES;
use crate::interpret::state::{MAX_COMBINATIONS, State};

impl Walker<'_> {
    /// Walks a part of the script that possibly does not run. The output of this part counts as possible, not as
    /// certain.
    pub(super) fn in_addition(&mut self, visit: impl FnOnce(&mut Self)) {
        self.as_alternative(visit);
        self.streams.output.mark_incomplete();
    }

    /// Walks an alternative to the part that was walked last.
    pub(super) fn as_alternative(&mut self, visit: impl FnOnce(&mut Self)) {
        let printed = std::mem::take(&mut self.streams.output);
        let (paths, placeholder) =
            (std::mem::take(&mut self.streams.printed_paths), self.streams.output_placeholder.take());
        visit(self);
        self.streams.output.or(printed);
        self.streams.output_placeholder = placeholder;
        self.streams.printed_paths.retain(|path| !paths.contains(path));
        self.streams.printed_paths.splice(..0, paths);
    }

    /// Calls `visit` once with the known values in the state, and then once for each possible value of the variables
    /// and substitutions in the shell text `text`. If a variable in `text` certainly has one of several known values,
    /// calls `visit` only once for each of these values.
    pub(super) fn for_each_possible_value<T: PartialEq>(
        &mut self,
        text: &str,
        mut visit: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let outer = std::mem::take(&mut self.alternatives.possible_count);
        let states = self.state.split_by_variable_in(text, MAX_COMBINATIONS / self.alternatives.state_count);
        if !states.is_empty() && self.state.variables.assumed_index.is_none() {
            return self.in_each_state(states, visit);
        }
        let mut results = vec![visit(self)];
        let printed = std::mem::replace(&mut self.alternatives.possible_count, outer);
        if self.state.variables.assumed_index.is_some() {
            return results;
        }
        for index in 0..self.state.possible_count_in(text).max(printed).min(MAX_ALTERNATIVES) {
            if !self.has_budget() {
                break;
            }
            self.state.variables.assumed_index = Some(index);
            let assumed = visit(self);
            self.state.variables.assumed_index = None;
            if !results.contains(&assumed) {
                results.push(assumed);
            }
        }
        results
    }

    /// Calls `visit` once in each of these states, and then restores the current state.
    fn in_each_state<T: PartialEq>(&mut self, states: Vec<State>, mut visit: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let before = self.saved_state();
        let mut results = Vec::new();
        for state in states {
            if !self.spend(state.size()) {
                break;
            }
            self.state = state;
            let result = visit(self);
            if !results.contains(&result) {
                results.push(result);
            }
        }
        self.state = before;
        results
    }
}
