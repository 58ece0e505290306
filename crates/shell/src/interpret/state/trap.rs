//! Commands that a shell runs when it exits: `trap`.

use std::rc::Rc;
use std::sync::Arc;

use super::{State, Value};

/// A trap that the script has set.
pub(crate) struct Trap {
    /// The commands; `None` if they are not known.
    pub(crate) text: Option<String>,
    /// The state when the trap was set.
    state: State,
    /// If only one of two joined control-flow paths has set the trap: the state at the end of that path.
    end_of_path: Option<State>,
}

impl State {
    pub(crate) fn add_trap(&mut self, text: Option<String>) {
        let state = self.without_traps();
        self.traps.push(Rc::new(Trap { text, state, end_of_path: None }));
    }

    pub(crate) fn next_trap(&mut self) -> Option<Rc<Trap>> {
        self.traps.pop()
    }

    /// Removes all traps, because a subshell starts without traps.
    pub(crate) fn clear_traps(&mut self) {
        self.traps.clear();
    }

    fn without_traps(&self) -> Self {
        Self { traps: Vec::new(), ..self.clone() }
    }

    /// Joins the traps of another control-flow path. Must be called before the variables are joined, because a trap
    /// that only one path sets runs with the variables of that path.
    pub(super) fn join_traps(&mut self, other: &Self) {
        let is_in = |traps: &[Rc<Trap>], trap: &Rc<Trap>| traps.iter().any(|found| Rc::ptr_eq(found, trap));
        let on_one_path = |trap: &Rc<Trap>, end_of_path: &Self| {
            let end_of_path = || Some(end_of_path.without_traps());
            let (text, state) = (trap.text.clone(), trap.state.clone());
            Rc::new(Trap { text, state, end_of_path: trap.end_of_path.clone().or_else(end_of_path) })
        };
        let only_there = other.traps.iter().filter(|trap| !is_in(&self.traps, trap));
        let only_there: Vec<_> = only_there.map(|trap| on_one_path(trap, other)).collect();
        let here = self
            .traps
            .iter()
            .map(|trap| if is_in(&other.traps, trap) { Rc::clone(trap) } else { on_one_path(trap, self) });
        self.traps = here.chain(only_there).collect();
    }

    /// Returns the states in which a trap may run: the state at exit and, if it differs, the state when the trap was
    /// set. Variables that were empty or unset when the trap was set have their value at exit in both states, because
    /// the trap expects these variables to be set when it runs.
    pub(crate) fn states_when_run(&self, trap: &Trap) -> Vec<Self> {
        let has_text = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.text.is_empty());
        let set_variables = |state: &Self| -> Vec<(Arc<str>, Option<Value>)> {
            let known = state.variables.values.iter().filter(|(_, value)| has_text(value));
            known.map(|(name, value)| (Arc::clone(name), value.clone())).collect()
        };
        let mut at_end = self.clone();
        for (name, value) in trap.end_of_path.as_ref().map(set_variables).unwrap_or_default() {
            if self.variables.values.get(&name).is_none_or(Option::is_none) {
                at_end.assign(&name, value);
            }
        }
        let mut when_set = at_end.clone();
        for (name, value) in set_variables(&trap.state) {
            if at_end.variables.values.get(&name) != Some(&value) {
                when_set.assign(&name, value);
            }
        }
        when_set.directory.possible = trap.state.directory.possible.clone();
        let is_same = when_set.variables.values == at_end.variables.values
            && when_set.directory.possible == at_end.directory.possible;
        if is_same { vec![at_end] } else { vec![when_set, at_end] }
    }
}
