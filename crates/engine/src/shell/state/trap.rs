//! What a shell was told to run when it ends.

use std::rc::Rc;

use super::State;

pub(in super::super) struct Trap {
    /// `None` for one that is not known.
    pub(in super::super) text: Option<String>,
    /// Of when it was set.
    state: State,
}

impl State {
    pub(in super::super) fn set_trap(&mut self, text: Option<String>) {
        let state = Self { traps: Vec::new(), ..self.clone() };
        self.traps.push(Rc::new(Trap { text, state }));
    }

    pub(in super::super) fn next_trap(&mut self) -> Option<Rc<Trap>> {
        self.traps.pop()
    }

    /// A shell of its own begins without any.
    pub(in super::super) fn drop_traps(&mut self) {
        self.traps.clear();
    }

    pub(super) fn join_traps(&mut self, other: &Self) {
        for trap in &other.traps {
            if !self.traps.iter().any(|own| Rc::ptr_eq(own, trap)) {
                self.traps.push(Rc::clone(trap));
            }
        }
    }

    /// As it is now, but for variables and the folder, which are as they were when the trap was set; `None` where that
    /// is the same. What was empty or not set by then was there for a value that was still to come.
    pub(in super::super) fn as_when_set(&self, trap: &Trap) -> Option<Self> {
        let mut then = self.clone();
        let mut differs = false;
        let variables = Rc::make_mut(&mut then.variables);
        for (name, value) in trap.state.variables.iter() {
            let has_text = value.as_ref().is_some_and(|value| !value.text.is_empty());
            if has_text && self.variables.get(name) != Some(value) {
                variables.insert(name.clone(), value.clone());
                then.environment = None;
                differs = true;
            }
        }
        if then.folders != trap.state.folders {
            then.folders = trap.state.folders.clone();
            differs = true;
        }
        differs.then_some(then)
    }
}
