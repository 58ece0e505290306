//! Two ways that a script may have gone, as one state.

use std::rc::Rc;
use std::sync::Arc;

use super::super::printed::MAX_WAYS;
use super::{Defined, Names, State, Value};

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

/// Some more that a variable may be, without a copy where that is nothing.
pub(super) fn add_possible<'v>(
    possible: &mut Names<Vec<Value>>,
    name: &Arc<str>,
    values: impl IntoIterator<Item = &'v Value>,
) {
    for value in values {
        let known = possible.get(name).map_or(&[][..], Vec::as_slice);
        if known.len() < MAX_WAYS && !known.contains(value) {
            Rc::make_mut(possible).entry(Arc::clone(name)).or_default().push(value.clone());
        }
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
        self.join_variables(&other.variables);
        if !Rc::ptr_eq(&self.possible, &other.possible) {
            for (name, values) in other.possible.iter() {
                add_possible(&mut self.possible, name, values);
            }
        }
        if !Rc::ptr_eq(&self.arrays, &other.arrays) {
            Rc::make_mut(&mut self.arrays).retain(|name, elements| other.arrays.get(name) == Some(elements));
        }
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

    /// Those that differ are not known, but may be what they are here or there.
    fn join_variables(&mut self, others: &Names<Option<Value>>) {
        if Rc::ptr_eq(&self.variables, others) {
            return;
        }
        let here = self.variables.iter().filter(|(name, value)| others.get(*name) != Some(*value));
        let there = others.iter().filter(|(name, _)| !self.variables.contains_key(*name));
        let differing: Vec<Arc<str>> = here.chain(there).map(|(name, _)| Arc::clone(name)).collect();
        if differing.is_empty() {
            return;
        }
        self.environment = None;
        let variables = Rc::make_mut(&mut self.variables);
        for name in differing {
            let value = variables.insert(Arc::clone(&name), None).flatten();
            let values = value.iter().chain(others.get(&name).into_iter().flatten());
            add_possible(&mut self.possible, &name, values);
        }
    }

    /// It may be any of these.
    pub(in super::super) fn may_be(&mut self, name: &str, values: &[Value]) {
        add_possible(&mut self.possible, &name.into(), values);
    }

    /// What is set otherwise there may be so here.
    pub(in super::super) fn may_be_as(&mut self, other: &Self) {
        self.positional.may_be_as(&other.positional);
        if Rc::ptr_eq(&self.variables, &other.variables) {
            return;
        }
        for (name, value) in other.variables.iter() {
            if value.is_some() && self.variables.get(name) != Some(value) {
                add_possible(&mut self.possible, name, value);
            }
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
            && self.possible == other.possible
            && self.folders == other.folders
            && self.positional == other.positional
            && self.branches == other.branches
    }
}
