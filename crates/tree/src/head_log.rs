//! The commits that were made in this working tree, by git's reflog of `HEAD`.
//!
//! A commit that was fetched gets to `HEAD` by a checkout, a reset, or a fast-forward. Every other line of the reflog is
//! a commit that was made here. Lines are only ever added at the end, so the length of the file marks a moment.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use crate::repository::{Repository, id};

/// In bytes: some ten thousand lines.
const LIMIT: u64 = 2 * 1024 * 1024;

/// What a line begins with that says how `HEAD` came to a commit which was there before.
const MOVES: &[&str] = &["checkout", "reset", "clone", "branch", "fetch"];

impl Repository {
    /// Marks this moment for [`Self::made_since`]; none where git keeps no such log.
    pub fn log_length(&self) -> Option<u64> {
        Some(self.git_dir().join("logs/HEAD").metadata().ok()?.len())
    }

    /// The ids of the commits that were made here since a moment; none where the log does not reach back to it.
    pub fn made_since(&self, length: Option<u64>) -> Option<BTreeSet<String>> {
        let length = length?;
        let mut file = File::open(self.git_dir().join("logs/HEAD")).ok()?;
        let now = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
        if now < length || now - length > LIMIT {
            return None;
        }
        // With the end of the line before: where there is none, git has dropped old lines, and lengths mean nothing.
        file.seek(SeekFrom::Start(length.saturating_sub(1))).ok()?;
        let mut bytes = Vec::new();
        file.take(LIMIT + 1).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        if length > 0 && !text.starts_with('\n') {
            return None;
        }
        Some(text.lines().filter_map(made_by).collect())
    }
}

/// The commit that a line says was made.
fn made_by(line: &str) -> Option<String> {
    let (ids, message) = line.split_once('\t').unwrap_or((line, ""));
    let made = ids.split(' ').nth(1).and_then(id)?;
    let (action, what) = message.split_once(':').unwrap_or((message, ""));
    let is_move = MOVES.iter().any(|name| action.split(' ').next() == Some(name))
        || ["(start)", "(finish)", "(abort)"].iter().any(|step| action.ends_with(step))
        || what.trim_start().to_ascii_lowercase().starts_with("fast-forward");
    (!is_move).then_some(made)
}

#[cfg(test)]
mod tests {
    use super::made_by;

    #[test]
    fn lines_that_made_a_commit() {
        let zero = "0".repeat(40);
        let new = "a".repeat(40);
        let is_made = |message: &str| made_by(&format!("{zero} {new} Me <me@x> 1 +0000\t{message}")).is_some();
        for message in [
            "commit: work",
            "commit (initial): checkout: no",
            "commit (amend): x",
            "merge feat: Merge made by the 'ort' strategy.",
            "pull --rebase (pick): work",
            "rebase (squash): two",
            "cherry-pick: x",
            "",
        ] {
            assert!(is_made(message), "{message}");
        }
        for message in [
            "checkout: moving from main to feat",
            "reset: moving to HEAD~1",
            "pull: Fast-forward",
            "merge origin/main: Fast-forward",
            "pull --rebase (start): checkout 1234",
            "rebase (finish): returning to refs/heads/main",
            "clone: from here",
        ] {
            assert!(!is_made(message), "{message}");
        }
    }
}
