//! Two ways that a script may have gone, as one state.

use std::rc::Rc;
use std::sync::Arc;

use super::{Defined, Names, State};

/// Adds what only the others have, without a copy where that is nothing.
fn add_missing<T: Clone>(names: &mut Names<T>, others: &Names<T>) {
    if Rc::ptr_eq(names, others) {
        return;
    }
    let missing: Vec<_> = others.iter().filter(|(name, _)| !names.contains_key(*name)).collect();
    if !missing.is_empty() {
        Rc::make_mut(names).extend(missing.into_iter().map(|(name, value)| (Arc::clone(name), value.clone())));
    }
}

impl State {
    /// As it is if either of two ways was taken.
    pub(in super::super) fn join(&mut self, other: &Self) {
        if self.both_go_on(other) {
            self.folders.or(&other.folders);
            self.join_all_else(other);
        }
    }

    /// As it is if the way that is meant was taken, or else another.
    pub(in super::super) fn join_failed(&mut self, other: &Self) {
        if self.both_go_on(other) {
            self.folders.or_else(&other.folders);
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
        self.join_held(other);
        self.branches.or(&other.branches);
        self.removed.or(&other.removed);
        self.positional.join(&other.positional);
        if self.previous != other.previous {
            self.previous = None;
        }
        if self.last_word != other.last_word {
            self.last_word = None;
        }
        self.set_blindly = self.set_blindly.max(other.set_blindly);
        self.options.exports_all |= other.options.exports_all;
        self.failing.ends &= other.failing.ends;
        self.options.lastpipe |= other.options.lastpipe;
        self.options.dotglob |= other.options.dotglob;
        add_missing(&mut self.references, &other.references);
        add_missing(&mut self.attributes, &other.attributes);
        add_missing(&mut self.aliases, &other.aliases);
        add_missing(&mut self.renamed, &other.renamed);
        self.join_functions(&other.functions);
    }

    /// One that is not there on both ways may not be there.
    fn join_functions(&mut self, others: &Names<Defined>) {
        if Rc::ptr_eq(&self.functions, others) {
            return;
        }
        let functions = Rc::make_mut(&mut self.functions);
        for (name, defined) in functions.iter_mut() {
            defined.is_certain &= others.get(name).is_some_and(|other| other.is_certain);
        }
        for (name, defined) in others.iter() {
            let uncertain = || Defined { is_certain: false, ..defined.clone() };
            functions.entry(Arc::clone(name)).or_insert_with(uncertain);
        }
    }

    /// As it is if the last command failed, or with `!` before it, worked.
    pub(in super::super) fn if_failed(&self) -> Self {
        let mut state = self.clone();
        state.assume(state.failing.is_negated);
        state
    }

    /// From here on, nobody knows whether the last command worked.
    pub(in super::super) fn settle(&mut self) {
        // Had it failed, nothing more would run.
        if self.failing.ends && !self.failing.is_tested && !self.failing.is_negated {
            return self.assume(true);
        }
        self.failing.is_negated = false;
        self.branches.settle();
        let is_gone = std::mem::take(&mut self.is_gone);
        if let Some(failed) = self.failed.take() {
            if is_gone {
                self.folders.or(&failed);
            } else {
                self.folders.or_else(&failed);
            }
        }
    }

    /// From here on, the last command is known to have worked, or with `!` before it, to have failed.
    pub(in super::super) fn assume_success(&mut self) {
        self.assume(!self.failing.is_negated);
    }

    fn assume(&mut self, worked: bool) {
        (self.failing.is_negated, self.is_gone) = (false, false);
        let failed = self.failed.take();
        if worked {
            self.branches.assume_success();
        } else {
            self.branches.fail();
            self.folders = failed.unwrap_or_else(|| self.folders.clone());
        }
    }

    /// Whether the last command went somewhere else, or failed to.
    pub(in super::super) fn may_have_moved(&self) -> bool {
        self.failed.is_some()
    }

    /// Whether what follows would be the same.
    pub(in super::super) fn is_like(&self, other: &Self) -> bool {
        self.variables == other.variables
            && self.arrays == other.arrays
            && self.possible == other.possible
            && self.folders == other.folders
            && self.positional == other.positional
            && self.branches == other.branches
    }
}
