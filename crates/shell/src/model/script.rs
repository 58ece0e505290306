//! A script, as the list of its commands.

use super::SimpleCommand;
use crate::limits::Gap;

/// The commands that a script would run, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// In execution order; those in a substitution come before the command that contains it. A command without words
    /// only assigns or redirects (the redirections of a loop or group, for example).
    pub commands: Vec<SimpleCommand>,
    /// True if every command that could run is listed.
    pub complete: bool,
    /// Why the list is incomplete.
    pub gaps: Vec<Gap>,
    /// Names of the functions that the script defines. Their bodies are among the commands.
    pub functions: Vec<String>,
    /// Words that belong to no command, but may become part of one: the values of a loop, for example.
    pub unattached_words: Vec<String>,
    /// The shells that the script runs in, each with the index of its parent: a subshell, substitution, background job
    /// or part of a pipeline cannot change its parent's directory or variables. Index 0 is the shell of the script
    /// itself.
    pub scopes: Vec<Option<usize>>,
}

impl Script {
    /// The normalized text of each command that has a program.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.commands.iter().filter(|command| !command.words().is_empty()).map(SimpleCommand::text)
    }
}
