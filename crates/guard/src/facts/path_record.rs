//! Answers about paths that a judgement used: symlinks, globs, directories, and texts of scripts.
//!
//! The journal stores them as one list of pairs. A suffix of a pair's first string says of which kind the answer is.
//! Only this file uses the suffixes.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shell::FileContents;
use store::JournalEntry;

/// The name of the fact; its value is null if there were too many answers to record.
pub const PATHS_FACT: &str = "links";
const MAX_ANSWERS: usize = 256;

const PATTERN_SUFFIX: &str = "\n";
const SCRIPT_SUFFIX: &str = "\n\n";
const FOLDER_SUFFIX: &str = "/";
/// Stored in place of a script's text if that is unknown. No script has this text.
const UNKNOWN_TEXT: &str = "\0";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathRecord {
    /// The real path of each path.
    symlinks: BTreeMap<String, String>,
    /// The matching paths of each pattern.
    patterns: BTreeMap<String, Vec<String>>,
    /// True for each path that is a directory.
    folders: BTreeMap<String, bool>,
    /// The masked text of each script that the session wrote; `None` if the text is unknown.
    scripts: BTreeMap<String, Option<String>>,
}

impl PathRecord {
    pub fn add_symlink(&mut self, path: &str, real: &str) {
        self.symlinks.insert(path.to_owned(), real.to_owned());
    }

    pub fn add_matches(&mut self, pattern: &str, found: &[String]) {
        self.patterns.insert(pattern.to_owned(), found.to_vec());
    }

    pub fn add_folder(&mut self, path: &str, is_folder: bool) {
        self.folders.insert(path.to_owned(), is_folder);
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
        self.patterns.extend(other.patterns);
        self.folders.extend(other.folders);
        self.scripts.extend(other.scripts);
    }

    /// The value of the fact; `None` if there are no answers.
    pub fn to_fact(&self) -> Option<Value> {
        let folders = self.folders.iter().map(|(path, is_folder)| {
            (format!("{path}{FOLDER_SUFFIX}"), if *is_folder { path.clone() } else { String::new() })
        });
        let patterns =
            self.patterns.iter().map(|(pattern, found)| (format!("{pattern}{PATTERN_SUFFIX}"), found.join("\n")));
        let scripts = self.scripts.iter().map(|(path, text)| {
            (format!("{path}{SCRIPT_SUFFIX}"), text.clone().unwrap_or_else(|| UNKNOWN_TEXT.to_owned()))
        });
        let symlinks = self.symlinks.iter().map(|(path, real)| (path.clone(), real.clone()));
        let pairs: BTreeMap<String, String> = folders.chain(patterns).chain(scripts).chain(symlinks).collect();
        match pairs.len() {
            0 => None,
            1..=MAX_ANSWERS => Some(pairs.iter().map(|(key, value)| json!([key, value])).collect()),
            _ => Some(Value::Null),
        }
    }

    /// The answers recorded with an event.
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
                record.patterns.insert(pattern.to_owned(), value.lines().map(str::to_owned).collect());
            } else if let Some(path) = key.strip_suffix(FOLDER_SUFFIX).filter(|path| value.is_empty() || value == path)
            {
                record.folders.insert(path.to_owned(), !value.is_empty());
            } else {
                record.symlinks.insert(key.clone(), value.clone());
            }
        }
        record
    }

    /// True if there were too many answers to record.
    pub fn has_too_many(entry: &JournalEntry) -> bool {
        entry.facts.get(PATHS_FACT).is_some_and(Value::is_null)
    }

    /// The real path, if it differs from the path.
    pub fn resolved(&self, path: &str) -> Option<String> {
        self.symlinks.get(path).cloned()
    }

    pub fn matches(&self, pattern: &str) -> Option<Vec<String>> {
        self.patterns.get(pattern).cloned()
    }

    pub fn is_folder(&self, path: &str) -> Option<bool> {
        self.folders.get(path).copied()
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
        // A trailing slash marks an answer about a directory, but here the slash belongs to the path of a symlink.
        record.add_symlink("/p/slash/", "/elsewhere");
        record.add_matches("/p/*.txt", &["/p/a.txt".to_owned(), "/p/b.txt".to_owned()]);
        record.add_matches("/p/*.none", &[]);
        record.add_folder("/p", true);
        record.add_folder("/p/a.txt", false);
        record.add_folder("/", true);
        record.add_script("/p/run.sh", &FileContents::Text("echo\n".into()));
        record.add_script("/p/lost.sh", &FileContents::Unknown);
        record
    }

    #[test]
    fn survives_a_round_trip_through_the_journal() {
        let record = record();
        assert_eq!(PathRecord::from_fact(&record.to_fact().expect("a fact")), record);
    }

    #[test]
    fn answers_by_kind() {
        let record = record();
        assert_eq!(record.resolved("/p/link").as_deref(), Some("/real"));
        assert_eq!(record.resolved("/p"), None, "a folder is no symlink");
        assert_eq!(record.is_folder("/p/a.txt"), Some(false));
        assert_eq!(record.is_folder("/p/link"), None);
        assert_eq!(record.matches("/p/*.none"), Some(Vec::new()));
        assert_eq!(record.script("/p/lost.sh"), Some(FileContents::Unknown));
        assert_eq!(record.script("/p"), None);
    }

    #[test]
    fn keeps_secrets_of_a_script_out() {
        let secret = store::mask::example_secrets().next().expect("an example");
        let mut record = PathRecord::default();
        record.add_script("/run.sh", &FileContents::Text(secret.as_str().into()));
        assert!(!record.to_fact().expect("a fact").to_string().contains(&secret));
    }

    #[test]
    fn is_null_if_there_are_too_many_answers() {
        let mut record = PathRecord::default();
        assert_eq!(record.to_fact(), None);
        for number in 0..=MAX_ANSWERS {
            record.add_folder(&number.to_string(), true);
        }
        assert_eq!(record.to_fact(), Some(Value::Null));
    }
}
