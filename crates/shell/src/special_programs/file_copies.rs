//! Files that are copied, moved or linked, and their destinations.

use crate::limits::budget;
use crate::model::SimpleCommand;
use crate::programs::{Arguments, Role};

/// A file that is copied, moved or linked. Whether the destination is a directory is not known.
pub(crate) struct FileCopy<'c> {
    pub(crate) from: &'c str,
    pub(crate) to: &'c str,
}

impl FileCopy<'_> {
    /// Returns the path of the copy if the destination is a directory.
    pub(crate) fn path_in_directory(&self) -> Option<String> {
        let name = self.from.rsplit(['/', ':']).next().filter(|name| !matches!(*name, "" | "." | ".."))?;
        Some(format!("{}/{name}", self.to.trim_end_matches('/')))
    }

    /// True if the file is copied from another machine: `host:path`.
    pub(crate) fn is_remote_source(&self) -> bool {
        self.from.split('/').next().is_some_and(|host| host.contains(':'))
    }
}

/// The cost of tracking the copies that a command makes.
pub(crate) fn cost(command: &SimpleCommand, program: &str, arguments: &Arguments) -> usize {
    let destinations = destinations(command, program, arguments);
    if destinations.is_empty() {
        return 0;
    }
    let lengths: usize = destinations.iter().map(|destination| budget::WORD + destination.len()).sum();
    paths_with_roles(command, arguments, SOURCES).len().saturating_mul(lengths)
}

const SOURCES: &[Role] = &[Role::Read, Role::Move, Role::Inspect, Role::Path, Role::ReadOrRemote];

/// Returns the files that a command copies, moves or links.
pub(crate) fn file_copies<'c>(command: &'c SimpleCommand, program: &str, arguments: &Arguments) -> Vec<FileCopy<'c>> {
    let sources = paths_with_roles(command, arguments, SOURCES);
    let destinations = destinations(command, program, arguments).into_iter();
    destinations.flat_map(|to| sources.iter().map(move |from| FileCopy { from, to })).collect()
}

/// Returns the destinations of a command that copies, moves or links files.
pub(crate) fn destinations<'c>(command: &'c SimpleCommand, program: &str, arguments: &Arguments) -> Vec<&'c str> {
    if !matches!(program, "cp" | "gcp" | "mv" | "gmv" | "install" | "ln" | "link" | "rsync" | "scp") {
        return Vec::new();
    }
    paths_with_roles(command, arguments, &[Role::Write, Role::WriteOrRemote, Role::DeleteOrRemote])
}

/// Returns the paths in the arguments with one of these roles.
fn paths_with_roles<'c>(command: &'c SimpleCommand, arguments: &Arguments, roles: &[Role]) -> Vec<&'c str> {
    let with_role = arguments.with_roles.iter().filter(|argument| roles.contains(&argument.role));
    with_role.filter_map(|argument| command.value_or_placeholder_from(argument.word, argument.from)).collect()
}
