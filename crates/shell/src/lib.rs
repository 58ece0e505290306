//! Finds the simple commands in shell scripts, and the effects of these commands on files and branches.
//!
//! [`parse`] finds every simple command that a script could run: in lists, pipelines, groups, functions, conditionals,
//! loops, substitutions and heredocs. Each simple command has its words after quote removal, its redirections and
//! assignments, and a normalized text, which rules are matched against. A part of the script that is not known before
//! the script runs is marked as unknown. A part that cannot be parsed becomes a [`Gap`]: parsing never fails.
//!
//! This crate must not know rules, files or the environment, and it runs nothing. Its modules, each of which uses only
//! the modules above it:
//!
//! - `limits`: limits on the size and cost of a script, and the gaps that are reported;
//! - `syntax`: parses a script into a syntax tree;
//! - [`programs`]: the table of programs, which says what role each argument has;
//! - `model`: a script, its simple commands and their parts;
//! - `special_programs`: knowledge about programs that the table cannot express;
//! - `written_files`: the contents of files that the session first writes, and then runs or reads;
//! - `interpret`: simulates a script as a shell would run it, and collects its simple commands;
//! - `effects`: what a script does to files and to branches of remote repositories. This module does not use
//!   `interpret`.
//!
//! Scripts are hostile input. `syntax::bounded_parse` guards the parser, and limits the size, the nesting and
//! everything else that makes the parser slow, overflow or panic. All other code is iterative, or recursive within the
//! same nesting limit, and `limits::budget` limits the total work.

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
    Assignment, CheckedOutBranch, ContentsLookup, ExecutionContext, ExportedVariable, FileContents, Invocation,
    PossibleDirectories, Provenance, Redirect, RedirectKind, RemovedVariables, Script, SimpleCommand, Word,
};

/// Parses a script. Never fails: the result for a script that cannot be parsed contains a [`Gap`].
pub fn parse(text: &str) -> Script {
    parse_after(text, &|_| None)
}

/// Parses a script that runs after other scripts in a session. `written_earlier` returns the contents of a file that
/// the session has written, so that a script file that the session wrote is parsed where the parsed script runs this
/// file.
pub fn parse_after(text: &str, written_earlier: ContentsLookup) -> Script {
    interpret::interpret(text, written_earlier)
}
