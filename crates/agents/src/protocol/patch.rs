//! The files that an `apply_patch` text names.
//!
//! Its makers' own reader, Codex's, is lenient (white space around markers, text before the patch, a missing end), so this one is
//! more so: it takes every file marker that stands on a line of its own. Better one file too many than one missed.

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
        if let Some(path) = marked(marker, "Add File:") {
            changes.push(Change::Add(path));
        } else if let Some(path) = marked(marker, "Update File:") {
            changes.push(Change::Update(path));
        } else if let Some(path) = marked(marker, "Delete File:") {
            changes.push(Change::Delete(path));
        } else if let Some(to) = marked(marker, "Move to:") {
            match changes.pop() {
                Some(Change::Update(from)) => changes.push(Change::Move { from, to }),
                // No patch of Codex's, but somebody else may go by it.
                other => changes.extend(other.into_iter().chain([Change::Add(to)])),
            }
        }
    }
    changes
}

fn marked<'a>(marker: &'a str, label: &str) -> Option<&'a str> {
    marker.strip_prefix(label).map(str::trim).filter(|path| !path.is_empty())
}

/// The patch itself, or what is in the arguments that hold it: agents have a name each, and go by no other's.
pub(super) fn text(input: &Value) -> String {
    let named = ["command", "input", "patch", "patchText"].into_iter().filter_map(|key| input.get(key)?.as_str());
    input.as_str().into_iter().chain(named).collect::<Vec<_>>().join("\n")
}

/// The files of a patch that lies in the arguments of some other tool.
pub(super) fn files(input: &Value, cwd: &str) -> Vec<FileAccess> {
    files_in(&text(input), cwd)
}

/// The files that a text names which holds a patch.
pub(crate) fn files_in(text: &str, cwd: &str) -> Vec<FileAccess> {
    accesses(&changes(text), cwd)
}

pub(super) fn accesses(changes: &[Change<'_>], cwd: &str) -> Vec<FileAccess> {
    let access = |path: &str, access| paths::readings(cwd, path).map(move |path| FileAccess::new(path, access));
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
