//! What a whole text would run.

use super::SimpleCommand;
use crate::limits::Gap;

/// What a text would run, as far as it can be told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// In the order in which they would run; those of a substitution come before the command that it is part of. One
    /// without words only assigns or redirects (the redirections of a loop or group, for example).
    pub commands: Vec<SimpleCommand>,
    /// Whether every command that could run is among them.
    pub complete: bool,
    /// Why not.
    pub gaps: Vec<Gap>,
    /// Names of the functions it defines. Their bodies are among the commands.
    pub functions: Vec<String>,
    /// Words that belong to no command but may come to one, as they are written: what a loop goes through.
    pub loose: Vec<String>,
    /// The shells it runs in, by number, each with the one it came from: a subshell, substitution, background job or
    /// part of a pipeline cannot change its parent's folder or variables. Number 0 is the text itself.
    pub scopes: Vec<Option<usize>>,
}

impl Script {
    /// The normalised text of each command that has a program.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.commands.iter().filter(|command| !command.words().is_empty()).map(SimpleCommand::text)
    }
}
