//! What a shell would put in the place of a pattern, by what lies there now.

use std::fs;
use std::path::{Path, PathBuf};

use engine::pattern::Pattern;

/// More are as good as the pattern itself.
const MAX_PATHS: usize = 1_000;
/// Entries that are looked at, over all folders.
const MAX_ENTRIES: usize = 10_000;

/// `pattern` is absolute. Nothing where nothing matches.
pub fn expanded(pattern: &str) -> Vec<String> {
    let mut found = vec![PathBuf::from("/")];
    let mut looked_at = 0;
    // Who looks at any depth looks at what is hidden.
    let sees_hidden = pattern.contains("/**/");
    for segment in pattern.split('/').filter(|segment| !segment.is_empty()) {
        if !segment.contains(['*', '?', '[']) {
            for path in &mut found {
                path.push(segment);
            }
            continue;
        }
        if segment == "**" {
            found = below(found);
            continue;
        }
        let Ok(names) = Pattern::parse(segment) else { return Vec::new() };
        let mut next = Vec::new();
        'folders: for folder in &found {
            for name in names_in(folder) {
                looked_at += 1;
                // What is hidden has to be asked for.
                let is_meant = sees_hidden || !name.starts_with('.') || segment.starts_with('.');
                if is_meant && names.matches(&name) {
                    next.push(folder.join(&name));
                }
                if next.len() > MAX_PATHS || looked_at > MAX_ENTRIES {
                    break 'folders;
                }
            }
        }
        found = next;
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    found.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// The folders, and all folders in them, hidden ones too, the nearest first; where there are too many, not the farthest.
/// Links are not followed.
fn below(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let (mut next, mut looked_at) = (0, 0);
    while let Some(folder) = folders.get(next).cloned() {
        next += 1;
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        for entry in entries {
            looked_at += 1;
            if looked_at > MAX_ENTRIES {
                return folders;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    folders
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.take(MAX_ENTRIES).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
