//! Detects a shell command that was passed to `try` or `explain command` without quotes.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Commands that take a shell command as one argument.
const TAKERS: [&[&str]; 2] = [&["try"], &["explain", "command"]];

/// Returns the correct command line, if the usage error is due to a shell command that was split into several
/// arguments. `words`: the arguments of this process, without the program name.
pub fn tip(error: &Error, words: &[String]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    TAKERS.iter().find_map(|taker| {
        let start = words.windows(taker.len()).position(|window| window == *taker)?;
        let name = taker.join(" ");
        let usage = error.get(ContextKind::Usage)?.to_string();
        let command = words.get(start + taker.len()..)?;
        let first = command.first()?;
        // If the word contains white space, the command was quoted, and the error has another cause.
        if !usage.contains(&format!("linchpin {name} "))
            || first.starts_with('-')
            || first.contains(char::is_whitespace)
        {
            return None;
        }
        let command: Vec<&str> = command.iter().map(String::as_str).filter(|word| *word != "--json").collect();
        let is_plain =
            |word: &&str| word.chars().all(|letter| letter.is_alphanumeric() || "-_./=:@+,".contains(letter));
        let command = if command.iter().all(is_plain) { command.join(" ") } else { "COMMAND".to_owned() };
        Some(format!("put the shell command into quotes, as one argument: `linchpin {name} '{command}'`"))
    })
}

/// Replaces the parser's tip, which would suggest passing a flag of the shell command as a value.
pub fn with_tip(mut error: Error, tip: &str) -> Error {
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.to_owned().into()]));
    error
}
