//! What differs from the commit that is checked out, as `git status` tells it.
//!
//! `git diff` opens every object of a changed file to compare it; `git status` knows by the index, and takes a quarter of
//! the time. It cannot tell what is in a file that differs from the index: where that matters, a line is unsure.

use std::collections::{BTreeMap, BTreeSet};

use engine::file_rules::Status as Changed;

use crate::difference::{EMPTY, Line};

/// How it is asked for. Untracked files are somebody else's question.
pub const ARGUMENTS: &[&str] = &[
    "status",
    "--porcelain=v2",
    "--branch",
    "--no-ahead-behind",
    "-z",
    "--no-renames",
    "--untracked-files=no",
    "--ignore-submodules=dirty",
    "--",
    ".",
];

const NO_MODE: &str = "000000";

#[derive(Debug, Default, PartialEq, Eq)]
pub struct GitStatus {
    /// What is checked out; none before the first commit.
    pub head: Option<String>,
    pub lines: BTreeMap<String, Line>,
    /// Files that may be as they were committed after all, or are in conflict.
    pub unsure: BTreeSet<String>,
}

/// What `git status` printed, of the files below `prefix`.
pub fn read(output: &[u8], prefix: &str) -> GitStatus {
    let mut status = GitStatus::default();
    for record in output.split(|byte| *byte == 0) {
        let record = String::from_utf8_lossy(record);
        let Some((kind, rest)) = record.split_once(' ') else { continue };
        match kind {
            "#" => status.head = status.head.or_else(|| head(rest)),
            "1" => status.add(rest, prefix),
            "u" => status.unsure.extend(in_conflict(rest, prefix)),
            _ => {}
        }
    }
    status
}

fn head(header: &str) -> Option<String> {
    let id = header.strip_prefix("branch.oid ")?;
    (id != "(initial)").then(|| id.to_owned())
}

fn in_conflict(record: &str, prefix: &str) -> Option<String> {
    Some(record.splitn(10, ' ').nth(9)?.strip_prefix(prefix)?.to_owned())
}

impl GitStatus {
    fn add(&mut self, record: &str, prefix: &str) {
        let fields: Vec<&str> = record.splitn(8, ' ').collect();
        let [letters, _, old_mode, staged_mode, new_mode, old_id, staged_id, path] = fields.as_slice() else { return };
        let Some(path) = path.strip_prefix(prefix) else { return };

        let status = match (*old_mode, *new_mode) {
            // Staged, and gone.
            (NO_MODE, NO_MODE) => return,
            (NO_MODE, _) => Changed::Added,
            (_, NO_MODE) => Changed::Deleted,
            _ => Changed::Modified,
        };
        let is_as_staged = letters.ends_with('.');
        // Another mode is a difference too, whatever is in the file.
        let is_told_apart = old_id == staged_id && staged_mode == new_mode;
        let may_be_as_before = status == Changed::Modified && !is_as_staged && !is_told_apart;
        // One that was only announced and is gone is told of as if it had been committed with nothing in it.
        let may_never_have_been = *letters == ".D" && EMPTY.contains(old_id);
        if may_be_as_before || may_never_have_been {
            self.unsure.insert(path.to_owned());
        }
        let new_id = if is_as_staged { (*staged_id).to_owned() } else { "0".repeat(old_id.len()) };
        let [old_mode, new_mode, old_id] = [old_mode, new_mode, old_id].map(|field| (*field).to_owned());
        self.lines.insert(path.to_owned(), Line { old_mode, new_mode, old_id, new_id, status });
    }
}
