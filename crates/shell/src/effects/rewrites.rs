//! Branches of remote repositories that a script rewrites or deletes.

mod hosting;
mod push;

use crate::model::{Branch, Script, SimpleCommand};
use crate::programs::Arguments;

/// A branch, or several, that one command rewrites or deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    pub branch: RewrittenBranch,
    /// False if the command may leave the branch alone, or may mean another branch.
    pub is_certain: bool,
    /// Index in [`Script::commands`].
    pub command: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RewrittenBranch {
    Named(String),
    /// All branches that match a glob, whose only special character is `*`.
    Matching(String),
    /// The branch that is checked out when the command runs.
    Current(Branch),
    All,
    Unknown,
}

impl Script {
    /// Returns the rewrites in the order of the commands.
    pub fn rewrites(&self) -> Vec<Rewrite> {
        let of_command = |(command, simple): (usize, &SimpleCommand)| {
            let found = simple.arguments().map(|arguments| rewrites_of(simple, arguments)).unwrap_or_default();
            // A command on another machine may run in another repository.
            found
                .into_iter()
                .map(move |(branch, is_certain)| Rewrite {
                    branch,
                    is_certain: is_certain && !simple.is_remote(),
                    command,
                })
                .collect::<Vec<_>>()
        };
        self.commands.iter().enumerate().flat_map(of_command).collect()
    }
}

/// Branches, each with true if it certainly is rewritten.
type FoundRewrites = Vec<(RewrittenBranch, bool)>;

fn rewrites_of(command: &SimpleCommand, arguments: &Arguments) -> FoundRewrites {
    match (command.program(), arguments.subcommands.first().map(String::as_str)) {
        (Some("git"), Some("push" | "send-pack" | "http-push")) => push::rewrites_of_push(command, arguments),
        (Some("git"), Some("subtree")) if arguments.subcommands.get(1).is_some_and(|form| form == "push") => {
            push::rewrites_of_push(command, arguments)
        }
        _ => hosting::rewrite_by_host(command, arguments).into_iter().collect(),
    }
}
