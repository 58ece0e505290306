//! A script, as the list of its commands.

use super::SimpleCommand;
use crate::limits::Gap;

/// The commands that a script would run, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The commands in execution order. The commands in a substitution come before the command that contains the
    /// substitution. A command without words only assigns or redirects (the redirections of a loop or group, for
    /// example).
    pub commands: Vec<SimpleCommand>,
    /// True if every command that could run is listed.
    pub complete: bool,
    /// The reasons why the list of commands is incomplete.
    pub gaps: Vec<Gap>,
    /// Names of the functions that the script defines. Their bodies are among the commands.
    pub functions: Vec<String>,
    /// Words that belong to no command, but may become part of a command: the values of a loop, for example.
    pub unattached_words: Vec<String>,
    /// The shells that run the script, each with the index of its parent. Subshells, substitutions, background jobs and
    /// parts of a pipeline run in child shells, which cannot change the directory or variables of their parents. The
    /// shell with index 0 runs the script itself, and has no parent.
    pub shells: Vec<Option<usize>>,
}

impl Script {
    /// The normalized text of each command that has a program. Assumed commands are left out: see
    /// [`Provenance::is_assumed`](super::Provenance::is_assumed).
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.programs().map(SimpleCommand::text)
    }

    /// The normalized text of each command together with its wrappers: `uv run pytest -q`.
    pub fn texts_with_wrappers(&self) -> impl Iterator<Item = String> {
        self.programs().flat_map(|command| command.with_wrappers().map(|command| command.text()).collect::<Vec<_>>())
    }

    fn programs(&self) -> impl Iterator<Item = &SimpleCommand> {
        self.commands.iter().filter(|command| !command.words().is_empty() && !command.provenance.is_assumed)
    }
}
