//! The contents of a whole working tree. Their digest does not change with a commit, and changes with every edit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use engine::file_rules::Status;
use sha2::{Digest, Sha256};

use crate::fingerprint::fingerprint;
use crate::git::GitError;
use crate::repository::Repository;
use crate::tree::Tree;

/// The state of one file as git would commit it.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    mode: String,
    id: String,
}

/// All files that are not ignored, by path, each with its content and mode.
#[derive(Debug, PartialEq, Eq)]
pub struct TreeContents(BTreeMap<String, Entry>);

impl TreeContents {
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        for (path, Entry { mode, id }) in &self.0 {
            for part in [path, mode, id] {
                digest.update(part.as_bytes());
                digest.update([0]);
            }
        }
        HEXLOWER.encode(digest.finalize().as_slice())
    }

    /// Returns the files that were added, deleted or changed between these contents and later ones, sorted.
    pub fn changed(&self, later: &Self) -> Vec<String> {
        let gone = self.0.keys().filter(|path| !later.0.contains_key(*path));
        let other = later.0.iter().filter(|(path, entry)| self.0.get(*path) != Some(entry)).map(|(path, _)| path);
        let mut paths: Vec<String> = gone.chain(other).cloned().collect();
        paths.sort();
        paths
    }
}

impl Tree {
    pub fn digest(&self) -> Result<String, GitError> {
        self.contents().map(|contents| contents.digest())
    }

    pub fn contents(&self) -> Result<TreeContents, GitError> {
        let commit = match self.head() {
            Some(head) => head,
            None => self.empty_tree()?.id,
        };
        let mut entries = self.entries(&commit)?;
        let lines = self.diff_with_working_tree(&commit)?;
        // Files that Linchpin writes are not read: the journal grows without limit.
        let is_there = |path: &str, status: Status| status != Status::Deleted && self.is_not_written_by_linchpin(path);
        let there: Vec<&str> =
            lines.iter().filter(|(path, line)| is_there(path, line.status)).map(|(path, _)| path.as_str()).collect();
        let plain: Vec<&str> = there.iter().copied().filter(|path| is_plain(&self.root().join(path))).collect();
        let mut ids = self.blob_ids(&plain);
        for (path, _) in lines.iter().filter(|(_, line)| line.status == Status::Deleted) {
            entries.remove(path);
        }
        for path in there {
            let places = matching_files(self.root(), path);
            let mode = places.first().map_or("", |place| mode(place));
            let id = ids.remove(path).unwrap_or_else(|| places.iter().map(|place| id_of_non_file(place)).collect());
            entries.insert(path.to_owned(), Entry { mode: mode.to_owned(), id });
        }
        entries.retain(|path, _| self.is_not_written_by_linchpin(path));
        Ok(TreeContents(entries))
    }

    /// Returns the files of a commit.
    fn entries(&self, commit: &str) -> Result<BTreeMap<String, Entry>, GitError> {
        let output = self.git().output(&["ls-tree", "-r", "-z", "--end-of-options", commit])?;
        let lines = output.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let entry = |line: &str| {
            let (head, path) = line.split_once('\t')?;
            let mut fields = head.split(' ');
            let (mode, id) = (fields.next()?.to_owned(), fields.nth(1)?.to_owned());
            Some((path.to_owned(), Entry { mode, id }))
        };
        Ok(lines.filter_map(|line| entry(&line)).collect())
    }
}

/// Returns the files that a path in git's output may mean. Names that are not UTF-8 are converted lossily, so several
/// files may match; then all of them are returned.
fn matching_files(root: &Path, path: &str) -> Vec<PathBuf> {
    let mut places = vec![root.to_owned()];
    for part in path.split('/') {
        if part.contains(char::REPLACEMENT_CHARACTER) {
            let entries = places.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().filter_map(Result::ok);
            let alike = entries.filter(|entry| entry.file_name().to_string_lossy() == part);
            places = alike.map(|entry| entry.path()).collect();
            places.sort();
        } else {
            for place in &mut places {
                place.push(part);
            }
        }
    }
    places
}

fn is_plain(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Returns an id for a path that is not a regular file, or was no longer one when git read it. A directory at such a
/// path is a nested repository.
fn id_of_non_file(path: &Path) -> String {
    let inner = path.join(".git").exists().then(|| Repository::of(path)).flatten();
    inner.and_then(|inner| inner.head()).unwrap_or_else(|| fingerprint(path))
}

/// Returns the mode in git's notation.
fn mode(path: &Path) -> &'static str {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => "120000",
        Ok(metadata) if metadata.is_dir() => "160000",
        Ok(metadata) if is_executable(&metadata) => "100755",
        _ => "100644",
    }
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}
