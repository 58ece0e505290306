//! Branches of a remote that a script rewrites or deletes.

mod hosting;
mod push;

use crate::model::{Branch, Script, SimpleCommand};
use crate::programs::Arguments;

/// One branch that one command rewrites or deletes, or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    pub branch: RewrittenBranch,
    /// Whether it surely does.
    pub is_sure: bool,
    /// A place in [`Script::commands`].
    pub command: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RewrittenBranch {
    Named(String),
    /// All that match, where `*` stands for anything.
    Matching(String),
    /// The one that is checked out.
    Current(Branch),
    All,
    Unknown,
}

impl Script {
    /// In the order of the commands.
    pub fn rewrites(&self) -> Vec<Rewrite> {
        let of_command = |(command, simple): (usize, &SimpleCommand)| {
            let found = simple.arguments().map(|arguments| rewrites_of(simple, arguments)).unwrap_or_default();
            // What is elsewhere may be another repository.
            found
                .into_iter()
                .map(move |(branch, is_sure)| Rewrite { branch, is_sure: is_sure && !simple.is_remote(), command })
                .collect::<Vec<_>>()
        };
        self.commands.iter().enumerate().flat_map(of_command).collect()
    }
}

/// Branches, each with whether it surely is rewritten.
type Found = Vec<(RewrittenBranch, bool)>;

fn rewrites_of(command: &SimpleCommand, arguments: &Arguments) -> Found {
    match (command.program(), arguments.subcommands.first().map(String::as_str)) {
        (Some("git"), Some("push" | "send-pack" | "http-push")) => push::by_push(command, arguments),
        (Some("git"), Some("subtree")) if arguments.subcommands.get(1).is_some_and(|form| form == "push") => {
            push::by_push(command, arguments)
        }
        _ => hosting::rewrite(command, arguments).into_iter().collect(),
    }
}
