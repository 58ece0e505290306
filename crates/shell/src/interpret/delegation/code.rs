//! Scripts and one-liners that a program reads and runs: shell scripts, and code in languages other than shell.

use code::SpawnedCommand;

use super::DelegatedCommand;
use crate::model::{Assignment, Input, SimpleCommand, Word};
use crate::special_programs::awk;
use crate::special_programs::code_analysis::{self, program_inputs};
use crate::special_programs::interpreter::{is_awk, runs_non_shell_scripts};
use crate::special_programs::language::is_readable;
use crate::special_programs::spawn_text::shell_text;
use crate::special_programs::suspicious_calls;
use crate::written_files::makefile;

/// Returns the commands and scripts that a program reads from a file or stdin, and runs.
pub(super) fn commands_read(
    command: &SimpleCommand,
    script: Option<&Word>,
    input: Input,
    arguments: Vec<Word>,
) -> Vec<DelegatedCommand> {
    let Some(program) = command.program() else { return Vec::new() };
    let text = match script {
        Some(script) if script.is_process_substitution() => script.contents.clone(),
        Some(script) if script.is_device() && !script.is_stdin_device() => None,
        None if matches!(program, "source" | ".") => return Vec::new(),
        _ => match input {
            Input::Nothing => return Vec::new(),
            Input::Unknown | Input::Paths(_) => None,
            Input::Text(text) => Some(text.to_owned()),
        },
    };
    let text = text.map(|text| commands_in(program, text, command.words()));
    if runs_non_shell_scripts(program) {
        return commands_of_code(command, text.as_deref());
    }
    let in_new_shell = !matches!(program, "source" | ".");
    vec![DelegatedCommand::Script { text, in_new_shell, gets_more_arguments: false, name: None, arguments }]
}

/// Returns the shell commands in a file that a program reads.
pub(super) fn commands_in(program: &str, text: String, words: &[Word]) -> String {
    match program {
        "crontab" => crontab_commands(&text),
        "make" | "gmake" => makefile::script_of_all_recipes(&text, words),
        _ => text,
    }
}

/// Returns the commands of a crontab.
fn crontab_commands(table: &str) -> String {
    let command = |line: &str| {
        let fields = if line.trim_start().starts_with('@') { 1 } else { 5 };
        let mut rest = line.trim_start();
        for _ in 0..fields {
            rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
        }
        rest.to_owned()
    };
    table.lines().map(command).collect::<Vec<_>>().join("\n")
}

/// Returns the commands that code in a language other than shell starts.
pub(super) fn commands_of_code(command: &SimpleCommand, text: Option<&str>) -> Vec<DelegatedCommand> {
    let program = command.program().unwrap_or_default();
    if is_awk(program) {
        return text.map_or_else(
            || vec![DelegatedCommand::script(None)],
            |text| awk::read(text).shell_scripts.into_iter().map(DelegatedCommand::script).collect(),
        );
    }
    if !is_readable(program) {
        let may_start_others = text.is_none_or(|text| suspicious_calls::contains_suspicious_call(program, text));
        return may_start_others.then(|| DelegatedCommand::script(None)).into_iter().collect();
    }
    let mut inputs = program_inputs(command);
    // It is not known what a one-liner does with its arguments.
    inputs.arguments = inputs.arguments.filter(|_| command.provenance.script.is_some());
    let Some(read) = text.and_then(|text| code_analysis::analyze(program, text, &inputs)) else {
        return vec![DelegatedCommand::script(None)];
    };
    let word = |text: Option<String>| text.map_or_else(Word::unknown, |text| Word::known(&text));
    let to_assignment = |(name, value): (String, Option<String>)| Assignment { name, value: word(value) };
    let assignments: Vec<Assignment> = read.exported_variables.into_iter().map(to_assignment).collect();
    let mut commands: Vec<DelegatedCommand> = read
        .spawns
        .into_iter()
        .map(|spawn| match &spawn.command {
            SpawnedCommand::Words(words) if spawn.inherits_everything() => DelegatedCommand::Words {
                words: words.iter().cloned().map(word).collect(),
                assignments: assignments.clone(),
            },
            _ => DelegatedCommand::script_with_exports(&shell_text(&spawn), &assignments),
        })
        .collect();
    if !read.is_complete {
        commands.push(DelegatedCommand::script(None));
    }
    commands
}
