//! `trap`: commands that a shell runs when it exits or gets a signal. In most cases that is at its end, with the
//! variables and the directory at that time. Because it may be at any time, the commands are also walked in the state
//! in which the trap was set.

use super::Walker;
use crate::interpret::delegation::DelegatedCommand;
use crate::limits::Gap;
use crate::model::SimpleCommand;

/// True if the command sets a trap that runs when the shell exits. Traps for `DEBUG`, `ERR` and `RETURN` run in
/// between.
pub(super) fn runs_at_exit(command: &SimpleCommand) -> bool {
    let mut words = command.words().iter().skip(1).map(|word| word.value.as_deref());
    let is_between = |word: Option<&str>| {
        word.is_none_or(|name| ["DEBUG", "ERR", "RETURN"].iter().any(|between| name.eq_ignore_ascii_case(between)))
    };
    // The first argument is the trap's command, not a signal.
    words.next();
    command.program() == Some("trap") && !words.any(is_between)
}

impl Walker<'_> {
    pub(super) fn set_traps(&mut self, commands: Vec<DelegatedCommand>) {
        for command in commands {
            let DelegatedCommand::Script { text, .. } = command else { continue };
            self.state.add_trap(text);
        }
    }

    /// Runs the traps of a shell that exits.
    pub(super) fn run_traps(&mut self) {
        while let Some(trap) = self.state.next_trap() {
            let Some(text) = &trap.text else {
                self.add_gap(Gap::Unknown("trap".to_owned()));
                continue;
            };
            self.enclosing.via.push("trap".to_owned());
            for trap_state in self.state.states_when_run(&trap) {
                let state = std::mem::replace(&mut self.state, trap_state);
                self.state.clear_traps();
                self.state.is_unreachable = false;
                self.deeper(|walker| {
                    walker.walk_script(text);
                    // A trap may set another one.
                    walker.run_traps();
                });
                self.state = state;
            }
            self.enclosing.via.pop();
        }
    }
}
