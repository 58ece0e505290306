//! Receipts: the results of gates' commands. Each result is for one state of the tree. Receipts are stored in the
//! user's state directory.
//!
//! If the command passed, its receipt counts until the tree changes. If it failed, its receipt is reported once, and
//! the next attempt runs the command again, because the cause of the failure may be outside of the tree.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::Masked;

use crate::{Environment, plain_text};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// A unique id. Each execution of the command gets a new one.
    #[serde(rename = "run")]
    pub id: String,
    pub command: Masked<'static>,
    /// `None` if the command did not start, was killed by a signal, or exceeded its timeout.
    pub exit_code: Option<i32>,
    pub passed: bool,
    /// How the command ended, for messages.
    pub ending: String,
    pub duration: Duration,
    /// The digest of the tree before the command; `None` without git.
    #[serde(rename = "tree")]
    pub tree_digest: Option<String>,
    /// True if the tree was the same after the command.
    #[serde(rename = "tree_stayed")]
    pub is_tree_unchanged: bool,
    /// Files that changed while the command ran. Empty in receipts of earlier versions of Linchpin.
    #[serde(default)]
    pub changed: Vec<String>,
    /// The end of the command's output.
    pub output: Masked<'static>,
    /// Milliseconds since 1970.
    pub ended: i64,
    /// True if the result was reported to a caller. Stored in a separate file, because only the gate process writes the
    /// receipt.
    #[serde(skip)]
    pub is_reported: bool,
}

impl Receipt {
    /// True if the command ran on this state of the tree and did not change it.
    pub fn is_for_tree(&self, tree_digest: Option<&str>) -> bool {
        self.is_tree_unchanged && self.tree_digest.as_deref() == tree_digest
    }

    /// True if this receipt decides the gate for this state of the tree, so that the command need not run again.
    pub fn can_replace_a_run(&self, tree_digest: Option<&str>) -> bool {
        let counts_repeatedly = self.passed && tree_digest.is_some();
        self.is_for_tree(tree_digest) && (counts_repeatedly || !self.is_reported)
    }

    /// The reason why the gate does not pass with this result; `None` if it passes. `repeat_with` is the command that
    /// makes the move.
    pub fn problem(&self, tree_digest: Option<&str>, repeat_with: &str) -> Option<String> {
        let Self { command, ending, output, .. } = self;
        let command = plain_text::single_line(command);
        if !self.passed {
            let output_lines = if output.is_empty() { String::new() } else { format!("\n{output}") };
            return Some(format!("`{command}` {ending}{output_lines}"));
        }
        if self.is_for_tree(tree_digest) {
            return None;
        }
        if self.is_tree_unchanged {
            // The command ran on another state of the tree than the one at the start of this move: the command
            // had begun before the move, or files changed before the command began.
            return Some(format!(
                "`{command}` passed, but on an earlier state of the tree, so the result does not count. Run `{repeat_with}` \
                 again: it runs the command on the tree as it is now."
            ));
        }
        Some(format!(
            "`{command}` passed, but files changed while it ran{}, so the result does not count. Repeat `{repeat_with}` once \
             nothing changes any more.",
            self.changed_files_text()
        ))
    }

    /// The changed files in parentheses; empty if they are unknown.
    fn changed_files_text(&self) -> String {
        const MAX_SHOWN: usize = 5;
        if self.changed.is_empty() {
            return String::new();
        }
        let mut names: Vec<String> =
            self.changed.iter().take(MAX_SHOWN).map(|path| format!("`{}`", plain_text::single_line(path))).collect();
        if self.changed.len() > MAX_SHOWN {
            names.push(format!("{} more", self.changed.len() - MAX_SHOWN));
        }
        format!(" ({})", names.join(", "))
    }
}

/// The files about one command in one project: the receipt (`.json`), the lock of the gate process (`.lock`), the
/// progress of the running command (`.running`), the request to cancel the command (`.stop`), and a mark for a receipt
/// that was reported (`.told`). The digest of the command's words is the beginning of each name.
#[derive(Debug, Clone)]
pub struct ReceiptFiles {
    directory: PathBuf,
    name: String,
}

impl ReceiptFiles {
    pub fn of(words: &[String], root: &Path, environment: &Environment) -> Self {
        Self::at(environment.project_state(root).join("receipts"), words)
    }

    pub fn at(directory: PathBuf, words: &[String]) -> Self {
        Self { directory, name: policy::digest(words.join("\0")) }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The lock file. The gate process that runs the command holds its lock.
    pub fn lock_path(&self) -> PathBuf {
        self.directory.join(format!("{}.lock", self.name))
    }

    /// The file that asks the gate process to cancel the running command. Only its existence matters.
    pub fn cancel_request_path(&self) -> PathBuf {
        self.directory.join(format!("{}.stop", self.name))
    }

    /// The file that describes the running command.
    pub fn running_path(&self) -> PathBuf {
        self.directory.join(format!("{}.running", self.name))
    }

    /// The latest receipt.
    pub fn last(&self) -> Option<Receipt> {
        let receipt: Receipt = serde_json::from_slice(&fs::read(self.receipt_path()).ok()?).ok()?;
        Some(Receipt { is_reported: self.report_mark(&receipt.id).exists(), ..receipt })
    }

    /// Replaces the receipt. The caller must hold the lock.
    pub fn store(&self, receipt: &Receipt) -> io::Result<()> {
        let last = self.last();
        policy::write_private_file(&self.receipt_path(), serde_json::to_vec(receipt)?)?;
        if let Some(last) = last.filter(|last| last.is_reported) {
            let _ = fs::remove_file(self.report_mark(&last.id));
        }
        Ok(())
    }

    /// Marks the receipt as reported. If this fails, the receipt is reported twice.
    pub fn mark_reported(&self, receipt: &Receipt) {
        if !receipt.is_reported {
            let _ = policy::write_private_file(&self.report_mark(&receipt.id), "");
        }
    }

    /// The file that exists once this receipt was reported.
    fn report_mark(&self, receipt_id: &str) -> PathBuf {
        self.directory.join(format!("{}-{receipt_id}.told", self.name))
    }

    fn receipt_path(&self) -> PathBuf {
        self.directory.join(format!("{}.json", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(passed: bool) -> Receipt {
        Receipt {
            id: "1".to_owned(),
            command: store::mask("make check").into_static(),
            exit_code: Some(i32::from(!passed)),
            passed,
            ending: "failed with exit code 1".to_owned(),
            duration: Duration::from_secs(2),
            tree_digest: Some("a".to_owned()),
            is_tree_unchanged: true,
            changed: Vec::new(),
            output: store::mask("no rule").into_static(),
            ended: 0,
            is_reported: false,
        }
    }

    #[test]
    fn a_pass_counts_until_the_tree_changes_and_a_failure_is_reported_once() {
        let reported = |receipt: Receipt| Receipt { is_reported: true, ..receipt };
        assert!(receipt(true).can_replace_a_run(Some("a")) && reported(receipt(true)).can_replace_a_run(Some("a")));
        assert!(!receipt(true).can_replace_a_run(Some("b")));
        assert!(receipt(false).can_replace_a_run(Some("a")) && !reported(receipt(false)).can_replace_a_run(Some("a")));
        let unstable = Receipt { is_tree_unchanged: false, ..receipt(true) };
        assert!(!unstable.can_replace_a_run(Some("a")));
        assert!(
            unstable
                .problem(Some("a"), "linchpin next")
                .is_some_and(|why| why.contains("files changed while it ran, so"))
        );
        let names = |count: usize| (1..=count).map(|number| format!("src/{number}.rs")).collect();
        let unstable = Receipt { changed: names(7), ..unstable };
        assert_eq!(
            unstable.problem(Some("a"), "linchpin next").unwrap_or_default(),
            "`make check` passed, but files changed while it ran (`src/1.rs`, `src/2.rs`, `src/3.rs`, `src/4.rs`, `src/5.rs`, 2 more), \
             so the result does not count. Repeat `linchpin next` once nothing changes any more."
        );
        assert_eq!(receipt(true).problem(Some("a"), "linchpin next"), None);
        assert_eq!(
            receipt(true).problem(Some("b"), "linchpin next").as_deref(),
            Some(
                "`make check` passed, but on an earlier state of the tree, so the result does not count. Run `linchpin next` again: \
                 it runs the command on the tree as it is now."
            )
        );
        assert_eq!(
            receipt(false).problem(Some("a"), "linchpin next").as_deref(),
            Some("`make check` failed with exit code 1\nno rule")
        );
    }

    #[test]
    fn a_late_report_does_not_affect_a_newer_receipt() {
        let directory = tempfile::tempdir().expect("a directory");
        let receipt_files = ReceiptFiles::at(directory.path().to_owned(), &["make".to_owned()]);
        let (old, new) = (receipt(false), Receipt { id: "2".to_owned(), ..receipt(true) });
        receipt_files.store(&old).expect("written");
        receipt_files.mark_reported(&old);
        assert_eq!(receipt_files.last(), Some(Receipt { is_reported: true, ..old.clone() }));
        receipt_files.store(&new).expect("written");
        receipt_files.mark_reported(&old);
        assert_eq!(receipt_files.last().as_ref(), Some(&new));
        receipt_files.mark_reported(&new);
        receipt_files.mark_reported(&old);
        assert_eq!(receipt_files.last(), Some(Receipt { is_reported: true, ..new }));
    }

    #[test]
    fn without_git_a_pass_counts_once() {
        let without = Receipt { tree_digest: None, ..receipt(true) };
        assert!(
            without.can_replace_a_run(None)
                && !Receipt { is_reported: true, ..without.clone() }.can_replace_a_run(None)
        );
        assert_eq!(without.problem(None, "linchpin next"), None);
    }

    #[test]
    fn each_command_of_each_project_has_its_own_receipt() {
        let scratch = crate::tests::Scratch::bare();
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let of = |words: &[&str], root: &Path| ReceiptFiles::of(&owned(words), root, &scratch.environment);
        of(&["make", "check"], &scratch.root).store(&receipt(true)).expect("written");
        assert_eq!(of(&["make", "check"], &scratch.root).last(), Some(receipt(true)));
        assert_eq!(of(&["make", "check", "-k"], &scratch.root).last(), None);
        assert_eq!(of(&["make check"], &scratch.root).last(), None);
        assert_eq!(of(&["make", "check"], Path::new("/elsewhere")).last(), None);
    }

    #[test]
    fn a_damaged_receipt_is_ignored_and_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let receipt_files = ReceiptFiles::at(directory.path().to_owned(), &["make".to_owned()]);
        fs::write(receipt_files.receipt_path(), "{").expect("a file");
        assert_eq!(receipt_files.last(), None);
        receipt_files.store(&receipt(true)).expect("written");
        assert_eq!(receipt_files.last(), Some(receipt(true)));
    }
}
