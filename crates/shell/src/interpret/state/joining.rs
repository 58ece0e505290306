//! Joins the states of two control-flow paths into one.

use super::State;

impl State {
    /// Joins the state of another control-flow path into this state.
    pub(crate) fn join(&mut self, other: &Self) {
        if self.join_ended_path(other) {
            self.directory.possible.or(&other.directory.possible);
            self.join_rest(other);
        }
    }

    /// Like [`Self::join`], for the case that this control-flow path is the likely one: commands run in the working
    /// directories of the other control-flow path only if the directories of this path do not exist.
    pub(crate) fn join_as_fallback(&mut self, other: &Self) {
        if self.join_ended_path(other) {
            self.directory.possible.or_else(&other.directory.possible);
            self.join_rest(other);
        }
    }

    /// If one of the two paths has ended, the state becomes that of the other path, plus the traps of the path that
    /// ended. Returns true if neither path has ended.
    fn join_ended_path(&mut self, other: &Self) -> bool {
        match (self.is_unreachable, other.is_unreachable) {
            (false, false) => return true,
            (_, true) => self.join_traps(other),
            (true, false) => {
                let ended = std::mem::replace(self, other.clone());
                self.join_traps(&ended);
            }
        }
        false
    }

    fn join_rest(&mut self, other: &Self) {
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
        self.options.allexport |= other.options.allexport;
        self.failure.errexit &= other.failure.errexit;
        self.options.lastpipe |= other.options.lastpipe;
        self.options.dotglob |= other.options.dotglob;
        self.commands.join(&other.commands);
    }

    /// Returns the state after a failure of the last pipeline. A pipeline with `!` fails if its command succeeds.
    pub(crate) fn if_failed(&self) -> Self {
        let mut state = self.clone();
        state.assume(state.failure.is_negated);
        state
    }

    /// Continues with both outcomes of the last pipeline, success and failure.
    pub(crate) fn leave_success_unknown(&mut self) {
        // Under `set -e`, a failure would have ended the shell.
        if self.failure.errexit && !self.failure.in_condition && !self.failure.is_negated {
            return self.assume(true);
        }
        self.failure.is_negated = false;
        self.branches.leave_success_unknown();
        self.directory.leave_success_unknown();
    }

    /// Continues with the state after a success of the last pipeline. A pipeline with `!` succeeds if its command
    /// fails.
    pub(crate) fn assume_success(&mut self) {
        self.assume(!self.failure.is_negated);
    }

    fn assume(&mut self, succeeded: bool) {
        self.failure.is_negated = false;
        self.directory.assume(succeeded);
        if succeeded {
            self.branches.assume_success();
        } else {
            self.branches.assume_failure();
        }
    }

    /// True if the commands that follow have the same effects in both states.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self.variables.values == other.variables.values
            && self.variables.arrays == other.variables.arrays
            && self.variables.possible == other.variables.possible
            && self.directory.possible == other.directory.possible
            && self.parameters.positional == other.parameters.positional
            && self.branches == other.branches
    }
}
