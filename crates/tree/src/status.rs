//! The files that differ from the checked-out commit, according to `git status`.
//!
//! `git diff` opens every object of a changed file to compare it. `git status` relies on the index, and takes a quarter
//! of the time, but it does not know the content of a file that differs from the index. If the result depends on that
//! content, the file is reported as uncertain.

use std::collections::{BTreeMap, BTreeSet};

use engine::file_rules::Status;

use crate::raw_diff::{DiffLine, EMPTY_BLOB_IDS};

/// The arguments with which git is called. Untracked files are excluded, because `git ls-files` lists them.
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
    /// The checked-out commit; `None` before the first commit.
    pub head: Option<String>,
    pub lines: BTreeMap<String, DiffLine>,
    /// Files in conflict, and files whose content possibly equals the committed content.
    pub uncertain: BTreeSet<String>,
}

/// Parses the output of `git status`, for the files below `prefix`.
pub fn parse(output: &[u8], prefix: &str) -> GitStatus {
    let mut status = GitStatus::default();
    for record in output.split(|byte| *byte == 0) {
        let record = String::from_utf8_lossy(record);
        let Some((kind, rest)) = record.split_once(' ') else { continue };
        match kind {
            "#" => status.head = status.head.or_else(|| head_commit(rest)),
            "1" => status.add(rest, prefix),
            "u" => status.uncertain.extend(conflicting_path(rest, prefix)),
            _ => {}
        }
    }
    status
}

fn head_commit(header: &str) -> Option<String> {
    let id = header.strip_prefix("branch.oid ")?;
    (id != "(initial)").then(|| id.to_owned())
}

fn conflicting_path(record: &str, prefix: &str) -> Option<String> {
    Some(record.splitn(10, ' ').nth(9)?.strip_prefix(prefix)?.to_owned())
}

impl GitStatus {
    fn add(&mut self, record: &str, prefix: &str) {
        let fields: Vec<&str> = record.splitn(8, ' ').collect();
        let [status_codes, _, old_mode, staged_mode, new_mode, old_id, staged_id, path] = fields.as_slice() else {
            return;
        };
        let Some(path) = path.strip_prefix(prefix) else { return };

        let status = match (*old_mode, *new_mode) {
            // A new file that was staged and then deleted is not a change.
            (NO_MODE, NO_MODE) => return,
            (NO_MODE, _) => Status::Added,
            (_, NO_MODE) => Status::Deleted,
            _ => Status::Modified,
        };
        let matches_index = status_codes.ends_with('.');
        // Git also reports a file if only its mode differs. If the mode is the same, the content must differ.
        let is_known_to_differ = old_id == staged_id && staged_mode == new_mode;
        let may_be_unchanged = status == Status::Modified && !matches_index && !is_known_to_differ;
        // A deleted file that was added with `--intent-to-add` is reported as if it had been committed empty.
        let may_be_intent_to_add = *status_codes == ".D" && EMPTY_BLOB_IDS.contains(old_id);
        if may_be_unchanged || may_be_intent_to_add {
            self.uncertain.insert(path.to_owned());
        }
        let new_id = if matches_index { (*staged_id).to_owned() } else { "0".repeat(old_id.len()) };
        let [old_mode, new_mode, old_id] = [old_mode, new_mode, old_id].map(|field| (*field).to_owned());
        self.lines.insert(path.to_owned(), DiffLine { old_mode, new_mode, old_id, new_id, status });
    }
}
