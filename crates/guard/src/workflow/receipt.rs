//! How the command of a gate went: kept in the user's own folder, for the tree that it was run on.
//!
//! A receipt that says yes counts until the tree changes. One that says no is told once: what failed may lie outside of the
//! tree, so the next attempt runs the command again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::Masked;

use crate::{Environment, plain_text};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Tells this run from every other.
    pub run: String,
    pub command: Masked<'static>,
    /// None where it was not started, or a signal or its time limit ended it.
    pub exit_code: Option<i32>,
    pub passed: bool,
    /// How it ended, in words.
    pub ending: String,
    pub duration: Duration,
    /// What was in the tree before; none without git, where nobody can tell.
    pub tree: Option<String>,
    /// Whether it was the same afterwards.
    pub tree_stayed: bool,
    /// The files that were changed while the command ran. Receipts of earlier versions do not have them.
    #[serde(default)]
    pub changed: Vec<String>,
    /// The end of what it said.
    pub output: Masked<'static>,
    /// Milliseconds since 1970.
    pub ended: i64,
    /// Whether anybody was told; kept apart from the rest, which is the holder's to write.
    #[serde(skip)]
    pub told: bool,
}

impl Receipt {
    /// Whether this is what it ran on, from the beginning to the end.
    pub fn is_of(&self, tree: Option<&str>) -> bool {
        self.tree_stayed && self.tree.as_deref() == tree
    }

    /// Whether there is no need to run the command for this tree.
    pub fn answers(&self, tree: Option<&str>) -> bool {
        let is_of_tree = self.is_of(tree);
        let counts_on = self.passed && tree.is_some();
        is_of_tree && (counts_on || !self.told)
    }

    /// Why it does not let a move through that is made with this tree.
    /// `again`: the command that makes it.
    pub fn lack(&self, tree: Option<&str>, again: &str) -> Option<String> {
        let Self { command, ending, output, .. } = self;
        let command = plain_text::line(command);
        if !self.passed {
            let said = if output.is_empty() { String::new() } else { format!("\n{output}") };
            return Some(format!("`{command}` {ending}{said}"));
        }
        (!self.is_of(tree)).then(|| {
            format!(
                "`{command}` passed, but files changed while it ran{}, so the result does not count. Repeat `{again}` once \
                 nothing changes any more.",
                self.changed_files()
            )
        })
    }

    /// The files that changed, in parentheses; nothing where they are not known.
    fn changed_files(&self) -> String {
        const SHOWN: usize = 5;
        if self.changed.is_empty() {
            return String::new();
        }
        let mut names: Vec<String> =
            self.changed.iter().take(SHOWN).map(|path| format!("`{}`", plain_text::line(path))).collect();
        if self.changed.len() > SHOWN {
            names.push(format!("{} more", self.changed.len() - SHOWN));
        }
        format!(" ({})", names.join(", "))
    }
}

/// The receipt of one command in one project.
#[derive(Debug, Clone)]
pub struct Receipts {
    folder: PathBuf,
    name: String,
}

impl Receipts {
    pub fn of(words: &[String], root: &Path, environment: &Environment) -> Self {
        Self::at(environment.project_state(root).join("receipts"), words)
    }

    pub fn at(folder: PathBuf, words: &[String]) -> Self {
        Self { folder, name: policy::digest(words.join("\0")) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// By which the holders of this command are kept from each other.
    pub fn lock(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.name))
    }

    /// While this file is there, the command that runs is to end.
    pub fn stop(&self) -> PathBuf {
        self.folder.join(format!("{}.stop", self.name))
    }

    /// What runs now, for whoever waits.
    pub fn running(&self) -> PathBuf {
        self.folder.join(format!("{}.running", self.name))
    }

    /// The last one.
    pub fn last(&self) -> Option<Receipt> {
        let receipt: Receipt = serde_json::from_slice(&fs::read(self.file()).ok()?).ok()?;
        Some(Receipt { told: self.told(&receipt.run).exists(), ..receipt })
    }

    /// In place of the last one. Only who has the lock may.
    pub fn keep(&self, receipt: &Receipt) -> io::Result<()> {
        let last = self.last();
        policy::write_private_file(&self.file(), serde_json::to_vec(receipt)?)?;
        if let Some(last) = last.filter(|last| last.told) {
            let _ = fs::remove_file(self.told(&last.run));
        }
        Ok(())
    }

    /// Where that cannot be written down, somebody is told twice.
    pub fn note_told(&self, receipt: &Receipt) {
        if !receipt.told {
            let _ = policy::write_private_file(&self.told(&receipt.run), "");
        }
    }

    /// Is there once somebody was told of a run.
    fn told(&self, run: &str) -> PathBuf {
        self.folder.join(format!("{}-{run}.told", self.name))
    }

    fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(passed: bool) -> Receipt {
        Receipt {
            run: "1".to_owned(),
            command: store::mask("make check").into_static(),
            exit_code: Some(i32::from(!passed)),
            passed,
            ending: "failed with exit code 1".to_owned(),
            duration: Duration::from_secs(2),
            tree: Some("a".to_owned()),
            tree_stayed: true,
            changed: Vec::new(),
            output: store::mask("no rule").into_static(),
            ended: 0,
            told: false,
        }
    }

    #[test]
    fn a_yes_counts_until_the_tree_changes_and_a_no_is_told_once() {
        let told = |receipt: Receipt| Receipt { told: true, ..receipt };
        assert!(receipt(true).answers(Some("a")) && told(receipt(true)).answers(Some("a")));
        assert!(!receipt(true).answers(Some("b")));
        assert!(receipt(false).answers(Some("a")) && !told(receipt(false)).answers(Some("a")));
        let moved = Receipt { tree_stayed: false, ..receipt(true) };
        assert!(!moved.answers(Some("a")));
        assert!(
            moved.lack(Some("a"), "linchpin next").is_some_and(|why| why.contains("files changed while it ran, so"))
        );
        let names = |count: usize| (1..=count).map(|number| format!("src/{number}.rs")).collect();
        let moved = Receipt { changed: names(7), ..moved };
        assert_eq!(
            moved.lack(Some("a"), "linchpin next").unwrap_or_default(),
            "`make check` passed, but files changed while it ran (`src/1.rs`, `src/2.rs`, `src/3.rs`, `src/4.rs`, `src/5.rs`, 2 more), \
             so the result does not count. Repeat `linchpin next` once nothing changes any more."
        );
        assert_eq!(receipt(true).lack(Some("a"), "linchpin next"), None);
        assert_eq!(
            receipt(false).lack(Some("a"), "linchpin next").as_deref(),
            Some("`make check` failed with exit code 1\nno rule")
        );
    }

    #[test]
    fn who_is_told_late_leaves_a_newer_receipt_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let receipts = Receipts::at(folder.path().to_owned(), &["make".to_owned()]);
        let (old, new) = (receipt(false), Receipt { run: "2".to_owned(), ..receipt(true) });
        receipts.keep(&old).expect("written");
        receipts.note_told(&old);
        assert_eq!(receipts.last(), Some(Receipt { told: true, ..old.clone() }));
        receipts.keep(&new).expect("written");
        receipts.note_told(&old);
        assert_eq!(receipts.last().as_ref(), Some(&new));
        receipts.note_told(&new);
        receipts.note_told(&old);
        assert_eq!(receipts.last(), Some(Receipt { told: true, ..new }));
    }

    #[test]
    fn without_git_a_yes_is_used_up() {
        let without = Receipt { tree: None, ..receipt(true) };
        assert!(without.answers(None) && !Receipt { told: true, ..without.clone() }.answers(None));
        assert_eq!(without.lack(None, "linchpin next"), None);
    }
}
