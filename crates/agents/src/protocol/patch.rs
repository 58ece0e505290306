//! The files named in a patch for `apply_patch`.
//!
//! The original parser is Codex'. It is lenient (white space around markers, text before the patch, a missing end). The
//! parser here is more lenient: it accepts a file marker at the start of any line. It is better to find a file too many
//! than to miss one.

use engine::event::FileAccess;
use path::Access;
use serde_json::Value;

use super::paths;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change<'a> {
    Add(&'a str),
    Update(&'a str),
    Delete(&'a str),
    Move { from: &'a str, to: &'a str },
}

pub(super) fn changes(patch: &str) -> Vec<Change<'_>> {
    let mut changes: Vec<Change<'_>> = Vec::new();
    for line in patch.lines().map(str::trim) {
        let Some(marker) = line.strip_prefix("***").map(str::trim_start) else { continue };
        if let Some(path) = path_after(marker, "Add File:") {
            changes.push(Change::Add(path));
        } else if let Some(path) = path_after(marker, "Update File:") {
            changes.push(Change::Update(path));
        } else if let Some(path) = path_after(marker, "Delete File:") {
            changes.push(Change::Delete(path));
        } else if let Some(to) = path_after(marker, "Move to:") {
            match changes.pop() {
                Some(Change::Update(from)) => changes.push(Change::Move { from, to }),
                // A move that does not follow an update is invalid for Codex, but another agent may accept it.
                other => changes.extend(other.into_iter().chain([Change::Add(to)])),
            }
        }
    }
    changes
}

fn path_after<'a>(marker: &'a str, label: &str) -> Option<&'a str> {
    marker.strip_prefix(label).map(str::trim).filter(|path| !path.is_empty())
}

/// Returns the text of the patch. It is the input itself, or an argument whose name depends on the agent. The texts of
/// all these arguments are joined, because it is unknown which of them the agent reads.
pub(super) fn text(input: &Value) -> String {
    let arguments = ["command", "input", "patch", "patchText"].into_iter().filter_map(|key| input.get(key)?.as_str());
    input.as_str().into_iter().chain(arguments).collect::<Vec<_>>().join("\n")
}

/// Returns the files of a patch that is in the arguments of a tool.
pub(super) fn files(input: &Value, cwd: &str) -> Vec<FileAccess> {
    files_in(&text(input), cwd)
}

/// Returns the files of a patch within a longer text.
pub(crate) fn files_in(text: &str, cwd: &str) -> Vec<FileAccess> {
    accesses(&changes(text), cwd)
}

pub(super) fn accesses(changes: &[Change<'_>], cwd: &str) -> Vec<FileAccess> {
    let access = |path: &str, access| paths::interpretations(cwd, path).map(move |path| FileAccess::new(path, access));
    let mut files = Vec::new();
    for change in changes {
        match change {
            Change::Add(path) | Change::Update(path) => files.extend(access(path, Access::Write)),
            Change::Delete(path) => files.extend(access(path, Access::Delete)),
            Change::Move { from, to } => {
                files.extend(access(from, Access::Delete));
                files.extend(access(to, Access::Write));
            }
        }
    }
    files
}

#[cfg(test)]
mod tests;
