//! The raw lines of `git diff`, and what they come to.

use std::collections::{BTreeMap, BTreeSet};

use engine::file_rules::{Change, Changes, Status};

/// One file of a raw difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub old_mode: String,
    pub new_mode: String,
    pub old_id: String,
    /// Zeros where git has not read the file.
    pub new_id: String,
    pub status: Status,
}

impl Line {
    /// Whether only the file's permissions could differ.
    pub fn may_be_mode_only(&self) -> bool {
        let is_plain = |mode: &str| mode.starts_with("100");
        self.status == Status::Modified
            && self.old_mode != self.new_mode
            && is_plain(&self.old_mode)
            && is_plain(&self.new_mode)
    }

    /// Whether it was and is a file, or a link: one with the same content as the other is not the same.
    fn is_of_one_kind(&self) -> bool {
        self.old_mode.get(..3) == self.new_mode.get(..3)
    }

    pub fn is_file(&self) -> bool {
        self.new_mode.starts_with("100")
    }

    pub fn was_file(&self) -> bool {
        self.old_mode.starts_with("100")
    }
}

/// What `git diff --raw -z --no-renames` prints, by path. Paths that are no text are written as well as they can be.
pub fn lines(output: &[u8]) -> BTreeMap<String, Line> {
    let mut lines = BTreeMap::new();
    let mut parts = output.split(|byte| *byte == 0);
    while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
        let head = String::from_utf8_lossy(head);
        let mut fields = head.trim_start_matches(':').split(' ').map(str::to_owned);
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
        // A file in conflict has two lines; either says that it changed.
        lines.insert(path, Line { old_mode, new_mode, old_id, new_id, status });
    }
    lines
}

/// What `git cat-file --batch='%(objectname) %(objectsize)'` prints, by id.
pub fn blobs(mut output: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut blobs = BTreeMap::new();
    while let Some(end) = output.iter().position(|byte| *byte == b'\n') {
        let (head, rest) = output.split_at(end);
        let head = String::from_utf8_lossy(head);
        let size = head.split_once(' ').and_then(|(id, size)| Some((id, size.parse::<usize>().ok()?)));
        let Some((id, size)) = size else { break };
        let Some(content) = rest.get(1..=size) else { break };
        blobs.insert(id.to_owned(), content.to_vec());
        // Behind each stands a line end.
        output = rest.get(size + 2..).unwrap_or_default();
    }
    blobs
}

/// The paths of a list that is separated by zeros.
pub fn paths(output: &[u8]) -> impl Iterator<Item = String> {
    let parts = output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    // A folder that is a repository of its own is listed as a folder, and is nobody's file here.
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).filter(|path| !path.ends_with('/'))
}

/// What git calls a file with nothing in it, in either of its ways. That two files are empty makes neither the other.
pub const EMPTY: &[&str] =
    &["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"];

/// The content of files that are gone and that had any.
pub fn deleted_ids(lines: &BTreeMap<String, Line>) -> BTreeSet<String> {
    let deleted = lines.values().filter(|line| line.status == Status::Deleted);
    deleted.map(|line| line.old_id.clone()).filter(|id| !EMPTY.contains(&id.as_str())).collect()
}

/// What a person would call the changes. `id_of` says what is in files that git has not read, `moved` which of the new files
/// are old ones under another name and with other content.
pub fn changes(lines: BTreeMap<String, Line>, id_of: &BTreeMap<String, String>, moved: &BTreeSet<String>) -> Changes {
    let id = |path: &str, line: &Line| id_of.get(path).unwrap_or(&line.new_id).clone();
    let deleted = deleted_ids(&lines);
    let changes = lines.into_iter().filter_map(|(path, line)| {
        let id = id(&path, &line);
        if line.status == Status::Modified && id == line.old_id && line.is_of_one_kind() {
            return None;
        }
        // What is gone elsewhere with the same content was moved here.
        let is_moved = line.status == Status::Added && (deleted.contains(&id) || moved.contains(&path));
        let status = if is_moved { Status::Modified } else { line.status };
        Some(Change { status, path })
    });
    changes.collect()
}
