//! `trap`: what a shell runs when it ends or is stopped. Mostly that is at its end, with the variables and the folder
//! of then; but it may be at any time, so it is also looked at with those of when it was set.

use super::Walker;
use crate::interpret::delegation::Runs;
use crate::limits::Gap;
use crate::model::SimpleCommand;

/// Whether a command sets one that runs when the shell ends. Those for `DEBUG`, `ERR` and `RETURN` run in between.
pub(super) fn is_for_the_end(command: &SimpleCommand) -> bool {
    let mut words = command.words().iter().skip(1).map(|word| word.value.as_deref());
    let is_between = |word: Option<&str>| {
        word.is_none_or(|name| ["DEBUG", "ERR", "RETURN"].iter().any(|between| name.eq_ignore_ascii_case(between)))
    };
    // The text comes first, whatever is in it.
    words.next();
    command.program() == Some("trap") && !words.any(is_between)
}

impl Walker<'_> {
    pub(super) fn set_traps(&mut self, runs: Vec<Runs>) {
        for runs in runs {
            let Runs::Text { text, .. } = runs else { continue };
            self.state.set_trap(text);
        }
    }

    /// The shell that is walked ends.
    pub(super) fn run_traps(&mut self) {
        while let Some(trap) = self.state.next_trap() {
            let Some(text) = &trap.text else {
                self.gap(Gap::Unknown("trap".to_owned()));
                continue;
            };
            self.around.via.push("trap".to_owned());
            for then in self.state.when_run(&trap) {
                let state = std::mem::replace(&mut self.state, then);
                self.state.drop_traps();
                self.state.is_over = false;
                self.deeper(|walker| {
                    walker.text(text);
                    // It may set another.
                    walker.run_traps();
                });
                self.state = state;
            }
            self.around.via.pop();
        }
    }
}
