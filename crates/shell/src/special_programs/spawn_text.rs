//! Programs that a program text in another language starts, as text for a shell.

use code::{Spawn, SpawnedCommand, Stdin, UNKNOWN_WORD};

use crate::syntax::quoting::quoted;

/// What a shell would be told to start it in the same circumstances.
pub(crate) fn shell_text(spawn: &Spawn) -> String {
    let environment = &spawn.environment;
    let command = match &spawn.command {
        // Only a program can be started without the environment.
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
    parts.extend(spawn.directories.iter().map(|folder| format!("cd {} &&", word_text(folder.as_deref()))));
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
