//! Programs that run other commands: `sudo`, `env`, `bash -c`, `xargs`, `find -exec`.
//!
//! Which argument of a program is a command, or a text that a shell runs, is told by [`crate::programs`]; `wrapper`
//! goes through them. `code` tells what runs because a program reads it, `git` what git is told to run.

mod code;
mod git;
mod wrapper;

use crate::model::{Assignment, Container, Input, RemovedVariables, SimpleCommand, Word, Written};
use crate::programs::Role;
use crate::special_programs::command_settings::is_command_variable;
use crate::special_programs::find;
use crate::special_programs::interpreter::{runs_by_name, shebang_program};
use crate::syntax::quoting::quoted;
use wrapper::Wrapper;

/// What a command runs.
#[derive(Debug, Default)]
pub(crate) struct Delegation {
    /// How people call what runs it: `sudo`, `bash -c`.
    pub(crate) name: String,
    /// Whether it does nothing else.
    pub(crate) is_transparent: bool,
    /// Whether what runs does so somewhere else: on another machine, in a container.
    pub(crate) is_remote: bool,
    /// The container that it runs in, of this machine.
    pub(crate) container: Option<Container>,
    pub(crate) reads: Reads,
    /// The folder that it changes to before, where it does.
    pub(crate) folder: Option<Word>,
    /// Variables that what it runs does not get to see.
    pub(crate) removes: RemovedVariables,
    pub(crate) runs: Vec<Runs>,
}

/// What a program that runs others makes of what it reads.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Nothing: it is there for what it runs.
    #[default]
    Nothing,
    /// What it runs.
    Commands,
    /// Words of what it runs.
    Words,
}

#[derive(Debug)]
pub(crate) enum Runs {
    Command {
        words: Vec<Word>,
        assignments: Vec<Assignment>,
    },
    /// A text for a shell; `None` for one that is not known. The arguments are its `$1`, `$2`, ….
    Text {
        text: Option<String>,
        in_own_shell: bool,
        /// More words are put behind it.
        is_beginning: bool,
        /// Its `$0`, where that is given.
        name: Option<Word>,
        arguments: Vec<Word>,
    },
}

/// `None` where it runs nothing but itself. `input`: what it reads, where that is known; `found`: the paths that it
/// reads.
pub(crate) fn delegation(command: &SimpleCommand, input: Option<&str>, found: &[Word]) -> Option<Delegation> {
    let program = command.program()?;
    let input = Input::of(command, input, found);
    let mut delegation = match program {
        program if find::is_find(program) => Delegation {
            name: program.to_owned(),
            runs: find::commands(command).into_iter().map(Runs::words).collect(),
            ..Delegation::default()
        },
        _ => {
            let known = command.arguments();
            let known = known.map(|arguments| Wrapper::read(program, command, arguments, input));
            known.unwrap_or_else(|| Delegation { name: program.to_owned(), ..Delegation::default() })
        }
    };
    if program == "hub" {
        let words = std::iter::once(Word::known("git")).chain(command.words().iter().skip(1).cloned());
        delegation.runs.push(Runs::words(words.collect()));
    }
    if let Some(form) = program.strip_prefix("git-").filter(|_| !command.is_understood()) {
        let words = [Word::known("git"), Word::known(form)].into_iter().chain(command.words().iter().skip(1).cloned());
        delegation.runs.push(Runs::words(words.collect()));
    }
    delegation.runs.extend(wrapper::package_program(command).map(Runs::words));
    if !command.is_understood() && !find::is_find(program) {
        delegation.runs.extend(wrapper::command_within(command.words()).map(Runs::words));
    }
    if let Some(Written::Text(text)) = command.evidence.script.as_ref().filter(|_| runs_by_name(command)) {
        // A file that is run by its name: by what it asks for.
        let first = Word { role: Role::Plain, ..Word::known(shebang_program(text)) };
        delegation.runs.push(Runs::words(std::iter::once(first).chain(command.words().iter().cloned()).collect()));
    }
    delegation.runs.extend(command.evidence.own_texts.iter().map(|text| Runs::text(text.clone())));
    if command.evidence.script == Some(Written::Unknown) {
        delegation.runs.push(Runs::text(None));
    }
    // A function that a shell finds in its environment.
    let functions = command.assignments().iter().filter(|assignment| assignment.name.starts_with("BASH_FUNC_"));
    let body = |text: &String| text.trim_start().strip_prefix("()").unwrap_or(text).to_owned();
    delegation.runs.extend(functions.map(|function| Runs::text(function.value.value.as_ref().map(body))));
    for assignment in command.assignments().iter().filter(|assignment| is_command_variable(&assignment.name)) {
        delegation.runs.push(Runs::beginning(assignment.value.value.clone()));
    }
    (!delegation.runs.is_empty()).then_some(delegation)
}

impl Runs {
    fn words(words: Vec<Word>) -> Self {
        Self::Command { words, assignments: Vec::new() }
    }

    /// In a shell of its own, without arguments.
    fn text(text: Option<String>) -> Self {
        Self::Text { text, in_own_shell: true, is_beginning: false, name: None, arguments: Vec::new() }
    }

    /// With these set and exported before.
    fn text_with(text: &str, set: &[Assignment]) -> Self {
        let export = |set: &Assignment| {
            let value = set.value.value.as_deref().map_or_else(|| format!("\"${}\"", set.name), quoted);
            format!("export {}={value}\n", set.name)
        };
        Self::text(Some(set.iter().map(export).collect::<String>() + text))
    }

    fn beginning(text: Option<String>) -> Self {
        Self::Text { text, in_own_shell: true, is_beginning: true, name: None, arguments: Vec::new() }
    }
}
