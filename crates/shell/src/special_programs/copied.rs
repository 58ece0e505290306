//! Files that are copied, moved or linked, and where to.

use crate::limits::budget;
use crate::model::SimpleCommand;
use crate::programs::{Arguments, Role};

/// One thing that is copied. Whether what it is copied to is a folder, nobody knows here.
pub(crate) struct Copy<'c> {
    pub(crate) from: &'c str,
    pub(crate) to: &'c str,
}

impl Copy<'_> {
    /// Where it lies if it was copied into a folder: there, under its own name.
    pub(crate) fn within(&self) -> Option<String> {
        let name = self.from.rsplit(['/', ':']).next().filter(|name| !matches!(*name, "" | "." | ".."))?;
        Some(format!("{}/{name}", self.to.trim_end_matches('/')))
    }

    /// Whether it comes from another machine: `host:path`.
    pub(crate) fn is_fetched(&self) -> bool {
        self.from.split('/').next().is_some_and(|host| host.contains(':'))
    }
}

/// How much it is to go through all that a command copies.
pub(crate) fn cost(command: &SimpleCommand, program: &str, arguments: &Arguments) -> usize {
    let targets = targets(command, program, arguments);
    if targets.is_empty() {
        return 0;
    }
    let lengths: usize = targets.iter().map(|target| budget::WORD + target.len()).sum();
    named(command, arguments, SOURCES).len().saturating_mul(lengths)
}

const SOURCES: &[Role] = &[Role::Read, Role::Move, Role::Look, Role::Path, Role::ReadOrRemote];

/// What a command copies; nothing where it is none of those that copy.
pub(crate) fn copies<'c>(command: &'c SimpleCommand, program: &str, arguments: &Arguments) -> Vec<Copy<'c>> {
    let sources = named(command, arguments, SOURCES);
    let targets = targets(command, program, arguments).into_iter();
    targets.flat_map(|to| sources.iter().map(move |from| Copy { from, to })).collect()
}

/// What it copies to.
pub(crate) fn targets<'c>(command: &'c SimpleCommand, program: &str, arguments: &Arguments) -> Vec<&'c str> {
    if !matches!(program, "cp" | "gcp" | "mv" | "gmv" | "install" | "ln" | "link" | "rsync" | "scp") {
        return Vec::new();
    }
    named(command, arguments, &[Role::Write, Role::WriteOrRemote, Role::DeleteOrRemote])
}

fn named<'c>(command: &'c SimpleCommand, arguments: &Arguments, roles: &[Role]) -> Vec<&'c str> {
    let those = arguments.list.iter().filter(|argument| roles.contains(&argument.role));
    those.filter_map(|argument| command.meaning_from(argument.word, argument.from)).collect()
}
