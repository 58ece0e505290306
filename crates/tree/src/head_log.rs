//! The commits that were made in this repository since a moment, by git's reflogs.
//!
//! A fetched commit reaches `HEAD` by a checkout, a reset or a fast-forward. Every other line of the reflog is a commit that
//! was made here. Lines are only ever added at the end, so the length of the reflog of `HEAD` marks a moment. Work that was
//! committed in another working tree of the repository and then merged stands in the reflogs of that tree and of its branch;
//! there the time of a line says whether it is new.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::repository::{Repository, id};

/// The longest part of a reflog that is read, in bytes: some ten thousand lines.
const LIMIT: u64 = 2 * 1024 * 1024;
/// The largest number of reflogs of branches and of other working trees that are looked at.
const MOST_LOGS: usize = 10_000;

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
        let now = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
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

    /// The ids of the commits that were made on branches and in other working trees. `since`: milliseconds since 1970.
    pub fn made_elsewhere_since(&self, since: i64) -> BTreeSet<String> {
        let seconds = u64::try_from(since / 1000).unwrap_or_default();
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let is_new = |log: &&PathBuf| log.metadata().and_then(|log| log.modified()).is_ok_and(|time| time >= moment);
        let mut made = BTreeSet::new();
        for log in self.other_logs().iter().filter(is_new) {
            let text = newest_lines(log).unwrap_or_default();
            let lines = text.lines().filter(|line| written_at(line).is_some_and(|time| time >= seconds));
            made.extend(lines.filter_map(made_by));
        }
        made
    }

    /// The reflogs of branches, and of `HEAD` in all working trees.
    fn other_logs(&self) -> Vec<PathBuf> {
        let common = self.common_dir();
        let trees = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        let mut logs: Vec<PathBuf> = trees.take(MOST_LOGS).map(|tree| tree.path().join("logs/HEAD")).collect();
        logs.push(common.join("logs/HEAD"));
        let mut folders = vec![common.join("logs/refs/heads")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    _ if logs.len() >= MOST_LOGS => return logs,
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => logs.push(entry.path()),
                    _ => {}
                }
            }
        }
        logs
    }
}

/// The end of a reflog, from the beginning of a line.
fn newest_lines(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let length = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
    let start = length.saturating_sub(LIMIT);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(LIMIT).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if start == 0 { Some(text) } else { Some(text.split_once('\n')?.1.to_owned()) }
}

/// When a line of a reflog was written, in seconds since 1970.
fn written_at(line: &str) -> Option<u64> {
    let before = line.split_once('\t').map_or(line, |(before, _)| before);
    let (_, time) = before.rsplit_once("> ")?;
    time.split(' ').next()?.parse().ok()
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
    use super::{made_by, written_at};

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

    #[test]
    fn the_time_of_a_line() {
        let ids = format!("{} {}", "0".repeat(40), "a".repeat(40));
        assert_eq!(written_at(&format!("{ids} Me <me@x> 1700000000 +0000\tcommit: x> 1 y")), Some(1_700_000_000));
        assert_eq!(written_at(&format!("{ids} A > B <me@x> 12 -0500")), Some(12));
        assert_eq!(written_at("nothing of the kind"), None);
    }
}
