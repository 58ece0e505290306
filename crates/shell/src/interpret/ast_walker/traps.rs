//! `trap`: commands that a shell runs when it exits or gets a signal. In most cases, the shell runs them at its end,
//! with the variables and the directory of that time. A signal may come earlier, so the commands are also walked in the
//! state in which the trap was set.

use super::Walker;
use crate::interpret::delegation::DelegatedCommand;
use crate::limits::Gap;
use crate::model::SimpleCommand;

/// True if the command sets a trap that runs when the shell exits. Traps for `DEBUG`, `ERR` and `RETURN` run at other
/// times.
pub(super) fn runs_at_exit(command: &SimpleCommand) -> bool {
    let mut words = command.words().iter().skip(1).map(|word| word.value.as_deref());
    let is_for_other_times = |word: Option<&str>| {
        word.is_none_or(|name| ["DEBUG", "ERR", "RETURN"].iter().any(|signal| name.eq_ignore_ascii_case(signal)))
    };
    // The first argument is the trap's command, not a signal.
    words.next();
    command.program() == Some("trap") && !words.any(is_for_other_times)
}

impl Walker<'_> {
    /// Sets a trap for each of these scripts.
    pub(super) fn set_traps(&mut self, commands: Vec<DelegatedCommand>) {
        for command in commands {
            let DelegatedCommand::Script { text, .. } = command else { continue };
            self.state.add_trap(text);
        }
    }

    /// Simulates the traps of a shell that exits.
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
                self.one_level_deeper(|walker| {
                    walker.walk_script(text);
                    // A trap may set another trap.
                    walker.run_traps();
                });
                self.state = state;
            }
            self.enclosing.via.pop();
        }
    }
}
