//! Files that are copied, moved or linked, and their destinations.

use crate::limits::budget;
use crate::model::SimpleCommand;
use crate::programs::{Arguments, Role};

/// A file that is copied. It is not known here whether the destination is a directory.
pub(crate) struct Copy<'c> {
    pub(crate) from: &'c str,
    pub(crate) to: &'c str,
}

impl Copy<'_> {
    /// Returns the path of the copy if the destination is a directory.
    pub(crate) fn within(&self) -> Option<String> {
        let name = self.from.rsplit(['/', ':']).next().filter(|name| !matches!(*name, "" | "." | ".."))?;
        Some(format!("{}/{name}", self.to.trim_end_matches('/')))
    }

    /// True if it is copied from another machine: `host:path`.
    pub(crate) fn is_fetched(&self) -> bool {
        self.from.split('/').next().is_some_and(|host| host.contains(':'))
    }
}

/// The cost of following what a command copies.
pub(crate) fn cost(command: &SimpleCommand, program: &str, arguments: &Arguments) -> usize {
    let targets = targets(command, program, arguments);
    if targets.is_empty() {
        return 0;
    }
    let lengths: usize = targets.iter().map(|target| budget::WORD + target.len()).sum();
    named(command, arguments, SOURCES).len().saturating_mul(lengths)
}

const SOURCES: &[Role] = &[Role::Read, Role::Move, Role::Inspect, Role::Path, Role::ReadOrRemote];

/// Returns what a command copies; nothing for other programs.
pub(crate) fn copies<'c>(command: &'c SimpleCommand, program: &str, arguments: &Arguments) -> Vec<Copy<'c>> {
    let sources = named(command, arguments, SOURCES);
    let targets = targets(command, program, arguments).into_iter();
    targets.flat_map(|to| sources.iter().map(move |from| Copy { from, to })).collect()
}

/// Returns the destinations.
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
