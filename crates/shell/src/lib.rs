//! From shell text to the simple commands in it.
//!
//! [`parse`] finds every simple command that the text could run, wherever it stands: in lists, pipelines, groups,
//! functions, conditionals, loops, substitutions and here-documents. Each comes with its words after quote removal, its
//! redirections and assignments, and a normalised text that rules search. What cannot be known before it runs is marked
//! so, and what cannot be understood is a [`Gap`]: never a failure, never a guess.
//!
//! This crate must not know rules, files or the environment, and it runs nothing. Its rooms, each of which knows only those
//! above it:
//!
//! - `limits`: how much of a text is looked at, and what is said where that is not all of it;
//! - `syntax`: from text to syntax;
//! - [`programs`]: the table of programs, which tells what each argument is to its program;
//! - `model`: a script, its simple commands and their parts;
//! - `special_programs`: what a line of the table cannot tell about a program;
//! - `written_files`: files that were written before they are run or read;
//! - `interpret`: goes over the syntax as a shell would run it, and finds what runs;
//! - `effects`: what a script does to files and to branches of a remote. It does not know `interpret`.
//!
//! The text is hostile. `syntax::bounded_parse` stands before the parser and limits size, nesting and what else makes it slow,
//! overflow or panic; everything else here is iterative, or recursive within that same nesting limit, and `limits::budget`
//! ends what multiplies.

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

pub use effects::{Effect, PathExpansion, Rewrite, RewrittenBranch};
pub use interpret::every_command_must_succeed;
pub use limits::Gap;
pub use model::{
    Assignment, Branch, Earlier, Evidence, ExecutionContext, ExportedVariable, Folders, Invocation, Redirect,
    RedirectKind, RemovedVariables, Script, SimpleCommand, Word, Written,
};

/// Never fails: what cannot be parsed is a script with gaps.
pub fn parse(text: &str) -> Script {
    parse_after(text, &|_| None)
}

/// With what was written before it. A script among that is judged by what is in it.
pub fn parse_after(text: &str, earlier: Earlier) -> Script {
    interpret::walk(text, earlier)
}
