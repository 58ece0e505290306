//! Splits a hook's command into words, to see whether the command calls Linchpin and what else it runs.

use serde_json::{Map, Value};

/// Returns the words of a handler's command: the program and its arguments, or the words of a shell command line.
/// `None` if the handler has no command.
pub(super) fn words(handler: &Map<String, Value>) -> Option<Vec<String>> {
    let command = handler.get("command")?.as_str()?;
    Some(match handler.get("args") {
        Some(Value::Array(args)) => {
            let args = args.iter().map(|arg| arg.as_str().unwrap_or_default().to_owned());
            std::iter::once(command.to_owned()).chain(args).collect()
        }
        _ => shell_words(command),
    })
}

/// True for a character of a shell operator.
pub(super) fn is_operator(char: char) -> bool {
    matches!(char, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '\n')
}

/// Splits a command line into words. Quotes and backslashes are respected, nothing is expanded, and operators are words
/// of their own.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\'' => word.get_or_insert_default().extend(chars.by_ref().take_while(|char| *char != '\'')),
            '"' => word.get_or_insert_default().extend(chars.by_ref().take_while(|char| *char != '"')),
            '\\' => word.get_or_insert_default().extend(chars.next()),
            char if is_operator(char) => {
                words.extend(word.take());
                let mut operator = String::from(char);
                while let Some(next) = chars.next_if(|next| is_operator(*next)) {
                    operator.push(next);
                }
                words.push(operator);
            }
            char if char.is_whitespace() => words.extend(word.take()),
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}
