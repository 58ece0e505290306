//! Two ways that a script may have gone, as one state.

use super::State;

impl State {
    /// As it is if either of two ways was taken.
    pub(crate) fn join(&mut self, other: &Self) {
        if self.both_go_on(other) {
            self.directory.folders.or(&other.directory.folders);
            self.join_all_else(other);
        }
    }

    /// As it is if the way that is meant was taken, or else another.
    pub(crate) fn join_failed(&mut self, other: &Self) {
        if self.both_go_on(other) {
            self.directory.folders.or_else(&other.directory.folders);
            self.join_all_else(other);
        }
    }

    /// Where one of two ways ends, it is as on the other; but what the one has set to run at its end will run.
    fn both_go_on(&mut self, other: &Self) -> bool {
        match (self.is_over, other.is_over) {
            (false, false) => return true,
            (_, true) => self.join_traps(other),
            (true, false) => {
                let ended = std::mem::replace(self, other.clone());
                self.join_traps(&ended);
            }
        }
        false
    }

    fn join_all_else(&mut self, other: &Self) {
        self.join_traps(other);
        self.variables.join(&other.variables);
        self.branches.or(&other.branches);
        self.parameters.positional.join(&other.parameters.positional);
        if self.directory.previous != other.directory.previous {
            self.directory.previous = None;
        }
        if self.parameters.last_word != other.parameters.last_word {
            self.parameters.last_word = None;
        }
        self.options.exports_all |= other.options.exports_all;
        self.failing.ends &= other.failing.ends;
        self.options.lastpipe |= other.options.lastpipe;
        self.options.dotglob |= other.options.dotglob;
        self.commands.join(&other.commands);
    }

    /// As it is if the last command failed, or with `!` before it, worked.
    pub(crate) fn if_failed(&self) -> Self {
        let mut state = self.clone();
        state.assume(state.failing.is_negated);
        state
    }

    /// From here on, nobody knows whether the last command worked.
    pub(crate) fn settle(&mut self) {
        // Had it failed, nothing more would run.
        if self.failing.ends && !self.failing.is_tested && !self.failing.is_negated {
            return self.assume(true);
        }
        self.failing.is_negated = false;
        self.branches.settle();
        self.directory.settle();
    }

    /// From here on, the last command is known to have worked, or with `!` before it, to have failed.
    pub(crate) fn assume_success(&mut self) {
        self.assume(!self.failing.is_negated);
    }

    fn assume(&mut self, worked: bool) {
        self.failing.is_negated = false;
        self.directory.assume(worked);
        if worked {
            self.branches.assume_success();
        } else {
            self.branches.fail();
        }
    }

    /// Whether what follows would be the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.variables.values == other.variables.values
            && self.variables.arrays == other.variables.arrays
            && self.variables.possible == other.variables.possible
            && self.directory.folders == other.directory.folders
            && self.parameters.positional == other.parameters.positional
            && self.branches == other.branches
    }
}
