//! What a shell was told to run when it ends.

use std::rc::Rc;

use super::{State, Value};

pub(in super::super) struct Trap {
    /// `None` for one that is not known.
    pub(in super::super) text: Option<String>,
    /// Of when it was set; where only one of several ways sets it, of when that ended.
    state: State,
    is_on_one_way: bool,
}

impl State {
    pub(in super::super) fn set_trap(&mut self, text: Option<String>) {
        let state = self.without_traps();
        self.traps.push(Rc::new(Trap { text, state, is_on_one_way: false }));
    }

    pub(in super::super) fn next_trap(&mut self) -> Option<Rc<Trap>> {
        self.traps.pop()
    }

    /// A shell of its own begins without any.
    pub(in super::super) fn drop_traps(&mut self) {
        self.traps.clear();
    }

    fn without_traps(&self) -> Self {
        Self { traps: Vec::new(), ..self.clone() }
    }

    /// To be called before variables are joined: those of the way that sets one count for it.
    pub(in super::super) fn join_traps(&mut self, other: &Self) {
        let is_in = |traps: &[Rc<Trap>], trap: &Rc<Trap>| traps.iter().any(|found| Rc::ptr_eq(found, trap));
        let on_one_way = |trap: &Rc<Trap>, state: &Self| {
            let ended = || Trap { text: trap.text.clone(), state: state.without_traps(), is_on_one_way: true };
            if trap.is_on_one_way { Rc::clone(trap) } else { Rc::new(ended()) }
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
    pub(in super::super) fn when_run(&self, trap: &Trap) -> Vec<Self> {
        let mut at_end = self.clone();
        let mut when_set = self.clone();
        let has_text = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.text.is_empty());
        for (name, value) in trap.state.variables.iter().filter(|(_, value)| has_text(value)) {
            let now = self.variables.get(name);
            if now == Some(value) {
                continue;
            }
            if trap.is_on_one_way && now.is_none_or(Option::is_none) {
                at_end.assign(name, value.clone());
            }
            when_set.assign(name, value.clone());
        }
        when_set.folders = trap.state.folders.clone();
        let is_same = when_set.variables == at_end.variables && when_set.folders == at_end.folders;
        if is_same { vec![at_end] } else { vec![when_set, at_end] }
    }
}
