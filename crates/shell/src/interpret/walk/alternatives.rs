//! Walks that are repeated for each thing that a variable or a substitution may turn out to be.

use super::Walker;
use crate::interpret::printed::MAX_WAYS;
use crate::interpret::state::{MAX_TOGETHER, State};

impl Walker<'_> {
    /// Walks what may run as well: what it prints may be printed beside what is known.
    pub(super) fn beside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.or_else(visit);
        self.streams.output.doubt();
    }

    /// Walks what may run in the place of what was walked.
    pub(super) fn or_else(&mut self, visit: impl FnOnce(&mut Self)) {
        let printed = std::mem::take(&mut self.streams.output);
        let (found, meaning) = (std::mem::take(&mut self.streams.found), self.streams.meaning.take());
        visit(self);
        self.streams.output.or(printed);
        self.streams.meaning = meaning;
        self.streams.found.retain(|path| !found.contains(path));
        self.streams.found.splice(..0, found);
    }

    /// Looks at a text as it is known, and then once for each thing that its variables and substitutions may be.
    pub(super) fn each_possible<T: PartialEq>(&mut self, text: &str, mut look: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let around = std::mem::take(&mut self.alternatives.possible_texts);
        let decided = self.state.decided_in(text, MAX_TOGETHER / self.alternatives.ways);
        if !decided.is_empty() && self.state.variables.assumes.is_none() {
            return self.each_decided(decided, look);
        }
        let mut looks = vec![look(self)];
        let printed = std::mem::replace(&mut self.alternatives.possible_texts, around);
        if self.state.variables.assumes.is_some() {
            return looks;
        }
        for number in 0..self.state.possible_in(text).max(printed).min(MAX_WAYS) {
            if !self.goes_on() {
                break;
            }
            self.state.variables.assumes = Some(number);
            let assumed = look(self);
            self.state.variables.assumes = None;
            if !looks.contains(&assumed) {
                looks.push(assumed);
            }
        }
        looks
    }

    /// Looks at it in each of the states that the shell may be in, and leaves the one that it is in as it was.
    fn each_decided<T: PartialEq>(&mut self, states: Vec<State>, mut look: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let before = self.kept_state();
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
