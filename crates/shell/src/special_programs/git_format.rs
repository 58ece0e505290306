//! The output of git in a given format: `git log --format='…%H'`, `git branch --format='%(refname)'`.

use crate::model::SimpleCommand;

/// A placeholder for a hash, a name or a date, whose exact value does not matter.
const SOME_WORD: &str = "some-word";
/// A placeholder for a ref. Any ref may be listed.
const ANY_REF: &str = "*";

/// Returns one line of the output of a git command in its format, with a placeholder for each field.
pub(crate) fn likely_output(command: &SimpleCommand) -> Option<String> {
    let arguments = command.arguments().filter(|_| command.program() == Some("git"))?;
    let form = arguments.subcommands.first()?.as_str();
    if !matches!(
        form,
        "log" | "reflog" | "show" | "rev-list" | "for-each-ref" | "branch" | "tag" | "stash" | "shortlog"
    ) {
        return None;
    }
    let is_format = |name: &str| matches!(name, "--format" | "--pretty");
    let flag = arguments.flags.iter().rfind(|flag| is_format(&flag.name));
    let set_format = flag.map(|flag| flag.value.and_then(|value| command.text_from(value.word, value.from)));
    let format = set_format.flatten().or_else(|| format_in_words(command))?;
    let format = format.strip_prefix("tformat:").or_else(|| format.strip_prefix("format:")).unwrap_or(format);
    format.contains('%').then(|| with_placeholders(format) + "\n")
}

/// Finds the format of a subcommand whose flags are not in the table.
fn format_in_words(command: &SimpleCommand) -> Option<&str> {
    let words = command.words().iter().filter_map(|word| word.value.as_deref());
    words.rev().find_map(|word| word.strip_prefix("--format=").or_else(|| word.strip_prefix("--pretty=")))
}

fn with_placeholders(format: &str) -> String {
    let mut text = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let field = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        rest = if let Some((field, after)) = field {
            text.push_str(if field.starts_with("refname") { ANY_REF } else { SOME_WORD });
            after
        } else if let Some(after) = after.strip_prefix('n') {
            text.push('\n');
            after
        } else {
            // A field has one letter or two: `%h`, `%an`.
            text.push_str(SOME_WORD);
            let is_long = after.starts_with(['a', 'c', 'C', 'g', 'G', 't', 'p', 'T', 'P']);
            let is_letter = |letter: char| letter.is_ascii_alphabetic();
            let second = after.get(1..).unwrap_or_default();
            if is_long && second.starts_with(is_letter) { second.get(1..).unwrap_or_default() } else { second }
        };
    }
    text + rest
}
