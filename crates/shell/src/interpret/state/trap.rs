//! What a shell was told to run when it ends.

use std::rc::Rc;
use std::sync::Arc;

use super::{State, Value};

pub(crate) struct Trap {
    /// `None` for one that is not known.
    pub(crate) text: Option<String>,
    /// Of when it was set.
    state: State,
    /// Where only one of several ways sets it, of when that ended.
    ended: Option<State>,
}

impl State {
    pub(crate) fn set_trap(&mut self, text: Option<String>) {
        let state = self.without_traps();
        self.traps.push(Rc::new(Trap { text, state, ended: None }));
    }

    pub(crate) fn next_trap(&mut self) -> Option<Rc<Trap>> {
        self.traps.pop()
    }

    /// A shell of its own begins without any.
    pub(crate) fn drop_traps(&mut self) {
        self.traps.clear();
    }

    fn without_traps(&self) -> Self {
        Self { traps: Vec::new(), ..self.clone() }
    }

    /// To be called before variables are joined: those of the way that sets one count for it.
    pub(super) fn join_traps(&mut self, other: &Self) {
        let is_in = |traps: &[Rc<Trap>], trap: &Rc<Trap>| traps.iter().any(|found| Rc::ptr_eq(found, trap));
        let on_one_way = |trap: &Rc<Trap>, ended: &Self| {
            let ended = || Some(ended.without_traps());
            let (text, state) = (trap.text.clone(), trap.state.clone());
            Rc::new(Trap { text, state, ended: trap.ended.clone().or_else(ended) })
        };
        let only_there = other.traps.iter().filter(|trap| !is_in(&self.traps, trap));
        let only_there: Vec<_> = only_there.map(|trap| on_one_way(trap, other)).collect();
        let here = self
            .traps
            .iter()
            .map(|trap| if is_in(&other.traps, trap) { Rc::clone(trap) } else { on_one_way(trap, self) });
        self.traps = here.chain(only_there).collect();
    }

    /// The shell as it may be when a trap runs: at its end, and as when the trap was set where that differs. What was
    /// empty or not set by then was there for a value that was still to come.
    pub(crate) fn when_run(&self, trap: &Trap) -> Vec<Self> {
        let has_text = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.text.is_empty());
        let of = |state: &Self| -> Vec<(Arc<str>, Option<Value>)> {
            let known = state.variables.values.iter().filter(|(_, value)| has_text(value));
            known.map(|(name, value)| (Arc::clone(name), value.clone())).collect()
        };
        let mut at_end = self.clone();
        for (name, value) in trap.ended.as_ref().map(of).unwrap_or_default() {
            if self.variables.values.get(&name).is_none_or(Option::is_none) {
                at_end.assign(&name, value);
            }
        }
        let mut when_set = at_end.clone();
        for (name, value) in of(&trap.state) {
            if at_end.variables.values.get(&name) != Some(&value) {
                when_set.assign(&name, value);
            }
        }
        when_set.directory.folders = trap.state.directory.folders.clone();
        let is_same = when_set.variables.values == at_end.variables.values
            && when_set.directory.folders == at_end.directory.folders;
        if is_same { vec![at_end] } else { vec![when_set, at_end] }
    }
}
