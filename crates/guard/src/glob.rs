//! What a shell would put in the place of a pattern, by what lies there now.

use std::fs;
use std::path::{Path, PathBuf};

use engine::pattern::Pattern;

/// More are as good as the pattern itself.
const MAX_PATHS: usize = 1_000;
/// Entries that are looked at, over all folders.
const MAX_ENTRIES: usize = 10_000;

/// A search in very many files is one in their folder.
const MAX_SEARCHED: usize = 100;
/// Folders that a search passes over unless it is told their names.
const PASSED_OVER: &[&str] = &[".git", "node_modules"];

/// How a pattern is read.
struct Reading {
    sees_hidden: bool,
    passes_over: &'static [&'static str],
    max_paths: usize,
}

/// `pattern` is absolute. Nothing where nothing matches.
pub fn expanded(pattern: &str) -> Vec<String> {
    // Who looks at any depth looks at what is hidden.
    let sees_hidden = pattern.contains("/**/");
    found(pattern, &Reading { sees_hidden, passes_over: &[], max_paths: MAX_PATHS })
}

/// The files that a search looks into which is told such a glob, as ripgrep is: braces are alternatives, and what is
/// hidden is meant too.
pub fn searched(pattern: &str) -> Vec<String> {
    let reading = Reading { sees_hidden: true, passes_over: PASSED_OVER, max_paths: MAX_SEARCHED };
    let mut paths: Vec<String> = alternatives(pattern).iter().flat_map(|pattern| found(pattern, &reading)).collect();
    paths.truncate(MAX_SEARCHED);
    paths
}

/// More are not looked at.
const MAX_ALTERNATIVES: usize = 64;

/// `a{b,c}` is `ab` and `ac`.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        match innermost_braces(&pattern) {
            Some((before, inner, after)) if done.len() + open.len() < MAX_ALTERNATIVES => {
                open.extend(inner.split(',').map(|part| format!("{before}{part}{after}")));
            }
            _ => done.push(pattern),
        }
    }
    done
}

fn innermost_braces(pattern: &str) -> Option<(&str, &str, &str)> {
    let (before_end, after) = pattern.split_once('}')?;
    let (before, inner) = before_end.rsplit_once('{')?;
    Some((before, inner, after))
}

fn found(pattern: &str, reading: &Reading) -> Vec<String> {
    let mut found = vec![PathBuf::from("/")];
    let mut looked_at = 0;
    for segment in pattern.split('/').filter(|segment| !segment.is_empty()) {
        if !segment.contains(['*', '?', '[']) {
            for path in &mut found {
                path.push(segment);
            }
            continue;
        }
        if segment == "**" {
            found = below(found, reading.passes_over);
            continue;
        }
        let Ok(names) = Pattern::parse(segment) else { return Vec::new() };
        let mut next = Vec::new();
        'folders: for folder in &found {
            for name in names_in(folder) {
                looked_at += 1;
                // What is hidden has to be asked for.
                let is_meant = reading.sees_hidden || !name.starts_with('.') || segment.starts_with('.');
                if is_meant && names.matches(&name) {
                    next.push(folder.join(&name));
                }
                if next.len() > reading.max_paths || looked_at > MAX_ENTRIES {
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
fn below(mut folders: Vec<PathBuf>, passed_over: &[&str]) -> Vec<PathBuf> {
    let (mut next, mut looked_at) = (0, 0);
    while let Some(folder) = folders.get(next).cloned() {
        next += 1;
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        for entry in entries {
            looked_at += 1;
            if looked_at > MAX_ENTRIES {
                return folders;
            }
            let is_passed_over = passed_over.iter().any(|name| entry.file_name() == *name);
            if !is_passed_over && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
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
