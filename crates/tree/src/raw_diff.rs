//! Parses the raw output of `git diff`, and derives the changes from it.

use std::collections::{BTreeMap, BTreeSet};

use engine::file_rules::{Change, Changes, Status};

/// One file of a raw diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub old_mode: String,
    pub new_mode: String,
    pub old_id: String,
    /// The id of the new content. It consists of zeros or is empty if git has not hashed the file.
    pub new_id: String,
    pub status: Status,
}

impl DiffLine {
    /// True if possibly only the file's permissions differ.
    pub fn may_differ_only_in_mode(&self) -> bool {
        let is_regular = |mode: &str| mode.starts_with("100");
        self.status == Status::Modified
            && self.old_mode != self.new_mode
            && is_regular(&self.old_mode)
            && is_regular(&self.new_mode)
    }

    /// False if a regular file became a symlink or the reverse, which is a change even with the same content.
    fn has_same_file_type(&self) -> bool {
        self.old_mode.get(..3) == self.new_mode.get(..3)
    }

    pub fn is_regular_file(&self) -> bool {
        self.new_mode.starts_with("100")
    }

    pub fn was_regular_file(&self) -> bool {
        self.old_mode.starts_with("100")
    }
}

/// Parses the output of `git diff --raw -z --no-renames`. Returns the lines by path. Paths that are not UTF-8 are
/// converted lossily.
pub fn parse_lines(output: &[u8]) -> BTreeMap<String, DiffLine> {
    let mut lines = BTreeMap::new();
    let mut parts = output.split(|byte| *byte == 0);
    while let (Some(header), Some(path)) = (parts.next(), parts.next()) {
        let header = String::from_utf8_lossy(header);
        let mut fields = header.trim_start_matches(':').split(' ').map(str::to_owned);
        let (Some(old_mode), Some(new_mode), Some(old_id), Some(new_id), Some(status)) =
            (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let status = match status.chars().next() {
            Some('A') => Status::Added,
            Some('D') => Status::Deleted,
            _ => Status::Modified,
        };
        let path = String::from_utf8_lossy(path).into_owned();
        // A file in conflict has two lines. It does not matter which one is kept, because both report a change.
        lines.insert(path, DiffLine { old_mode, new_mode, old_id, new_id, status });
    }
    lines
}

/// Parses the output of `git cat-file --batch='%(objectname) %(objectsize)'`. Returns the contents by id.
pub fn parse_blobs(mut output: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut blobs = BTreeMap::new();
    while let Some(end) = output.iter().position(|byte| *byte == b'\n') {
        let (header, rest) = output.split_at(end);
        let header = String::from_utf8_lossy(header);
        let size = header.split_once(' ').and_then(|(id, size)| Some((id, size.parse::<usize>().ok()?)));
        let Some((id, size)) = size else { break };
        let Some(content) = rest.get(1..=size) else { break };
        blobs.insert(id.to_owned(), content.to_vec());
        // A newline follows each object.
        output = rest.get(size + 2..).unwrap_or_default();
    }
    blobs
}

/// Parses a list of paths separated by NUL.
pub fn parse_paths(output: &[u8]) -> impl Iterator<Item = String> {
    let parts = output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    // A nested repository is listed as a directory, and is skipped.
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).filter(|path| !path.ends_with('/'))
}

/// The id of an empty file, in SHA-1 and in SHA-256 repositories. Empty files are not considered to be renamed, because
/// all of them have the same content.
pub const EMPTY_BLOB_IDS: &[&str] =
    &["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"];

/// Returns the blob ids of deleted files that were not empty.
pub fn deleted_ids(lines: &BTreeMap<String, DiffLine>) -> BTreeSet<String> {
    let deleted = lines.values().filter(|line| line.status == Status::Deleted);
    deleted.map(|line| line.old_id.clone()).filter(|id| !EMPTY_BLOB_IDS.contains(&id.as_str())).collect()
}

/// Derives the net changes from a diff. `blob_ids`: the ids of the files that git has not hashed. `renamed_with_edits`:
/// the new paths of the files that were renamed and edited.
pub fn net_changes(
    lines: BTreeMap<String, DiffLine>,
    blob_ids: &BTreeMap<String, String>,
    renamed_with_edits: &BTreeSet<String>,
) -> Changes {
    let id = |path: &str, line: &DiffLine| blob_ids.get(path).unwrap_or(&line.new_id).clone();
    let deleted = deleted_ids(&lines);
    let changes = lines.into_iter().filter_map(|(path, line)| {
        let id = id(&path, &line);
        if line.status == Status::Modified && id == line.old_id && line.has_same_file_type() {
            return None;
        }
        // A new file with the same content as a deleted file counts as renamed.
        let is_renamed = line.status == Status::Added && (deleted.contains(&id) || renamed_with_edits.contains(&path));
        let status = if is_renamed { Status::Modified } else { line.status };
        Some(Change { status, path })
    });
    changes.collect()
}
