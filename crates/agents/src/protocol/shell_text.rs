//! Builds a shell script from the arguments of a tool call: a command, a list of words, a working directory.

use engine::event::ShellText;
use serde_json::Value;

/// Returns the script in an argument: the string itself, or the words of a list, each quoted if necessary. `Missing`
/// for any other value.
pub(super) fn shell_text(command: Option<&Value>) -> ShellText {
    match command {
        Some(Value::String(text)) => ShellText::Command(text.clone()),
        Some(Value::Array(words)) if !words.is_empty() => words
            .iter()
            .map(|word| word.as_str().map(shell_quoted))
            .collect::<Option<Vec<_>>>()
            .map_or(ShellText::Missing, |words| ShellText::Command(words.join(" "))),
        _ => ShellText::Missing,
    }
}

/// Puts a `cd` to the directory before the script. Without a directory, the script does not change.
pub(crate) fn in_directory(directory: Option<&str>, text: ShellText) -> ShellText {
    match (directory, text) {
        (Some(directory), ShellText::Command(text)) => {
            let (home, rest) = directory.strip_prefix("~/").map_or(("", directory), |rest| ("~/", rest));
            ShellText::Command(format!("cd {home}{} || exit\n{text}", shell_quoted(rest)))
        }
        (_, text) => text,
    }
}

/// Quotes a word for a POSIX shell, if necessary.
pub(crate) fn shell_quoted(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "_@%+=:,./-".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
