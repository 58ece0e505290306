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

/// The maximum number of matches of a search glob. A search with more matches is treated like a search of their directory.
const MAX_SEARCH_MATCHES: usize = 100;
/// Directories that recursive searches skip unless the pattern names them.
const SKIPPED_FOLDERS: &[&str] = &[".git", "node_modules"];

/// Options for matching a pattern.
struct MatchOptions {
    includes_hidden: bool,
    skipped_folders: &'static [&'static str],
    max_paths: usize,
}

/// Expands a shell glob. `pattern` must be absolute. Returns an empty list if nothing matches.
pub fn expand_shell_glob(pattern: &str) -> Vec<String> {
    // A pattern with `**` also matches hidden files.
    let includes_hidden = pattern.contains("/**/");
    matching_paths(
        pattern,
        &MatchOptions { includes_hidden, skipped_folders: &[], max_paths: MAX_PATHS },
        &mut DirectoryCache::default(),
    )
}

/// Expands a glob as search tools such as ripgrep do: braces are alternatives, and hidden files match.
pub fn expand_search_glob(pattern: &str) -> Vec<String> {
    let options =
        MatchOptions { includes_hidden: true, skipped_folders: SKIPPED_FOLDERS, max_paths: MAX_SEARCH_MATCHES };
    let mut cache = DirectoryCache::default();
    let patterns = expand_braces(pattern);
    let mut paths: Vec<String> =
        patterns.iter().flat_map(|pattern| matching_paths(pattern, &options, &mut cache)).collect();
    paths.truncate(MAX_SEARCH_MATCHES);
    paths
}

/// Further alternatives are left unexpanded.
const MAX_ALTERNATIVES: usize = 64;

/// Expands braces: `a{b,c}` becomes `ab` and `ac`.
fn expand_braces(pattern: &str) -> Vec<String> {
    let mut pending = vec![pattern.to_owned()];
    let mut expanded = Vec::new();
    while let Some(pattern) = pending.pop() {
        match innermost_braces(&pattern) {
            Some((before, inner, after)) if expanded.len() + pending.len() < MAX_ALTERNATIVES => {
                pending.extend(inner.split(',').map(|part| format!("{before}{part}{after}")));
            }
            _ => expanded.push(pattern),
        }
    }
    expanded
}

fn innermost_braces(pattern: &str) -> Option<(&str, &str, &str)> {
    let (before_end, after) = pattern.split_once('}')?;
    let (before, inner) = before_end.rsplit_once('{')?;
    Some((before, inner, after))
}

/// Directory listings, each read once.
#[derive(Default)]
struct DirectoryCache {
    folders: HashMap<PathBuf, Rc<[FolderEntry]>>,
    entries_read: usize,
}

struct FolderEntry {
    name: String,
    is_folder: bool,
}

impl DirectoryCache {
    /// The directory's entries; empty once the limit is reached.
    fn entries(&mut self, folder: &Path) -> Rc<[FolderEntry]> {
        if let Some(cached) = self.folders.get(folder) {
            return Rc::clone(cached);
        }
        let remaining = MAX_ENTRIES.saturating_sub(self.entries_read);
        let listing = (remaining > 0).then(|| fs::read_dir(folder).ok()).flatten();
        let entry = |entry: fs::DirEntry| FolderEntry {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_folder: entry.file_type().is_ok_and(|kind| kind.is_dir()),
        };
        let entries: Rc<[FolderEntry]> =
            listing.into_iter().flatten().filter_map(Result::ok).take(remaining).map(entry).collect();
        self.entries_read += entries.len();
        self.folders.insert(folder.to_owned(), Rc::clone(&entries));
        entries
    }

    /// The given directories and all directories below them, including hidden ones, nearest first. The farthest are
    /// dropped if there are too many. Symlinks are not followed.
    fn folders_below(&mut self, mut folders: Vec<PathBuf>, skipped_folders: &[&str]) -> Vec<PathBuf> {
        let mut seen: HashSet<PathBuf> = folders.iter().cloned().collect();
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            let entries = self.entries(&folder);
            let inner =
                entries.iter().filter(|entry| entry.is_folder && !skipped_folders.contains(&entry.name.as_str()));
            for inner in inner.map(|entry| folder.join(&entry.name)) {
                if folders.len() < MAX_ENTRIES && seen.insert(inner.clone()) {
                    folders.push(inner);
                }
            }
        }
        folders
    }
}

/// Replaces character classes by ranges: `[[:digit:]]` becomes `[0-9]`.
fn posix_classes_as_ranges(segment: &str) -> String {
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

/// The existing paths that match an absolute pattern.
fn matching_paths(pattern: &str, options: &MatchOptions, cache: &mut DirectoryCache) -> Vec<String> {
    let mut paths = vec![PathBuf::from("/")];
    for segment in pattern.split('/').filter(|segment| !segment.is_empty()) {
        if !segment.contains(['*', '?', '[']) {
            for path in &mut paths {
                path.push(segment);
            }
            continue;
        }
        if segment == "**" {
            paths = cache.folders_below(paths, options.skipped_folders);
            continue;
        }
        // A pattern that cannot be parsed matches every name.
        let name_pattern = Pattern::parse(&posix_classes_as_ranges(segment)).ok();
        let matches_name = |name: &str| name_pattern.as_ref().is_none_or(|pattern| pattern.matches(name));
        let mut matches = Vec::new();
        'folders: for folder in &paths {
            for FolderEntry { name, .. } in cache.entries(folder).iter() {
                // Hidden files only match a pattern that begins with a dot.
                let is_selected = options.includes_hidden || !name.starts_with('.') || segment.starts_with('.');
                if is_selected && matches_name(name) {
                    matches.push(folder.join(name));
                }
                if matches.len() > options.max_paths {
                    break 'folders;
                }
            }
        }
        paths = matches;
    }
    paths.retain(|path| path.symlink_metadata().is_ok());
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path, pattern: &str) -> Vec<String> {
        let absolute = format!("{}/{pattern}", folder.display());
        let mut names: Vec<String> = expand_shell_glob(&absolute)
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
