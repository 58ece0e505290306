//! Reads shell scripts: finds the simple commands in them, and what those do to files and branches.
//!
//! [`parse`] finds every simple command that a script could run, wherever it is: in lists, pipelines, groups,
//! functions, conditionals, loops, substitutions and heredocs. Each has its words after quote removal, its redirections
//! and assignments, and a normalized text that rules search. Whatever is not known before the script runs is marked as
//! unknown, and whatever cannot be parsed is a [`Gap`]: never a failure, never a guess.
//!
//! This crate must not know rules, files or the environment, and it runs nothing. Its modules, each of which uses only
//! those above it:
//!
//! - `limits`: how much of a script is read, and the gaps for the rest;
//! - `syntax`: parses a script into a syntax tree;
//! - [`programs`]: the table of programs, which says what role each argument has;
//! - `model`: a script, its simple commands and their parts;
//! - `special_programs`: knowledge about programs that the table cannot express;
//! - `written_files`: the contents of files that the session wrote before it runs or reads them;
//! - `interpret`: simulates a script as a shell would run it, and collects its simple commands;
//! - `effects`: what a script does to files and to branches of remote repositories. It does not use `interpret`.
//!
//! Scripts are hostile input. `syntax::bounded_parse` guards the parser, and limits the size, the nesting and everything
//! else that makes the parser slow, overflow or panic. All other code is iterative, or recursive within the same nesting
//! limit, and `limits::budget` limits the total work.

mod effects;
mod interpret;
mod limits;
mod model;
pub mod programs;
mod special_programs;
mod syntax;
mod written_files;

#[cfg(test)]
mod tests;

pub use effects::{Effect, PathExpansion, REWRITE_WORDS, Rewrite, RewrittenBranch};
pub use interpret::every_command_must_succeed;
pub use limits::Gap;
pub use model::{
    Assignment, CheckedOutBranch, ContentsLookup, Evidence, ExecutionContext, ExportedVariable, FileContents,
    Invocation, PossibleDirectories, Redirect, RedirectKind, RemovedVariables, Script, SimpleCommand, Word,
};

/// Parses a script. Never fails: a script that cannot be parsed has gaps.
pub fn parse(text: &str) -> Script {
    parse_after(text, &|_| None)
}

/// Parses a script that runs after others in a session. `written_earlier` returns the contents of a file that the
/// session has written, so that a script file is read when it is run.
pub fn parse_after(text: &str, written_earlier: ContentsLookup) -> Script {
    interpret::interpret(text, written_earlier)
}
