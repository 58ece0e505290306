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
struct TreeEntry {
    mode: String,
    id: String,
}

/// The contents and modes of all files, by path, except for those that git ignores and those that Linchpin writes.
#[derive(Debug, PartialEq, Eq)]
pub struct TreeContents(BTreeMap<String, TreeEntry>);

impl TreeContents {
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        for (path, TreeEntry { mode, id }) in &self.0 {
            for part in [path, mode, id] {
                digest.update(part.as_bytes());
                digest.update([0]);
            }
        }
        HEXLOWER.encode(digest.finalize().as_slice())
    }

    /// Returns the files that were added, deleted or changed between these contents and later ones, sorted.
    pub fn changed_files(&self, later: &Self) -> Vec<String> {
        let deleted = self.0.keys().filter(|path| !later.0.contains_key(*path));
        let added_or_changed =
            later.0.iter().filter(|(path, entry)| self.0.get(*path) != Some(entry)).map(|(path, _)| path);
        let mut paths: Vec<String> = deleted.chain(added_or_changed).cloned().collect();
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
        let mut entries = self.entries_of_commit(&commit)?;
        let lines = self.diff_with_working_tree(&commit)?;
        // Files that Linchpin writes are not read, because the journal among them can be large.
        let is_included = |path: &str, status: Status| status != Status::Deleted && !self.is_written_by_linchpin(path);
        let included: Vec<&str> =
            lines.iter().filter(|(path, line)| is_included(path, line.status)).map(|(path, _)| path.as_str()).collect();
        let regular: Vec<&str> =
            included.iter().copied().filter(|path| is_regular_file(&self.root().join(path))).collect();
        let mut ids = self.blob_ids(&regular);
        for (path, _) in lines.iter().filter(|(_, line)| line.status == Status::Deleted) {
            entries.remove(path);
        }
        for path in included {
            let candidates = matching_files(self.root(), path);
            let mode = candidates.first().map_or("", |file| git_mode(file));
            let id = ids.remove(path).unwrap_or_else(|| candidates.iter().map(|file| id_of_non_file(file)).collect());
            entries.insert(path.to_owned(), TreeEntry { mode: mode.to_owned(), id });
        }
        entries.retain(|path, _| !self.is_written_by_linchpin(path));
        Ok(TreeContents(entries))
    }

    /// Returns the files of a commit.
    fn entries_of_commit(&self, commit: &str) -> Result<BTreeMap<String, TreeEntry>, GitError> {
        let output = self.git().output(&["ls-tree", "-r", "-z", "--end-of-options", commit])?;
        let lines = output.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let entry = |line: &str| {
            let (header, path) = line.split_once('\t')?;
            let mut fields = header.split(' ');
            let (mode, id) = (fields.next()?.to_owned(), fields.nth(1)?.to_owned());
            Some((path.to_owned(), TreeEntry { mode, id }))
        };
        Ok(lines.filter_map(|line| entry(&line)).collect())
    }
}

/// Returns the files to which a path in git's output can refer. Git's output was converted to UTF-8 lossily, so several
/// files can match.
fn matching_files(root: &Path, path: &str) -> Vec<PathBuf> {
    let mut candidates = vec![root.to_owned()];
    for part in path.split('/') {
        if part.contains(char::REPLACEMENT_CHARACTER) {
            let entries =
                candidates.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten().filter_map(Result::ok);
            let matching = entries.filter(|entry| entry.file_name().to_string_lossy() == part);
            candidates = matching.map(|entry| entry.path()).collect();
            candidates.sort();
        } else {
            for candidate in &mut candidates {
                candidate.push(part);
            }
        }
    }
    candidates
}

fn is_regular_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Returns an id for a path that is not a regular file, or that git could not read. A directory at such a path is a
/// nested repository.
fn id_of_non_file(path: &Path) -> String {
    let nested = path.join(".git").exists().then(|| Repository::of(path)).flatten();
    nested.and_then(|nested| nested.head()).unwrap_or_else(|| fingerprint(path))
}

/// Returns the mode in git's notation.
fn git_mode(path: &Path) -> &'static str {
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
