//! A shell command that was given to `try` or `explain command` without quotes.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The commands that take a shell command as one argument.
const TAKERS: [&[&str]; 2] = [&["try"], &["explain", "command"]];

/// What to write instead, where a usage error comes of a shell command that was split into several arguments. `words` are
/// the arguments of this process, without its own name.
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
        // With white space in it, the command was in quotes, and something else is wrong.
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
        Some(format!("the shell command has to be one argument, in quotes: `linchpin {name} '{command}'`"))
    })
}

/// Puts the tip in the place of the parser's own, which would pass a flag of the shell command on as a value.
pub fn with_tip(mut error: Error, tip: &str) -> Error {
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.to_owned().into()]));
    error
}
