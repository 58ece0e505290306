//! Expands globs against the file system, as a shell would.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use path::pattern::Pattern;

/// The maximum number of matches. Beyond this, rules learn no more from the matches than from the pattern.
const MAX_PATHS: usize = 1_000;
/// The maximum number of directory entries that are read, nearest directories first. The agent's call has to wait until
/// they are read.
const MAX_ENTRIES: usize = 2_000;

/// The maximum number of files of a search. A search in more files is treated like a search of their directory.
const MAX_SEARCHED: usize = 100;
/// Directories that recursive searches skip unless the pattern names them.
const SKIPPED_FOLDERS: &[&str] = &[".git", "node_modules"];

/// Options for matching a pattern.
struct MatchOptions {
    sees_hidden: bool,
    skipped: &'static [&'static str],
    max_paths: usize,
}

/// Expands a shell glob. `pattern` must be absolute. Returns an empty list if nothing matches.
pub fn expanded(pattern: &str) -> Vec<String> {
    // A pattern with `**` also matches hidden files.
    let sees_hidden = pattern.contains("/**/");
    found(pattern, &MatchOptions { sees_hidden, skipped: &[], max_paths: MAX_PATHS }, &mut DirectoryCache::default())
}

/// Expands a glob as search tools such as ripgrep do: braces are alternatives, and hidden files match.
pub fn searched(pattern: &str) -> Vec<String> {
    let options = MatchOptions { sees_hidden: true, skipped: SKIPPED_FOLDERS, max_paths: MAX_SEARCHED };
    let mut tree = DirectoryCache::default();
    let patterns = alternatives(pattern);
    let mut paths: Vec<String> = patterns.iter().flat_map(|pattern| found(pattern, &options, &mut tree)).collect();
    paths.truncate(MAX_SEARCHED);
    paths
}

/// Further alternatives are left unexpanded.
const MAX_ALTERNATIVES: usize = 64;

/// Expands braces: `a{b,c}` becomes `ab` and `ac`.
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

/// Directory listings, each read once.
#[derive(Default)]
struct DirectoryCache {
    folders: HashMap<PathBuf, Rc<[Entry]>>,
    entries_read: usize,
}

struct Entry {
    name: String,
    is_folder: bool,
}

impl DirectoryCache {
    /// The directory's entries; empty once the limit is reached.
    fn entries(&mut self, folder: &Path) -> Rc<[Entry]> {
        if let Some(known) = self.folders.get(folder) {
            return Rc::clone(known);
        }
        let left = MAX_ENTRIES.saturating_sub(self.entries_read);
        let there = (left > 0).then(|| fs::read_dir(folder).ok()).flatten();
        let entry = |entry: fs::DirEntry| Entry {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_folder: entry.file_type().is_ok_and(|kind| kind.is_dir()),
        };
        let entries: Rc<[Entry]> = there.into_iter().flatten().filter_map(Result::ok).take(left).map(entry).collect();
        self.entries_read += entries.len();
        self.folders.insert(folder.to_owned(), Rc::clone(&entries));
        entries
    }

    /// The given directories and all directories below them, including hidden ones, nearest first. The farthest are
    /// dropped if there are too many. Symlinks are not followed.
    fn below(&mut self, mut folders: Vec<PathBuf>, skipped: &[&str]) -> Vec<PathBuf> {
        let mut known: HashSet<PathBuf> = folders.iter().cloned().collect();
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            let entries = self.entries(&folder);
            let inner = entries.iter().filter(|entry| entry.is_folder && !skipped.contains(&entry.name.as_str()));
            for inner in inner.map(|entry| folder.join(&entry.name)) {
                if folders.len() < MAX_ENTRIES && known.insert(inner.clone()) {
                    folders.push(inner);
                }
            }
        }
        folders
    }
}

/// Replaces character classes by ranges: `[[:digit:]]` becomes `[0-9]`.
fn plain_classes(segment: &str) -> String {
    const CLASSES: [(&str, &str); 6] = [
        ("[:alpha:]", "a-zA-Z"),
        ("[:digit:]", "0-9"),
        ("[:alnum:]", "a-zA-Z0-9"),
        ("[:lower:]", "a-z"),
        ("[:upper:]", "A-Z"),
        ("[:xdigit:]", "0-9a-fA-F"),
    ];
    CLASSES.iter().fold(segment.to_owned(), |text, (class, letters)| text.replace(class, letters))
}

fn found(pattern: &str, options: &MatchOptions, tree: &mut DirectoryCache) -> Vec<String> {
    let mut found = vec![PathBuf::from("/")];
    for segment in pattern.split('/').filter(|segment| !segment.is_empty()) {
        if !segment.contains(['*', '?', '[']) {
            for path in &mut found {
                path.push(segment);
            }
            continue;
        }
        if segment == "**" {
            found = tree.below(found, options.skipped);
            continue;
        }
        // A pattern that cannot be parsed matches every name.
        let names = Pattern::parse(&plain_classes(segment)).ok();
        let is_named = |name: &str| names.as_ref().is_none_or(|names| names.matches(name));
        let mut next = Vec::new();
        'folders: for folder in &found {
            for Entry { name, .. } in tree.entries(folder).iter() {
                // Hidden files only match a pattern that begins with a dot.
                let is_selected = options.sees_hidden || !name.starts_with('.') || segment.starts_with('.');
                if is_selected && is_named(name) {
                    next.push(folder.join(name));
                }
                if next.len() > options.max_paths {
                    break 'folders;
                }
            }
        }
        found = next;
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    found.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path, pattern: &str) -> Vec<String> {
        let whole = format!("{}/{pattern}", folder.display());
        let mut names: Vec<String> = expanded(&whole)
            .iter()
            .filter_map(|path| Some(Path::new(path).strip_prefix(folder).ok()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn globs_expand_as_in_a_shell() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a path");
        fs::create_dir_all(folder.join("a/b")).expect("folders");
        for file in [".env", ".e1v", "a/x.rs", "a/b/y.rs", "z.rs"] {
            fs::write(folder.join(file), "").expect("a file");
        }
        for (pattern, expected) in [
            (".e[[:alpha:]]v", vec![".env"]),
            (".e[[:digit:]]v", vec![".e1v"]),
            (".e[a-z]v", vec![".env"]),
            ("*.rs", vec!["z.rs"]),
            ("*/*.rs", vec!["a/x.rs"]),
            ("**/*.rs", vec!["a/b/y.rs", "a/x.rs", "z.rs"]),
            ("*env", vec![]),
        ] {
            assert_eq!(names(&folder, pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn deeply_nested_folders_are_read_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a path");
        let deep = (0..200).fold(folder.clone(), |path, _| path.join("d"));
        fs::create_dir_all(&deep).expect("folders");
        fs::write(deep.join("x"), "").expect("a file");
        assert_eq!(names(&folder, "**/**/**/**/x").len(), 1);
    }
}
