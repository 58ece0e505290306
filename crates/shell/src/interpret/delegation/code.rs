//! What runs because a program reads it: texts for a shell, and program texts in other languages, read here or not.

use code::SpawnedCommand;

use super::Runs;
use crate::model::{Assignment, Input, SimpleCommand, Word};
use crate::special_programs::awk;
use crate::special_programs::interpreter::{is_awk, runs_code};
use crate::special_programs::language::is_readable;
use crate::special_programs::one_liner::{self, given};
use crate::special_programs::spawn_text::shell_text;
use crate::special_programs::telling_words;
use crate::written_files::makefile;

/// What runs because it is read.
pub(super) fn fed(command: &SimpleCommand, script: Option<&Word>, input: Input, arguments: Vec<Word>) -> Vec<Runs> {
    let Some(program) = command.program() else { return Vec::new() };
    let text = match script {
        Some(script) if script.is_process() => script.given.clone(),
        Some(script) if script.is_device() && !script.is_standard_input() => None,
        None if matches!(program, "source" | ".") => return Vec::new(),
        _ => match input {
            Input::Nothing => return Vec::new(),
            Input::Unknown | Input::Paths(_) => None,
            Input::Text(text) => Some(text.to_owned()),
        },
    };
    let text = text.map(|text| commands_in(program, text, command.words()));
    if runs_code(program) {
        return in_code(command, text.as_deref());
    }
    let in_own_shell = !matches!(program, "source" | ".");
    vec![Runs::Text { text, in_own_shell, is_beginning: false, name: None, arguments }]
}

/// What a shell gets of a text that a program reads.
pub(super) fn commands_in(program: &str, text: String, words: &[Word]) -> String {
    match program {
        "crontab" => without_times(&text),
        "make" | "gmake" => makefile::recipes(&text, words),
        _ => text,
    }
}

/// The commands of a table of times.
fn without_times(table: &str) -> String {
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

/// What a program text in another language starts.
pub(super) fn in_code(command: &SimpleCommand, text: Option<&str>) -> Vec<Runs> {
    let program = command.program().unwrap_or_default();
    if is_awk(program) {
        return text
            .map_or_else(|| vec![Runs::text(None)], |text| awk::read(text).runs.into_iter().map(Runs::text).collect());
    }
    if !is_readable(program) {
        let is_asked = text.is_none_or(|text| telling_words::has_one(program, text));
        return is_asked.then(|| Runs::text(None)).into_iter().collect();
    }
    let mut given = given(command);
    // To a text that stands in the command, its words are whatever it takes them for.
    given.words = given.words.filter(|_| command.evidence.script.is_some());
    let Some(read) = text.and_then(|text| one_liner::read(program, text, &given)) else {
        return vec![Runs::text(None)];
    };
    let word = |text: Option<String>| text.map_or_else(Word::unknown, |text| Word::known(&text));
    let set = |(name, value): (String, Option<String>)| Assignment { name, value: word(value) };
    let assignments: Vec<Assignment> = read.sets.into_iter().map(set).collect();
    let mut runs: Vec<Runs> = read
        .spawns
        .into_iter()
        .map(|spawn| match &spawn.command {
            SpawnedCommand::Words(words) if spawn.is_plain() => {
                Runs::Command { words: words.iter().cloned().map(word).collect(), assignments: assignments.clone() }
            }
            _ => Runs::text_with(&shell_text(&spawn), &assignments),
        })
        .collect();
    if !read.complete {
        runs.push(Runs::text(None));
    }
    runs
}
