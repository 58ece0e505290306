//! Converts commands that a program in a language other than shell starts into shell scripts.

use code::{Spawn, SpawnedCommand, Stdin, UNKNOWN_WORD};

use crate::syntax::quoting::quoted;

/// Returns a script that starts the command with the same directory, environment and stdin.
pub(crate) fn shell_text(spawn: &Spawn) -> String {
    let environment = &spawn.environment;
    let command = match &spawn.command {
        // `env -i` can only start a program, so a command line needs `sh -c`.
        SpawnedCommand::CommandLine(text) if environment.is_cleared => format!("sh -c {}", quoted(text)),
        SpawnedCommand::CommandLine(text) => text.clone(),
        SpawnedCommand::Words(words) => {
            words.iter().map(|word| word_text(word.as_deref())).collect::<Vec<_>>().join(" ")
        }
    };
    let mut parts = Vec::new();
    if !environment.unset.is_empty() {
        let names: Vec<String> = environment.unset.iter().map(|name| quoted(name)).collect();
        parts.push(format!("unset {};", names.join(" ")));
    }
    parts.extend(spawn.directories.iter().map(|directory| format!("cd {} &&", word_text(directory.as_deref()))));
    parts.extend(environment.is_cleared.then(|| "env -i".to_owned()));
    parts.extend(environment.set.iter().map(|(name, value)| format!("{name}={}", quoted(value))));
    parts.push(command);
    if let Stdin::Piped(text) = &spawn.stdin {
        parts.push(format!("<<< {}", word_text(text.as_deref())));
    }
    parts.join(" ")
}

fn word_text(word: Option<&str>) -> String {
    word.map_or_else(|| UNKNOWN_WORD.to_owned(), quoted)
}
