//! Programs that run other commands: `sudo`, `env`, `bash -c`, `xargs`, `find -exec`.
//!
//! [`crate::programs`] says which arguments of a program are commands or scripts; `command_arguments` reads these
//! arguments. `package` finds programs that come with packages, `code` finds scripts that a program reads from a file
//! or stdin, and `git` finds commands in git's configuration.

mod code;
mod command_arguments;
mod git;
mod package;

use crate::model::{Assignment, Container, FileContents, Input, RemovedVariables, SimpleCommand, Word};
use crate::programs::Role;
use crate::special_programs::command_settings::is_command_variable;
use crate::special_programs::find;
use crate::special_programs::interpreter::{runs_by_name, shebang_program};
use crate::syntax::quoting::quoted;
use command_arguments::ArgumentReader;

/// The commands that a command runs.
#[derive(Debug, Default)]
pub(crate) struct Delegation {
    /// The name of the delegating program, for messages: `sudo`, `bash -c`.
    pub(crate) name: String,
    /// True if the program does nothing but run the commands.
    pub(crate) is_transparent: bool,
    /// True if the commands run on another machine or in a container.
    pub(crate) is_remote: bool,
    /// The container that the commands run in, if it is on this machine.
    pub(crate) container: Option<Container>,
    pub(crate) input_use: InputUse,
    /// The directory that the commands run in, if it differs from the directory of the program.
    pub(crate) directory: Option<Word>,
    /// Variables that the program removes from the environment of the commands.
    pub(crate) removed_variables: RemovedVariables,
    pub(crate) commands: Vec<DelegatedCommand>,
}

/// How a delegating program uses its stdin.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputUse {
    /// The commands inherit stdin.
    #[default]
    PassedOn,
    /// The program reads the commands from stdin.
    Commands,
    /// The program reads arguments of the commands from stdin.
    Arguments,
}

/// A command or script that another command runs.
#[derive(Debug)]
pub(crate) enum DelegatedCommand {
    Words {
        words: Vec<Word>,
        assignments: Vec<Assignment>,
    },
    /// A shell script. `text` is `None` if the script is not known; `arguments` are the script's `$1`, `$2`, ….
    Script {
        text: Option<String>,
        /// False if the script runs in the current shell: `eval`, `source`.
        in_new_shell: bool,
        /// True if the program appends more arguments to the script.
        gets_more_arguments: bool,
        /// The value of `$0`, if the command sets it.
        name: Option<Word>,
        arguments: Vec<Word>,
    },
}

/// Returns the commands that a command runs; `None` if the command runs no other commands. `input`: the stdin of the
/// command, if it is known; `piped_paths`: the paths that the command reads from stdin.
pub(crate) fn delegation(command: &SimpleCommand, input: Option<&str>, piped_paths: &[Word]) -> Option<Delegation> {
    let program = command.program()?;
    let input = Input::of(command, input, piped_paths);
    let mut delegation = match program {
        program if find::is_find(program) => Delegation {
            name: program.to_owned(),
            commands: find::commands(command).into_iter().map(DelegatedCommand::words).collect(),
            ..Delegation::default()
        },
        _ => {
            let known = command.arguments();
            let known = known.map(|arguments| ArgumentReader::read(program, command, arguments, input));
            known.unwrap_or_else(|| Delegation { name: program.to_owned(), ..Delegation::default() })
        }
    };
    if program == "hub" {
        let words = std::iter::once(Word::known("git")).chain(command.words().iter().skip(1).cloned());
        delegation.commands.push(DelegatedCommand::words(words.collect()));
    }
    if let Some(form) = program.strip_prefix("git-").filter(|_| !command.is_in_table()) {
        let words = [Word::known("git"), Word::known(form)].into_iter().chain(command.words().iter().skip(1).cloned());
        delegation.commands.push(DelegatedCommand::words(words.collect()));
    }
    delegation.commands.extend(package::package_program(command).map(DelegatedCommand::words));
    // An assumed command is itself a guess, so no second guess is based on it.
    if !command.is_in_table() && !find::is_find(program) && !command.provenance.is_assumed {
        delegation.commands.extend(command_arguments::command_within(command.words()).map(DelegatedCommand::words));
    }
    if let Some(FileContents::Text(text)) = command.provenance.script.as_ref().filter(|_| runs_by_name(command)) {
        // The command's first word is the path of a script: the interpreter in the script's `#!` line runs the script.
        let first = Word { role: Role::Plain, ..Word::known(shebang_program(text)) };
        delegation
            .commands
            .push(DelegatedCommand::words(std::iter::once(first).chain(command.words().iter().cloned()).collect()));
    }
    delegation
        .commands
        .extend(command.provenance.implicit_scripts.iter().map(|text| DelegatedCommand::script(text.clone())));
    if command.provenance.script == Some(FileContents::Unknown) {
        delegation.commands.push(DelegatedCommand::script(None));
    }
    // Bash imports functions from environment variables.
    let functions = command.assignments().iter().filter(|assignment| assignment.name.starts_with("BASH_FUNC_"));
    let body = |text: &String| text.trim_start().strip_prefix("()").unwrap_or(text).to_owned();
    delegation
        .commands
        .extend(functions.map(|function| DelegatedCommand::script(function.value.value.as_ref().map(body))));
    for assignment in command.assignments().iter().filter(|assignment| is_command_variable(&assignment.name)) {
        delegation.commands.push(DelegatedCommand::script_prefix(assignment.value.value.clone()));
    }
    (!delegation.commands.is_empty()).then_some(delegation)
}

impl DelegatedCommand {
    fn words(words: Vec<Word>) -> Self {
        Self::Words { words, assignments: Vec::new() }
    }

    /// Makes a script that runs without arguments, in a new shell.
    fn script(text: Option<String>) -> Self {
        Self::Script { text, in_new_shell: true, gets_more_arguments: false, name: None, arguments: Vec::new() }
    }

    /// Makes a script that first exports the variables in `set`.
    fn script_with_exports(text: &str, set: &[Assignment]) -> Self {
        let export = |set: &Assignment| {
            let value = set.value.value.as_deref().map_or_else(|| format!("\"${}\"", set.name), quoted);
            format!("export {}={value}\n", set.name)
        };
        Self::script(Some(set.iter().map(export).collect::<String>() + text))
    }

    /// Makes a script to which the delegating program appends arguments.
    fn script_prefix(text: Option<String>) -> Self {
        Self::Script { text, in_new_shell: true, gets_more_arguments: true, name: None, arguments: Vec::new() }
    }
}
