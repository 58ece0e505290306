//! From shell text to the simple commands in it.
//!
//! [`parse`] finds every simple command that the text could run, wherever it stands: in lists, pipelines, groups,
//! functions, conditionals, loops, substitutions and here-documents. Each comes with its words after quote removal, its
//! redirections and assignments, and a normalised text that rules search. What cannot be known before it runs is marked
//! so, and what cannot be understood is a [`Gap`]: never a failure, never a guess.
//!
//! This module must not know rules, files or the environment, and it runs nothing. `walk` goes over the syntax as a shell
//! would run it, with what `state` knows of folders and variables; `through` tells which commands a command runs, and
//! `effects` what it does to files. What arguments mean to a program is not here: see [`crate::programs`].
//!
//! The text is hostile. `door` stands before the parser and limits size, nesting and what else makes it slow, overflow
//! or panic; everything else here is iterative, or recursive within that same nesting limit, and `budget` ends what
//! multiplies.

mod arithmetic;
mod awk;
mod brace;
mod branch;
mod budget;
mod chain;
mod command;
mod container;
mod copied;
mod door;
mod doubtful;
mod effects;
mod escape;
mod ex;
mod extent;
mod fetched;
mod filling;
mod filter;
mod find;
mod git_format;
mod git_settings;
mod given;
mod hidden;
mod hosting;
mod image;
mod justfile;
mod line;
mod listing;
mod makefile;
mod marked_lines;
mod meaning;
mod naming;
mod nesting;
mod output;
mod own_file;
mod parallel;
mod parentheses;
mod patch;
mod printed;
mod process_line;
mod push;
mod query;
mod quoting;
mod recipe;
mod rejection;
mod sed;
mod select;
mod settings;
mod setup;
mod state;
mod taskfile;
mod tested;
mod through;
mod walk;
mod word;
mod written;
mod xargs;

#[cfg(test)]
mod tests;

pub use branch::Branch;
pub use command::{Assignment, Exported, Folders, Redirect, RedirectKind, Removed, SimpleCommand, Word};
pub use effects::{Effect, Pattern};
pub use push::{Rewrite, Rewritten};
use thiserror::Error;
pub use written::{Earlier, Written};

/// Nesting of any kind, substitutions and compound commands together.
const MAX_NESTING: usize = 64;

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
        self.commands.iter().filter(|command| !command.words.is_empty()).map(SimpleCommand::text)
    }
}

pub use chain::succeeds_as_one;
pub(crate) use quoting::{UNKNOWN, quoted};

/// Why a picture is not complete.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Gap {
    #[error("the command is longer than {} bytes", door::MAX_BYTES)]
    TooLong,
    #[error("the command is nested too deeply; the limit is {MAX_NESTING} levels, and fewer of `case` and of tests")]
    TooDeep,
    #[error("the command has a NUL character")]
    Nul,
    #[error("the command's braces expand to too many words")]
    TooManyWords,
    #[error("the command is not understood: {0}")]
    Rejected(String),
    #[error("the command is not surely understood: it has {0}")]
    Doubtful(&'static str),
    #[error("the command has more than {} parts", walk::MAX_COMMANDS)]
    TooManyCommands,
    #[error("the command is too much to follow: it multiplies what it runs, or what that is made of")]
    TooMuch,
    #[error("what `{0}` runs is not known before it runs")]
    Unknown(String),
}

/// Never fails: what cannot be parsed is a script with gaps.
pub fn parse(text: &str) -> Script {
    parse_after(text, &|_| None)
}

/// With what was written before it. A script among that is judged by what is in it.
pub fn parse_after(text: &str, earlier: Earlier) -> Script {
    walk::walk(text, earlier)
}
