//! Facts about paths that a judgement looked up: targets of symlinks, matches of globs, which paths are directories,
//! and texts of scripts.
//!
//! The journal stores all of them as one list of pairs. The suffix of a pair's first string shows the kind of the fact:
//! no suffix means a symlink. Only this file uses these suffixes.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shell::FileContents;
use store::JournalEntry;

/// The name of the one journal fact that contains all facts about paths. Its value is null if there were more than
/// `MAX_PAIRS` facts about paths.
pub const PATHS_FACT: &str = "links";
/// The maximum number of recorded pairs. If there are more, none is recorded.
const MAX_PAIRS: usize = 256;

const PATTERN_SUFFIX: &str = "\n";
const SCRIPT_SUFFIX: &str = "\n\n";
const FOLDER_SUFFIX: &str = "/";
/// Stored in place of a script's text if the text is unknown. The text of a script never contains a NUL character.
const UNKNOWN_TEXT: &str = "\0";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathRecord {
    /// The real path of each path that is or contains a symlink.
    symlinks: BTreeMap<String, String>,
    /// The matches of each glob.
    matches: BTreeMap<String, Vec<String>>,
    /// For each path that was looked up: true if the path is a directory.
    directories: BTreeMap<String, bool>,
    /// The masked text of each script that the session wrote; `None` if the text is unknown.
    scripts: BTreeMap<String, Option<String>>,
}

impl PathRecord {
    pub fn add_symlink(&mut self, path: &str, real: &str) {
        self.symlinks.insert(path.to_owned(), real.to_owned());
    }

    pub fn add_matches(&mut self, pattern: &str, paths: &[String]) {
        self.matches.insert(pattern.to_owned(), paths.to_vec());
    }

    pub fn add_directory(&mut self, path: &str, is_directory: bool) {
        self.directories.insert(path.to_owned(), is_directory);
    }

    pub fn add_script(&mut self, path: &str, contents: &FileContents) {
        let text = match contents {
            FileContents::Text(text) => Some(store::mask(text).into_owned()),
            FileContents::Unknown => None,
        };
        self.scripts.insert(path.to_owned(), text);
    }

    pub fn extend(&mut self, other: Self) {
        self.symlinks.extend(other.symlinks);
        self.matches.extend(other.matches);
        self.directories.extend(other.directories);
        self.scripts.extend(other.scripts);
    }

    /// The value of the fact [`PATHS_FACT`]; `None` if there are no facts about paths.
    pub fn to_fact(&self) -> Option<Value> {
        let directories = self.directories.iter().map(|(path, is_directory)| {
            (format!("{path}{FOLDER_SUFFIX}"), if *is_directory { path.clone() } else { String::new() })
        });
        let matches =
            self.matches.iter().map(|(pattern, paths)| (format!("{pattern}{PATTERN_SUFFIX}"), paths.join("\n")));
        let scripts = self.scripts.iter().map(|(path, text)| {
            (format!("{path}{SCRIPT_SUFFIX}"), text.clone().unwrap_or_else(|| UNKNOWN_TEXT.to_owned()))
        });
        let symlinks = self.symlinks.iter().map(|(path, real)| (path.clone(), real.clone()));
        let pairs: BTreeMap<String, String> = directories.chain(matches).chain(scripts).chain(symlinks).collect();
        match pairs.len() {
            0 => None,
            1..=MAX_PAIRS => Some(pairs.iter().map(|(key, value)| json!([key, value])).collect()),
            _ => Some(Value::Null),
        }
    }

    /// The facts about paths that a journal entry contains.
    pub fn of_entry(entry: &JournalEntry) -> Self {
        entry.facts.get(PATHS_FACT).map(Self::from_fact).unwrap_or_default()
    }

    fn from_fact(fact: &Value) -> Self {
        let mut record = Self::default();
        for pair in fact.as_array().into_iter().flatten().filter_map(Value::as_array) {
            let [Value::String(key), Value::String(value)] = pair.as_slice() else { continue };
            if let Some(path) = key.strip_suffix(SCRIPT_SUFFIX) {
                let text = Some(value.clone()).filter(|text| text != UNKNOWN_TEXT);
                record.scripts.insert(path.to_owned(), text);
            } else if let Some(pattern) = key.strip_suffix(PATTERN_SUFFIX) {
                record.matches.insert(pattern.to_owned(), value.lines().map(str::to_owned).collect());
            } else if let Some(path) = key.strip_suffix(FOLDER_SUFFIX).filter(|path| value.is_empty() || value == path)
            {
                record.directories.insert(path.to_owned(), !value.is_empty());
            } else {
                record.symlinks.insert(key.clone(), value.clone());
            }
        }
        record
    }

    /// True if an event had too many pairs to record.
    pub fn has_too_many(entry: &JournalEntry) -> bool {
        entry.facts.get(PATHS_FACT).is_some_and(Value::is_null)
    }

    /// The recorded real path of `path`; `None` if none was recorded. Then `path` contains no symlink, or was not
    /// looked up, or [`Self::has_too_many`] is true.
    pub fn resolved(&self, path: &str) -> Option<String> {
        self.symlinks.get(path).cloned()
    }

    pub fn matches(&self, pattern: &str) -> Option<Vec<String>> {
        self.matches.get(pattern).cloned()
    }

    pub fn is_directory(&self, path: &str) -> Option<bool> {
        self.directories.get(path).copied()
    }

    pub fn script(&self, path: &str) -> Option<FileContents> {
        let text = self.scripts.get(path)?;
        Some(text.as_ref().map_or(FileContents::Unknown, |text| FileContents::Text(text.as_str().into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> PathRecord {
        let mut record = PathRecord::default();
        record.add_symlink("/p/link", "/real");
        // This path of a symlink ends with a slash. The slash must not be taken for the suffix of a fact about a
        // directory.
        record.add_symlink("/p/slash/", "/elsewhere");
        record.add_matches("/p/*.txt", &["/p/a.txt".to_owned(), "/p/b.txt".to_owned()]);
        record.add_matches("/p/*.none", &[]);
        record.add_directory("/p", true);
        record.add_directory("/p/a.txt", false);
        record.add_directory("/", true);
        record.add_script("/p/run.sh", &FileContents::Text("echo\n".into()));
        record.add_script("/p/lost.sh", &FileContents::Unknown);
        record
    }

    #[test]
    fn is_the_same_after_a_round_trip_through_the_journal() {
        let record = record();
        assert_eq!(PathRecord::from_fact(&record.to_fact().expect("a fact")), record);
    }

    #[test]
    fn facts_are_found_by_kind() {
        let record = record();
        assert_eq!(record.resolved("/p/link").as_deref(), Some("/real"));
        assert_eq!(record.resolved("/p"), None, "a directory is no symlink");
        assert_eq!(record.is_directory("/p/a.txt"), Some(false));
        assert_eq!(record.is_directory("/p/link"), None);
        assert_eq!(record.matches("/p/*.none"), Some(Vec::new()));
        assert_eq!(record.script("/p/lost.sh"), Some(FileContents::Unknown));
        assert_eq!(record.script("/p"), None);
    }

    #[test]
    fn secrets_in_a_script_are_masked() {
        let secret = store::mask::example_secrets().next().expect("an example");
        let mut record = PathRecord::default();
        record.add_script("/run.sh", &FileContents::Text(secret.as_str().into()));
        assert!(!record.to_fact().expect("a fact").to_string().contains(&secret));
    }

    #[test]
    fn is_null_if_there_are_too_many_pairs() {
        let mut record = PathRecord::default();
        assert_eq!(record.to_fact(), None);
        for number in 0..=MAX_PAIRS {
            record.add_directory(&number.to_string(), true);
        }
        assert_eq!(record.to_fact(), Some(Value::Null));
    }
}
