//! The queue: demands of file rules and their answers, in one small file per demand.
//!
//! The name of an entry is a digest of its rule, files and baseline, so a lookup is fast, no matter how many entries
//! there are. The whole queue may be deleted at any time: unmet demands are then made again.
//!
//! A repository could contain such files, with every demand answered in advance. So for each entry that it wrote, and
//! for each file for which an answer was given, Linchpin stores a mark in the user's state directory. The marks are
//! under a random name, which the project's directory gets once.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::Environment;
use crate::project::{Project, TmpLayout, can_create_files};

/// The maximum file size in bytes, enough for a thousand files with long names.
const MAX_SIZE: u64 = 64 * 1024 * 1024;

/// The queue of one project.
#[derive(Debug)]
pub struct Queue {
    layout: TmpLayout,
    /// Directories with the marks of entries that Linchpin wrote. In each, the marks of this project are in a
    /// subdirectory with the project's random name. Marks are written to the first directory and looked up in all.
    marks: Vec<PathBuf>,
    problems: Mutex<Vec<String>>,
    /// True if nothing may be written or removed.
    is_dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueStatus {
    /// The demand is open.
    Queued,
    /// The demand was promised, acknowledged, or met by a command.
    Passed,
    /// The demand was given up after the maximum number of holds, or its command failed.
    Failed,
    /// The demand no longer exists: the rule is met, or the changes are gone.
    Skipped,
}

impl QueueStatus {
    /// In order of precedence. An entry has several files if the process was killed while it wrote an answer.
    pub const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::Skipped, Self::Queued];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// True if the demand was not answered. A demand that one session gave up, or whose command failed, may become
    /// queued again.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Failed)
    }

    /// True if an old entry may be deleted. Then a demand that is still unmet is made again.
    pub const fn may_be_deleted(self) -> bool {
        !matches!(self, Self::Queued)
    }

    /// The end of the entry's file name.
    pub fn ending(self) -> String {
        format!(".{}.json", self.name())
    }
}

/// Serialized field names must not change: other programs may read these files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueEntry {
    pub rule_name: String,
    pub trigger_hash: String,
    pub status: QueueStatus,
    pub created_at: String,
    pub evaluated_at: Option<String>,
    pub baseline_ref: String,
    pub trigger_files: Vec<String>,
    pub expected_files: Vec<String>,
    pub matched_files: Vec<String>,
    pub action_result: Option<ActionResult>,
    /// The session that got the demand first.
    pub session: String,
    /// The number of times that the demand was made, in all sessions together.
    pub shown: u32,
    /// How often each session got the demand.
    #[serde(default)]
    pub asked: BTreeMap<String, TimesAsked>,
    /// A digest of the trigger files' contents.
    pub content: String,
}

/// How often a session got a demand without changing anything about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimesAsked {
    pub times: u32,
    /// A digest of the trigger files and the missing files at the last demand.
    pub state: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionResult {
    /// `prompt` or `command`.
    #[serde(rename = "type")]
    pub kind: String,
    pub command: Option<String>,
    pub exit_code: Option<i32>,
    /// A message for people.
    pub output: Option<String>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    /// A digest of all uncommitted files when a command ended.
    #[serde(default, rename = "tree", skip_serializing_if = "Option::is_none")]
    pub tree_digest: Option<String>,
}

/// The baseline of changes, as named in demands and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineName {
    pub name: String,
    /// Another baseline for which answers count too.
    pub also: Option<String>,
}

impl From<String> for BaselineName {
    fn from(name: String) -> Self {
        Self { name, also: None }
    }
}

impl BaselineName {
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.also.as_deref())
    }
}

/// The result of reading an entry.
enum StoredEntry {
    Entry(Box<QueueEntry>),
    Nothing,
    /// The file could not be used and was removed; a dry run leaves it in place.
    Damaged,
}

/// Twelve hexadecimal digits that identify a demand by its rule, files and baseline. Each part is preceded by its
/// length, so that no two demands have the same bytes.
pub fn trigger_hash<'f>(rule: &str, files: impl IntoIterator<Item = &'f str>, baseline: &str) -> String {
    let mut files: Vec<&str> = files.into_iter().collect();
    files.sort_unstable();
    let count = files.len().to_string();
    let parts = [rule, baseline, &count].into_iter().chain(files);
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    let mut hash = policy::digest(&bytes);
    hash.truncate(12);
    hash
}

/// The directory of answers among the marks of a project.
pub const ANSWERS_FOLDER: &str = "settled";

/// The directory with the marks of a project's entries in the project's part of the user's state directory.
pub fn marks_folder(project_state: &Path) -> PathBuf {
    project_state.join("demands")
}

impl Queue {
    pub fn of(project: &Project, environment: &Environment) -> Self {
        Self::new(&project.tmp(environment), &environment.project_state(&project.root))
    }

    /// `tmp` is the project's `tmp` directory, `state` the project's directory in the user's state directory.
    fn new(tmp: &Path, state: &Path) -> Self {
        let (layout, state) = (TmpLayout::of(tmp), marks_folder(state));
        // If the state directory is not writable, the marks are stored where a repository could forge them. This is
        // better than no file rules at all.
        let marks = if can_create_files(&state) { vec![state] } else { vec![layout.marks(), state] };
        Self { layout, marks, problems: Mutex::default(), is_dry_run: false }
    }

    /// Returns a queue that writes nothing if this is a dry run.
    #[must_use]
    pub fn for_dry_run(self, is_dry_run: bool) -> Self {
        Self { is_dry_run, ..self }
    }

    /// The random name of the project's directory; `None` if nothing was written yet.
    fn project_name(&self) -> Option<String> {
        let name = String::from_utf8(read_regular_file(&self.layout.name_file(), MAX_SIZE).ok()?).ok()?;
        let is_name = name.len() == 24 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name.then_some(name)
    }

    /// Like [`Self::project_name`], but creates a name if there is none.
    fn project_name_or_new(&self) -> io::Result<String> {
        if let Some(name) = self.project_name() {
            return Ok(name);
        }
        // The name is no secret: knowing it is useless without access to the state directory.
        let random_bytes = || RandomState::new().build_hasher().finish().to_le_bytes();
        let name = policy::digest([random_bytes(), random_bytes()].concat());
        let file = self.layout.name_file();
        // Concurrent sessions must agree on one name. A file that contains no valid name is overwritten.
        if !policy::write_new_private_file(&file, &name).map_err(|error| write_error(&file, &error))? {
            if let Some(name) = self.project_name() {
                return Ok(name);
            }
            write(&file, &name)?;
        }
        Ok(name)
    }

    /// The directories in which marks of this project are looked up.
    fn mark_folders(&self) -> Vec<PathBuf> {
        let name = self.project_name();
        name.map(|name| self.marks.iter().map(|marks| marks.join(&name)).collect()).unwrap_or_default()
    }

    /// The directory to which the marks of this project are written.
    fn mark_folder_or_new(&self) -> io::Result<PathBuf> {
        let name = self.project_name_or_new()?;
        Ok(self.marks.iter().map(|marks| marks.join(&name)).next().unwrap_or_default())
    }

    /// Returns the entry of a demand. If its file cannot be read, adds a notice and treats the entry as missing.
    pub fn find_or_discard(&self, rule: &str, hash: &str) -> Option<QueueEntry> {
        QueueStatus::ALL.into_iter().find_map(|status| match self.read(rule, hash, status) {
            StoredEntry::Entry(entry) => Some(*entry),
            StoredEntry::Nothing | StoredEntry::Damaged => None,
        })
    }

    /// True if the answer's file cannot be used. Then a notice is added.
    pub fn discard_damaged_answer(&self, rule: &str, hash: &str) -> bool {
        matches!(self.read(rule, hash, QueueStatus::Passed), StoredEntry::Damaged)
    }

    fn read(&self, rule: &str, hash: &str, status: QueueStatus) -> StoredEntry {
        let path = self.path(hash, status);
        let why = match read_regular_file(&path, MAX_SIZE) {
            // A missing directory is reported when something is written.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return StoredEntry::Nothing;
            }
            Err(error) => read_error_text(&error),
            Ok(bytes) => match serde_json::from_slice::<QueueEntry>(&bytes) {
                Ok(_) if !self.mark_folders().iter().any(|folder| folder.join(hash).exists()) => {
                    "it was not written here".to_owned()
                }
                Ok(entry) if entry.trigger_hash == hash && entry.status == status => {
                    return StoredEntry::Entry(Box::new(entry));
                }
                Ok(_) => "its content does not match its name".to_owned(),
                Err(error) => json_error_text(&error).to_owned(),
            },
        };
        self.discard(rule, &path, &why);
        StoredEntry::Damaged
    }

    /// Writes the entry atomically and removes files of its other statuses.
    pub fn put(&self, entry: &QueueEntry) -> io::Result<()> {
        if self.is_dry_run {
            return Ok(());
        }
        let bytes = serde_json::to_vec_pretty(entry).map_err(io::Error::other)?;
        write(&self.mark_folder_or_new()?.join(&entry.trigger_hash), "")?;
        write(&self.path(&entry.trigger_hash, entry.status), bytes)?;
        for status in QueueStatus::ALL.into_iter().filter(|status| *status != entry.status) {
            let path = self.path(&entry.trigger_hash, status);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(write_error(&path, &error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The fingerprints of a file, one for each answer to the rule that was given for the file.
    pub fn answer_fingerprints(&self, rule: &str, file: &str, baseline_name: &BaselineName) -> Vec<String> {
        let folders = self.mark_folders();
        let marks = folders
            .iter()
            .flat_map(|folder| baseline_name.names().map(|baseline| answer_mark(folder, rule, file, baseline)));
        marks.filter_map(|mark| fs::read_to_string(mark).ok()).collect()
    }

    pub fn record_answer(&self, rule: &str, file: &str, baseline_name: &BaselineName, content: &str) -> io::Result<()> {
        if self.is_dry_run {
            return Ok(());
        }
        let folder = self.mark_folder_or_new()?;
        let mut marks = baseline_name.names().map(|baseline| answer_mark(&folder, rule, file, baseline));
        marks.try_for_each(|mark| write(&mark, content))
    }

    /// Removes the answers to a rule that were given for these files.
    pub fn remove_answers<'f>(&self, rule: &str, files: impl Iterator<Item = &'f str>, baseline_name: &BaselineName) {
        if self.is_dry_run {
            return;
        }
        let folders = self.mark_folders();
        for file in files {
            for (folder, baseline) in
                folders.iter().flat_map(|folder| baseline_name.names().map(move |baseline| (folder, baseline)))
            {
                // The file may not exist.
                let _ = fs::remove_file(answer_mark(folder, rule, file, baseline));
            }
        }
    }

    /// Returns the error messages since the last call.
    pub fn take_problems(&self) -> Vec<String> {
        self.problems.lock().map(|mut problems| std::mem::take(&mut *problems)).unwrap_or_default()
    }

    fn path(&self, hash: &str, status: QueueStatus) -> PathBuf {
        self.layout.queue().join(format!("{hash}{}", status.ending()))
    }

    /// Removes an entry and reports it. A dry run leaves the entry in place, so that the next hook removes it and
    /// records that.
    fn discard(&self, rule: &str, path: &Path, why: &str) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let outcome = if self.is_dry_run { LEFT_FOR_HOOKS } else { remove(path) };
        let problem = format!("the queue entry `{name}` of rule `{rule}` cannot be used: {why}. {outcome}");
        if let Ok(mut problems) = self.problems.lock()
            && !problems.contains(&problem)
        {
            problems.push(problem);
        }
    }

    /// Removes unreadable entries and returns messages. A judgement only finds those that a rule still looks up.
    pub fn remove_unreadable(&self) -> Vec<String> {
        let mut notices = Vec::new();
        for entry in fs::read_dir(self.layout.queue()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Files that Linchpin did not write are kept.
            if !QueueStatus::ALL.into_iter().any(|status| name.ends_with(&status.ending())) {
                continue;
            }
            let why = match read_regular_file(&entry.path(), MAX_SIZE)
                .map(|bytes| serde_json::from_slice::<QueueEntry>(&bytes))
            {
                Ok(Ok(_)) => continue,
                Ok(Err(error)) => json_error_text(&error).to_owned(),
                Err(error) => read_error_text(&error),
            };
            notices.push(format!("the queue entry `{name}` cannot be used: {why}. {}", remove(&entry.path())));
        }
        notices
    }
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    policy::write_private_file(path, bytes).map_err(|error| write_error(path, &error))
}

/// Adds the file's path to the error.
fn write_error(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}` cannot be written: {}", path.display(), error.kind()))
}

/// Removes the file or directory. Returns a sentence about the result.
fn remove(path: &Path) -> &'static str {
    let is_gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.is_ok();
    if is_gone {
        "It was removed; a demand that still holds is made again"
    } else {
        "It cannot be removed: delete it yourself"
    }
}

const LEFT_FOR_HOOKS: &str = "It is ignored, and the next stop removes it";

fn read_error_text(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::Other => error.to_string(),
        kind => format!("it cannot be read ({kind})"),
    }
}

fn json_error_text(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Eof => "it is truncated",
        serde_json::error::Category::Data => "a field is missing or has the wrong type",
        _ => "it is not JSON",
    }
}

/// Reads a regular file of limited size. Reading a pipe could block.
pub fn read_regular_file(path: &Path, max_size: u64) -> io::Result<Vec<u8>> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() || metadata.len() > max_size {
        return Err(io::Error::other("it is not a regular file, or it is too large"));
    }
    fs::read(path)
}

/// The file that marks an answer.
fn answer_mark(folder: &Path, rule: &str, file: &str, baseline: &str) -> PathBuf {
    folder.join(ANSWERS_FOLDER).join(trigger_hash(rule, [file], baseline))
}

#[cfg(test)]
mod tests;
