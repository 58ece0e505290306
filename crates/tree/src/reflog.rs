//! Finds the commits that were made in this repository since a point in time, from git's reflogs.
//!
//! Each line of a reflog records a commit that was made in this repository, or a move of `HEAD` to an existing commit,
//! such as a checkout, a reset or a fast-forward. The message of the line shows which. Git appends new lines, so the
//! length of the reflog of `HEAD` identifies a point in time until git drops old lines. Commits that were made in
//! another working tree of the repository and then merged are in the reflogs of that tree and of its branch. In these
//! reflogs, the time of a line shows whether the commit is new.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::repository::{Repository, parse_object_id};

/// The maximum number of bytes that are read from a reflog: about ten thousand lines.
const MAX_REFLOG_BYTES: u64 = 2 * 1024 * 1024;
/// The maximum number of reflogs that are read, of branches and of working trees together.
const MAX_REFLOGS: usize = 10_000;

/// The first words of the reflog messages that record a move of `HEAD` to an existing commit.
const HEAD_MOVES: &[&str] = &["checkout", "reset", "clone", "branch", "fetch"];

impl Repository {
    /// Returns the current length of the reflog of `HEAD`, as an argument for a later call of
    /// [`Self::commits_made_since`]; `None` if git keeps no reflog.
    pub fn reflog_length(&self) -> Option<u64> {
        Some(self.git_dir().join("logs/HEAD").metadata().ok()?.len())
    }

    /// Returns the ids of the commits that the reflog of `HEAD` records after its first `length` bytes. `None` if git
    /// has dropped old lines since then, or if there is too much to read.
    pub fn commits_made_since(&self, length: Option<u64>) -> Option<BTreeSet<String>> {
        let length = length?;
        let mut file = File::open(self.git_dir().join("logs/HEAD")).ok()?;
        let current_length = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
        if current_length < length || current_length - length > MAX_REFLOG_BYTES {
            return None;
        }
        // Reads from the last byte of the old lines, which is a newline. If it is not one, git has dropped old lines
        // since `length` was stored, so `length` is meaningless.
        file.seek(SeekFrom::Start(length.saturating_sub(1))).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_REFLOG_BYTES + 1).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        if length > 0 && !text.starts_with('\n') {
            return None;
        }
        Some(text.lines().filter_map(commit_made_by).collect())
    }

    /// Returns the ids of the commits that the reflogs of branches and of all working trees record since a time.
    /// `since` is in milliseconds since 1970.
    pub fn commits_made_elsewhere_since(&self, since: i64) -> BTreeSet<String> {
        let seconds = u64::try_from(since / 1000).unwrap_or_default();
        let since_time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let is_new =
            |log: &&PathBuf| log.metadata().and_then(|log| log.modified()).is_ok_and(|time| time >= since_time);
        let mut commits = BTreeSet::new();
        for log in self.reflogs_of_branches_and_trees().iter().filter(is_new) {
            let text = newest_lines(log).unwrap_or_default();
            let lines = text.lines().filter(|line| line_time(line).is_some_and(|time| time >= seconds));
            commits.extend(lines.filter_map(commit_made_by));
        }
        commits
    }

    /// Returns the reflogs of branches, and of `HEAD` in all working trees.
    fn reflogs_of_branches_and_trees(&self) -> Vec<PathBuf> {
        let common = self.common_dir();
        let trees = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        let mut logs: Vec<PathBuf> = trees.take(MAX_REFLOGS).map(|tree| tree.path().join("logs/HEAD")).collect();
        logs.push(common.join("logs/HEAD"));
        let mut directories = vec![common.join("logs/refs/heads")];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                match entry.file_type() {
                    _ if logs.len() >= MAX_REFLOGS => return logs,
                    Ok(kind) if kind.is_dir() => directories.push(entry.path()),
                    Ok(kind) if kind.is_file() => logs.push(entry.path()),
                    _ => {}
                }
            }
        }
        logs
    }
}

/// Returns the complete lines in the last [`MAX_REFLOG_BYTES`] of a reflog.
fn newest_lines(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let length = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
    let start = length.saturating_sub(MAX_REFLOG_BYTES);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_REFLOG_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if start == 0 { Some(text) } else { Some(text.split_once('\n')?.1.to_owned()) }
}

/// Returns the time of a line, in seconds since 1970.
fn line_time(line: &str) -> Option<u64> {
    let header = line.split_once('\t').map_or(line, |(header, _)| header);
    let (_, time) = header.rsplit_once("> ")?;
    time.split(' ').next()?.parse().ok()
}

/// Returns the id of the commit whose creation this line of a reflog records; `None` if the line records a move of
/// `HEAD` to an existing commit.
fn commit_made_by(line: &str) -> Option<String> {
    let (ids, message) = line.split_once('\t').unwrap_or((line, ""));
    let new_id = ids.split(' ').nth(1).and_then(parse_object_id)?;
    let (action, detail) = message.split_once(':').unwrap_or((message, ""));
    let only_moves_head = HEAD_MOVES.iter().any(|name| action.split(' ').next() == Some(name))
        || ["(start)", "(finish)", "(abort)"].iter().any(|step| action.ends_with(step))
        || detail.trim_start().to_ascii_lowercase().starts_with("fast-forward");
    (!only_moves_head).then_some(new_id)
}

#[cfg(test)]
mod tests {
    use super::{commit_made_by, line_time};

    #[test]
    fn moves_of_head_are_not_commits() {
        let zero = "0".repeat(40);
        let new = "a".repeat(40);
        let is_made = |message: &str| commit_made_by(&format!("{zero} {new} Me <me@x> 1 +0000\t{message}")).is_some();
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

    #[test]
    fn the_time_of_a_line_is_parsed() {
        let ids = format!("{} {}", "0".repeat(40), "a".repeat(40));
        assert_eq!(line_time(&format!("{ids} Me <me@x> 1700000000 +0000\tcommit: x> 1 y")), Some(1_700_000_000));
        assert_eq!(line_time(&format!("{ids} A > B <me@x> 12 -0500")), Some(12));
        assert_eq!(line_time("no line of a reflog"), None);
    }
}
