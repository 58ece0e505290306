//! Detects a shell command that was passed to `try` or `explain command` without quotes.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The commands of Linchpin that take a shell command as one argument.
const COMMANDS: [&[&str]; 2] = [&["try"], &["explain", "command"]];

/// Returns the correct command line if the cause of the usage error is a shell command that was split into several
/// arguments. `words`: the arguments of this process, without the program name.
pub fn tip(error: &Error, words: &[String]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    COMMANDS.iter().find_map(|name| {
        let start = words.windows(name.len()).position(|window| window == *name)?;
        let command = words.get(start + name.len()..)?;
        let name = name.join(" ");
        let usage = error.get(ContextKind::Usage)?.to_string();
        let first = command.first()?;
        // If the first word contains white space, the shell command was in quotes, and the usage error has another
        // cause.
        if !usage.contains(&format!("linchpin {name} "))
            || first.starts_with('-')
            || first.contains(char::is_whitespace)
        {
            return None;
        }
        let command: Vec<&str> = command.iter().map(String::as_str).filter(|word| *word != "--json").collect();
        let is_plain = |word: &&str| word.chars().all(|char| char.is_alphanumeric() || "-_./=:@+,".contains(char));
        let command = if command.iter().all(is_plain) { command.join(" ") } else { "COMMAND".to_owned() };
        Some(format!("put the shell command into quotes, as one argument: `linchpin {name} '{command}'`"))
    })
}

/// Replaces the tip that the parser generated, which suggests passing a flag of the shell command as a value.
pub fn with_tip(mut error: Error, tip: &str) -> Error {
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.to_owned().into()]));
    error
}
