//! If a command's program is an unknown word, that program may run the words after the unknown word as another command:
//! `$SUDO git push`, `$PY -m pip install x`.

use std::sync::Arc;

use super::Walker;
use crate::interpret::delegation::{DelegatedCommand, delegation};
use crate::limits::budget;
use crate::model::{Assignment, Invocation, SimpleCommand, Word};

/// Programs that the unknown word is assumed to name. Nearly every program that runs other commands expects the other
/// command in the same place as one of these four programs. `sudo` runs the words after its flags and assignments, as a
/// shell does if the unknown word expands to nothing; `python3` has `-m`, `uv` has `run`, and `npm` has `exec` and `x`.
const ASSUMED_PROGRAMS: &[&str] = &["sudo", "python3", "uv", "npm"];

/// The maximum number of unknown words before one command that are assumed to run this command.
const MAX_ASSUMED_WORDS: usize = 3;

impl Walker<'_> {
    /// Walks the commands that a command with an unknown program may run. These possible commands change nothing for
    /// later commands, except which branches may be checked out. `piped_paths`: the paths that the command reads from
    /// stdin.
    pub(super) fn walk_assumed_commands(&mut self, command: &SimpleCommand, piped_paths: &[Word]) {
        let Some(first) = command.words().first() else { return };
        let cost = ASSUMED_PROGRAMS.len() * budget::WORD * command.words().len();
        // If the name of the program is a glob, the program is a file of the project, and not a program that runs other
        // commands.
        if self.enclosing.assumed_words == MAX_ASSUMED_WORDS || !first.possible_paths.is_empty() || !self.spend(cost) {
            return;
        }
        let assumed = assumed_commands(command);
        if assumed.is_empty() {
            return;
        }
        let (enclosing, git_settings) = (self.enclosing.clone(), Arc::clone(&self.git_settings));
        self.enclosing.via.push(first.shown.clone());
        self.enclosing.assumed_words += 1;
        for (words, assignments) in assumed {
            let state = self.saved_state();
            let assignments = command.assignments().iter().cloned().chain(assignments).collect();
            let redirects = command.redirects().to_vec();
            let invocation = Invocation { words, assignments, redirects, arguments: None };
            self.streams.input_paths = piped_paths.to_vec();
            self.in_addition(|walker| walker.one_level_deeper(|walker| walker.run_command(invocation.into())));
            let changed = std::mem::replace(&mut self.state, state);
            self.state.branches.or(&changed.branches);
        }
        self.streams.input_paths.clear();
        (self.enclosing, self.git_settings) = (enclosing, git_settings);
    }
}

/// Returns the words and assignments of the commands that `command` runs if its first word expands to one of
/// [`ASSUMED_PROGRAMS`].
fn assumed_commands(command: &SimpleCommand) -> Vec<(Vec<Word>, Vec<Assignment>)> {
    let mut found = Vec::new();
    for program in ASSUMED_PROGRAMS {
        let words = std::iter::once(Word::known(program)).chain(command.words().iter().skip(1).cloned()).collect();
        let mut assumed = SimpleCommand::from(Invocation { words, ..Invocation::default() });
        assumed.provenance.is_assumed = true;
        assumed.read_arguments();
        let delegation = delegation(&assumed, None, &[]).unwrap_or_default();
        for delegated in delegation.commands {
            if let DelegatedCommand::Words { words, assignments } = delegated
                && !found.contains(&(words.clone(), assignments.clone()))
            {
                found.push((words, assignments));
            }
        }
    }
    found
}
