//! Expands globs against the file system, as a shell would.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use path::pattern::Pattern;

/// Once one segment of a shell glob (other than `**`) has more matches than this, further matches are ignored. This is
/// acceptable, because rules are also matched against the text of the glob.
const MAX_PATHS: usize = 1_000;
/// The maximum number of directory entries that are read for one glob. `**` reads parent directories before their
/// subdirectories. The limit exists because the agent's call waits until the glob is expanded.
const MAX_ENTRIES: usize = 2_000;

/// The maximum number of matches of a search glob. Further matches are ignored.
const MAX_SEARCH_MATCHES: usize = 100;
/// Directories that `**` of a search glob skips. A search glob that names such a directory still matches it.
const SKIPPED_FOLDERS: &[&str] = &[".git", "node_modules"];

/// Options for matching a pattern.
struct MatchOptions {
    includes_hidden: bool,
    skipped_directories: &'static [&'static str],
    max_paths: usize,
}

/// Expands a shell glob. `pattern` must be absolute. Returns an empty list if nothing matches.
pub fn expand_shell_glob(pattern: &str) -> Vec<String> {
    // A pattern with `/**/` also matches hidden files.
    let includes_hidden = pattern.contains("/**/");
    matching_paths(
        pattern,
        &MatchOptions { includes_hidden, skipped_directories: &[], max_paths: MAX_PATHS },
        &mut DirectoryCache::default(),
    )
}

/// Expands a search glob, in the way of search tools such as ripgrep: braces contain alternatives, and hidden files
/// match too. `pattern` must be absolute.
pub fn expand_search_glob(pattern: &str) -> Vec<String> {
    let options =
        MatchOptions { includes_hidden: true, skipped_directories: SKIPPED_FOLDERS, max_paths: MAX_SEARCH_MATCHES };
    let mut cache = DirectoryCache::default();
    let patterns = expand_braces(pattern);
    let mut paths: Vec<String> =
        patterns.iter().flat_map(|pattern| matching_paths(pattern, &options, &mut cache)).collect();
    paths.truncate(MAX_SEARCH_MATCHES);
    paths
}

/// Once the braces of a pattern have been expanded to this many patterns, braces that are still in them are not
/// expanded.
const MAX_ALTERNATIVES: usize = 64;

/// Expands the braces of a pattern: `a{b,c}` becomes `ab` and `ac`.
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

/// Finds the first pair of braces that contains no other braces, and returns the text before, in and after this pair;
/// `None` if there is no pair.
fn innermost_braces(pattern: &str) -> Option<(&str, &str, &str)> {
    let (before_end, after) = pattern.split_once('}')?;
    let (before, inner) = before_end.rsplit_once('{')?;
    Some((before, inner, after))
}

/// A cache of directory listings, so that no directory is read twice.
#[derive(Default)]
struct DirectoryCache {
    directories: HashMap<PathBuf, Rc<[DirectoryEntry]>>,
    entries_read: usize,
}

struct DirectoryEntry {
    name: String,
    is_directory: bool,
}

impl DirectoryCache {
    /// The directory's entries, as far as the limit of [`MAX_ENTRIES`] for all directories together allows.
    fn entries(&mut self, directory: &Path) -> Rc<[DirectoryEntry]> {
        if let Some(cached) = self.directories.get(directory) {
            return Rc::clone(cached);
        }
        let remaining = MAX_ENTRIES.saturating_sub(self.entries_read);
        let listing = (remaining > 0).then(|| fs::read_dir(directory).ok()).flatten();
        let entry = |entry: fs::DirEntry| DirectoryEntry {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_directory: entry.file_type().is_ok_and(|kind| kind.is_dir()),
        };
        let entries: Rc<[DirectoryEntry]> =
            listing.into_iter().flatten().filter_map(Result::ok).take(remaining).map(entry).collect();
        self.entries_read += entries.len();
        self.directories.insert(directory.to_owned(), Rc::clone(&entries));
        entries
    }

    /// The given directories and the directories below them, including hidden ones but not those named in
    /// `skipped_directories`: parent directories before their subdirectories. At most [`MAX_ENTRIES`] directories are
    /// returned, unless more are given. Symlinks are not followed.
    fn directories_below(&mut self, mut directories: Vec<PathBuf>, skipped_directories: &[&str]) -> Vec<PathBuf> {
        let mut seen: HashSet<PathBuf> = directories.iter().cloned().collect();
        let mut next = 0;
        while let Some(directory) = directories.get(next).cloned() {
            next += 1;
            let entries = self.entries(&directory);
            let inner = entries
                .iter()
                .filter(|entry| entry.is_directory && !skipped_directories.contains(&entry.name.as_str()));
            for inner in inner.map(|entry| directory.join(&entry.name)) {
                if directories.len() < MAX_ENTRIES && seen.insert(inner.clone()) {
                    directories.push(inner);
                }
            }
        }
        directories
    }
}

/// Replaces POSIX character classes by ranges: `[[:digit:]]` becomes `[0-9]`.
fn posix_classes_as_ranges(segment: &str) -> String {
    const CLASSES: [(&str, &str); 6] = [
        ("[:alpha:]", "a-zA-Z"),
        ("[:digit:]", "0-9"),
        ("[:alnum:]", "a-zA-Z0-9"),
        ("[:lower:]", "a-z"),
        ("[:upper:]", "A-Z"),
        ("[:xdigit:]", "0-9a-fA-F"),
    ];
    CLASSES.iter().fold(segment.to_owned(), |text, (class, range)| text.replace(class, range))
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
            paths = cache.directories_below(paths, options.skipped_directories);
            continue;
        }
        // A segment that cannot be parsed matches every name.
        let name_pattern = Pattern::parse(&posix_classes_as_ranges(segment)).ok();
        let matches_name = |name: &str| name_pattern.as_ref().is_none_or(|pattern| pattern.matches(name));
        let mut matches = Vec::new();
        'directories: for directory in &paths {
            for DirectoryEntry { name, .. } in cache.entries(directory).iter() {
                // Unless the options include hidden files, these match only a segment that begins with a dot.
                let is_selected = options.includes_hidden || !name.starts_with('.') || segment.starts_with('.');
                if is_selected && matches_name(name) {
                    matches.push(directory.join(name));
                }
                if matches.len() > options.max_paths {
                    break 'directories;
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

    fn names(directory: &Path, pattern: &str) -> Vec<String> {
        let absolute = format!("{}/{pattern}", directory.display());
        let mut names: Vec<String> = expand_shell_glob(&absolute)
            .iter()
            .filter_map(|path| Some(Path::new(path).strip_prefix(directory).ok()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn globs_expand_as_in_a_shell() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path().canonicalize().expect("a path");
        fs::create_dir_all(directory.join("a/b")).expect("directories");
        for file in [".env", ".e1v", "a/x.rs", "a/b/y.rs", "z.rs"] {
            fs::write(directory.join(file), "").expect("a file");
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
            assert_eq!(names(&directory, pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn deeply_nested_directories_are_read_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path().canonicalize().expect("a path");
        let deep = (0..200).fold(directory.clone(), |path, _| path.join("d"));
        fs::create_dir_all(&deep).expect("directories");
        fs::write(deep.join("x"), "").expect("a file");
        assert_eq!(names(&directory, "**/**/**/**/x").len(), 1);
    }
}
