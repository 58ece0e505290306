//! `{name}` in a file rule's command and in its text: what is filled in, and what nobody will.

use engine::file_rules::{FileRule, FileRuleKind};
use engine::suggest;
use path::pattern::Pattern;

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, Text};

const OF_COMMANDS: [&str; 3] = ["file", "files", "repo_root"];
const OF_TEXTS: [&str; 4] = ["trigger_files", "expected_files", "missing", "created_files"];

/// The variables that a file's own pattern binds.
pub fn captured(mode: &FileRuleKind) -> Vec<String> {
    let parsed = mode.triggering().iter().filter_map(|pattern| Pattern::parse(&pattern.source).ok());
    parsed.flat_map(|pattern| pattern.variables().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// A name in braces is hardly meant for the program that is run.
pub fn warn_of_command(text: &Text, words: &[String], captured: &[String], fields: &mut Fields) {
    let known: Vec<&str> = OF_COMMANDS.into_iter().chain(captured.iter().map(String::as_str)).collect();
    for name in words.iter().flat_map(|word| names(word)).filter(|name| !known.contains(name)) {
        let help = suggest::closest(name, known.iter().copied()).map_or_else(
            || format!("what is filled in is {}; the program gets this as it is", listed(&known)),
            suggest::did_you_mean,
        );
        warn(name, help, Some(text.span.clone()), fields);
    }
}

/// A file's name that is put into a script could be a command: a script gets the files as arguments.
pub fn refuse_in_script(script: &Text, captured: &[String], fields: &mut Fields) {
    let names = OF_COMMANDS.into_iter().chain(captured.iter().map(String::as_str));
    for braced in names.map(|name| format!("{{{name}}}")).filter(|braced| script.value.contains(braced)) {
        let message = format!("`{braced}` is not filled in in a script");
        let problem = Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(script.span.clone()));
        let help = "the files are the script's arguments: `\"$@\"`, or `\"$1\"` with `run_for: each_match`; it runs in the root";
        fields.problems.push(problem.help(help));
    }
}

/// In prose, braces mean many things: only what nearly is a placeholder, or is one elsewhere, is spoken of.
pub fn warn_of_text(text: &str, file: &FileRule, fields: &mut Fields) {
    let captured = captured(&file.kind);
    let known: Vec<&str> = OF_TEXTS.into_iter().chain(captured.iter().map(String::as_str)).collect();
    for name in names(text).filter(|name| !known.contains(name)) {
        let help = if OF_COMMANDS.contains(&name) {
            "that is for commands; in the text, `{trigger_files}` are the files".to_owned()
        } else if let Some(close) = suggest::closest(name, known.iter().copied()) {
            suggest::did_you_mean(close)
        } else {
            continue;
        };
        // The text stands behind all that it could be mistaken for.
        let braced = format!("{{{name}}}");
        let span = fields.source().text.rfind(&braced).map(|start| start..start + braced.len());
        warn(name, help, span, fields);
    }
}

fn warn(name: &str, help: String, span: Option<std::ops::Range<usize>>, fields: &mut Fields) {
    let message = format!("`{{{name}}}` stands for nothing here");
    let problem = Diagnostic::warning(ErrorKind::InvalidValue, message, fields.source(), span);
    fields.problems.push(problem.help(help));
}

/// Every `{name}`, but for `${name}`, which is the shell's.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(|(start, _)| {
        let is_shells = text.get(..start)?.ends_with('$');
        let (name, _) = text.get(start + 1..)?.split_once('}')?;
        let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        (is_name && !is_shells).then_some(name)
    })
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{{{name}}}`")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}
