//! The files that an `apply_patch` text names.
//!
//! Codex's own reader is lenient (white space around markers, text before the patch, a missing end), so this one is
//! more so: it takes every file marker that stands on a line of its own. Better one file too many than one missed.

/// Markers beyond this many are not read.
const CHANGE_LIMIT: usize = 10_000;

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
        if changes.len() >= CHANGE_LIMIT {
            break;
        }
        if let Some(path) = marked(marker, "Add File:") {
            changes.push(Change::Add(path));
        } else if let Some(path) = marked(marker, "Update File:") {
            changes.push(Change::Update(path));
        } else if let Some(path) = marked(marker, "Delete File:") {
            changes.push(Change::Delete(path));
        } else if let Some(to) = marked(marker, "Move to:")
            && let Some(Change::Update(from)) = changes.last()
        {
            let moved = Change::Move { from, to };
            changes.pop();
            changes.push(moved);
        }
    }
    changes
}

fn marked<'a>(marker: &'a str, label: &str) -> Option<&'a str> {
    marker.strip_prefix(label).map(str::trim).filter(|path| !path.is_empty())
}

/// The folder that a patch inside a shell command is relative to: Codex understands `cd FOLDER && apply_patch …`.
pub(super) fn folder_of_shell_patch(command: &str) -> Option<&str> {
    let (folder, rest) = command.trim_start().strip_prefix("cd ")?.split_once("&&")?;
    rest.trim_start().starts_with("apply_patch").then(|| folder.trim().trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests;
