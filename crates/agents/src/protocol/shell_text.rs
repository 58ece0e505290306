//! Shell text made of what a tool call says: words, a command, a working directory.

use engine::event::ShellText;
use serde_json::Value;

/// The text that a shell would be given. An argument vector is written as the text that means the same.
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

/// The same, as a shell runs it in a folder.
pub(crate) fn in_folder(folder: Option<&str>, text: ShellText) -> ShellText {
    match (folder, text) {
        (Some(folder), ShellText::Command(text)) => {
            let (home, rest) = folder.strip_prefix("~/").map_or(("", folder), |rest| ("~/", rest));
            ShellText::Command(format!("cd {home}{} || exit\n{text}", shell_quoted(rest)))
        }
        (_, text) => text,
    }
}

/// The word as a POSIX shell reads it back.
pub(crate) fn shell_quoted(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "_@%+=:,./-".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
