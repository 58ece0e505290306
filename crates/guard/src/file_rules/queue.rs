//! The queue: the demands of file rules and their answers, with one small file for each demand.
//!
//! The name of a file begins with a digest of the demand's rule, trigger files and baseline, so a lookup takes the same
//! time, no matter how many demands there are. The whole queue may be deleted at any time: demands that are still
//! unmet are then made again.
//!
//! A repository could contain such files, with every demand answered in advance. So Linchpin stores marks in the user's
//! state directory: one for each entry that it wrote, and one for each file for which an answer was given. The marks of
//! a project are in a directory with a random name, which is chosen once and stored in the project's `tmp` directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::baseline_id::BaselineId;
use crate::Environment;
use crate::project::{Project, TmpLayout, can_create_files};
use crate::regular_file::read_regular_file;

/// The maximum size of an entry's file in bytes. It is enough for very many trigger files with long names.
const MAX_SIZE: u64 = 64 * 1024 * 1024;

/// The queue of one project.
#[derive(Debug)]
pub struct Queue {
    layout: TmpLayout,
    /// Directories with marks. In each of them, the marks of this project are in a subdirectory with the project's
    /// random name. Marks are written to the first directory and looked up in all of them.
    marks: Vec<PathBuf>,
    problems: Mutex<Vec<String>>,
    /// True if nothing may be written or removed.
    is_dry_run: bool,
    /// The project's random name as it was first read from its file; `None` if the file had no valid name.
    stored_name: OnceLock<Option<String>>,
    /// The project's random name that was created because `stored_name` was `None`.
    new_name: OnceLock<String>,
    /// The paths of all marks of answers; `None` until they are listed.
    answer_marks: Mutex<Option<BTreeSet<PathBuf>>>,
}

/// The status of a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueStatus {
    /// The demand waits for an answer.
    Queued,
    /// The demand was answered: by a promise, an acknowledgement, or a command that passed.
    Passed,
    /// The demand was given up after the maximum number of holds, or its command failed. It is still unanswered.
    Failed,
    /// The demand is no longer made: the rule is met, or the changes are gone.
    Skipped,
}

impl QueueStatus {
    /// All statuses, the one with the highest precedence first. If a process was killed while it wrote an answer, one
    /// demand may have files with several statuses.
    pub const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::Skipped, Self::Queued];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// True if the demand was not answered. A failed demand may become queued again.
    pub const fn is_unanswered(self) -> bool {
        matches!(self, Self::Queued | Self::Failed)
    }

    /// True if an old entry may be deleted. If its demand is still unmet, the demand is then made again.
    pub const fn may_be_deleted(self) -> bool {
        !matches!(self, Self::Queued)
    }

    /// The end of the entry's file name.
    pub fn ending(self) -> String {
        format!(".{}.json", self.name())
    }
}

/// A demand in the queue. The names of serialized fields must not change, because other programs may read these files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueEntry {
    pub rule_name: String,
    /// The result of [`demand_hash`].
    #[serde(rename = "trigger_hash")]
    pub demand_hash: String,
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
    /// How often the demand was shown to agents, in all sessions together. In the journal, the fact `shown` counts only
    /// one session.
    pub shown: u32,
    /// How often each session was asked, by session. The stops of a subagent are counted separately.
    #[serde(default)]
    pub asked: BTreeMap<String, TimesAsked>,
    /// A digest of the contents of the trigger files.
    #[serde(rename = "content")]
    pub content_digest: String,
}

/// How often a session was asked to meet a demand since it last made progress on the demand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimesAsked {
    pub times: u32,
    /// A digest of the trigger files and of the missing files when the session was last asked.
    #[serde(rename = "state")]
    pub progress_digest: String,
}

/// How a demand was answered, or how its command failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionResult {
    /// `prompt` or `command`.
    #[serde(rename = "type")]
    pub kind: String,
    pub command: Option<String>,
    pub exit_code: Option<i32>,
    /// A message about the result, for people.
    #[serde(rename = "output")]
    pub message: Option<String>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    /// A digest of all uncommitted files when the command ended.
    #[serde(default, rename = "tree", skip_serializing_if = "Option::is_none")]
    pub uncommitted_digest: Option<String>,
}

/// The result of reading an entry.
enum StoredEntry {
    Entry(Box<QueueEntry>),
    Nothing,
    /// The file could not be used, and was removed. A dry run leaves the file in place.
    Damaged,
}

/// Twelve hexadecimal digits that identify a demand by its rule, its trigger files and its baseline.
pub fn demand_hash<'f>(rule: &str, files: impl IntoIterator<Item = &'f str>, baseline: &str) -> String {
    let mut files: Vec<&str> = files.into_iter().collect();
    files.sort_unstable();
    let count = files.len().to_string();
    let parts = [rule, baseline, &count].into_iter().chain(files);
    // Each part is preceded by its length, so that no two demands have the same bytes.
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    let mut hash = policy::digest(&bytes);
    hash.truncate(12);
    hash
}

/// The name of the directory with marks of answers, in the directory with a project's marks.
pub const ANSWERS_FOLDER: &str = "settled";

/// The directory for marks in the project's directory in the user's state directory.
pub fn marks_directory(project_state: &Path) -> PathBuf {
    project_state.join("demands")
}

impl Queue {
    pub fn of(project: &Project, environment: &Environment) -> Self {
        Self::new(&project.tmp(environment), &environment.project_state(&project.root))
    }

    /// `tmp` is the project's `tmp` directory, `state` the project's directory in the user's state directory.
    fn new(tmp: &Path, state: &Path) -> Self {
        let (layout, state) = (TmpLayout::of(tmp), marks_directory(state));
        // If the state directory is not writable, the marks are stored in the project, where a repository could forge
        // them. This is better than no file rules at all.
        let marks = if can_create_files(&state) { vec![state] } else { vec![layout.marks(), state] };
        Self {
            layout,
            marks,
            problems: Mutex::default(),
            is_dry_run: false,
            stored_name: OnceLock::new(),
            new_name: OnceLock::new(),
            answer_marks: Mutex::default(),
        }
    }

    /// The same queue. If `is_dry_run` is true, it writes and removes nothing.
    #[must_use]
    pub fn for_dry_run(self, is_dry_run: bool) -> Self {
        Self { is_dry_run, ..self }
    }

    /// The random name of the directory with this project's marks (see the top of this file); `None` if no name was
    /// chosen yet, or if the stored one is invalid.
    fn project_name(&self) -> Option<String> {
        let stored = || self.stored_name.get_or_init(|| self.read_project_name()).clone();
        self.new_name.get().cloned().or_else(stored)
    }

    fn read_project_name(&self) -> Option<String> {
        let name = String::from_utf8(read_regular_file(&self.layout.name_file(), MAX_SIZE).ok()?).ok()?;
        let is_valid = name.len() == 24 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_valid.then_some(name)
    }

    /// Like [`Self::project_name`], but creates a name if there is none.
    fn project_name_or_new(&self) -> io::Result<String> {
        if let Some(name) = self.project_name() {
            return Ok(name);
        }
        let name = self.create_project_name()?;
        Ok(self.new_name.get_or_init(|| name).clone())
    }

    fn create_project_name(&self) -> io::Result<String> {
        // The name need not be secret: whoever knows it still has no access to the state directory.
        let random_bytes = || RandomState::new().build_hasher().finish().to_le_bytes();
        let name = policy::digest([random_bytes(), random_bytes()].concat());
        let file = self.layout.name_file();
        // Concurrent sessions must use the same name, so an existing file is not replaced unless its name is invalid.
        if !policy::write_new_private_file(&file, &name).map_err(|error| write_error(&file, &error))? {
            if let Some(name) = self.read_project_name() {
                return Ok(name);
            }
            write(&file, &name)?;
        }
        Ok(name)
    }

    /// The directories in which marks of this project are looked up.
    fn mark_directories(&self) -> Vec<PathBuf> {
        let name = self.project_name();
        name.map(|name| self.marks.iter().map(|marks| marks.join(&name)).collect()).unwrap_or_default()
    }

    /// The directory to which this project's marks (evidence that Linchpin itself wrote an entry or recorded an answer)
    /// are written.
    fn mark_directory_or_new(&self) -> io::Result<PathBuf> {
        let name = self.project_name_or_new()?;
        Ok(self.marks.iter().map(|marks| marks.join(&name)).next().unwrap_or_default())
    }

    /// The entry of a demand. If its file cannot be used, removes the file, adds a notice, and returns `None`.
    pub fn find_or_discard(&self, rule: &str, hash: &str) -> Option<QueueEntry> {
        QueueStatus::ALL.into_iter().find_map(|status| match self.read(rule, hash, status) {
            StoredEntry::Entry(entry) => Some(*entry),
            StoredEntry::Nothing | StoredEntry::Damaged => None,
        })
    }

    /// Returns true if the file of an answered demand cannot be used. In that case, removes the file and adds a notice.
    pub fn discard_answer_if_damaged(&self, rule: &str, hash: &str) -> bool {
        matches!(self.read(rule, hash, QueueStatus::Passed), StoredEntry::Damaged)
    }

    /// Reads the entry with this status. Discards a file that cannot be used.
    fn read(&self, rule: &str, hash: &str, status: QueueStatus) -> StoredEntry {
        let path = self.path(hash, status);
        let why = match read_regular_file(&path, MAX_SIZE) {
            // If the directory is missing, the problem is reported when an entry is written.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return StoredEntry::Nothing;
            }
            Err(error) => read_error_text(&error),
            Ok(bytes) => match serde_json::from_slice::<QueueEntry>(&bytes) {
                Ok(_) if !self.mark_directories().iter().any(|directory| directory.join(hash).exists()) => {
                    "it was not written here".to_owned()
                }
                Ok(entry) if entry.demand_hash == hash && entry.status == status => {
                    return StoredEntry::Entry(Box::new(entry));
                }
                Ok(_) => "its content does not match its name".to_owned(),
                Err(error) => json_error_text(&error).to_owned(),
            },
        };
        self.discard(rule, &path, &why);
        StoredEntry::Damaged
    }

    /// Writes the entry atomically. Then removes the files in which the same demand has another status.
    pub fn put(&self, entry: &QueueEntry) -> io::Result<()> {
        if self.is_dry_run {
            return Ok(());
        }
        let bytes = serde_json::to_vec_pretty(entry).map_err(io::Error::other)?;
        write_mark(&self.mark_directory_or_new()?.join(&entry.demand_hash))?;
        write(&self.path(&entry.demand_hash, entry.status), bytes)?;
        for status in QueueStatus::ALL.into_iter().filter(|status| *status != entry.status) {
            let path = self.path(&entry.demand_hash, status);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(write_error(&path, &error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The answers to a rule that were given for a file. For each answer, returns the fingerprint that the file had
    /// when the answer was given.
    pub fn answer_fingerprints(&self, rule: &str, file: &str, baseline_id: &BaselineId) -> Vec<String> {
        // Most projects have no answers, and there may be very many pairs of rule and file.
        if self.with_answer_marks(|stored| stored.is_empty()) {
            return Vec::new();
        }
        let directories = self.mark_directories();
        let marks = directories
            .iter()
            .flat_map(|directory| baseline_id.all().map(|baseline| answer_mark(directory, rule, file, baseline)));
        let stored = marks.filter(|mark| self.with_answer_marks(|stored| stored.contains(mark)));
        stored.filter_map(|mark| fs::read_to_string(mark).ok()).collect()
    }

    /// Calls `usage` with the paths of all marks of answers. The directories with these marks are listed only once.
    fn with_answer_marks<T>(&self, usage: impl FnOnce(&mut BTreeSet<PathBuf>) -> T) -> T {
        let list = || {
            let directories = self.mark_directories().into_iter().map(|directory| directory.join(ANSWERS_FOLDER));
            let entries = directories.filter_map(|directory| fs::read_dir(directory).ok()).flatten().flatten();
            entries.map(|entry| entry.path()).collect()
        };
        match self.answer_marks.lock() {
            Ok(mut stored) => usage(stored.get_or_insert_with(list)),
            Err(_) => usage(&mut list()),
        }
    }

    /// Records that an answer to a rule was given for a file with this fingerprint.
    pub fn record_answer(&self, rule: &str, file: &str, baseline_id: &BaselineId, fingerprint: &str) -> io::Result<()> {
        if self.is_dry_run {
            return Ok(());
        }
        let directory = self.mark_directory_or_new()?;
        let mut marks = baseline_id.all().map(|baseline| answer_mark(&directory, rule, file, baseline));
        marks.try_for_each(|mark| {
            write(&mark, fingerprint)?;
            self.with_answer_marks(|stored| stored.insert(mark));
            Ok(())
        })
    }

    /// Removes the answers to a rule that were given for these files.
    pub fn remove_answers<'f>(&self, rule: &str, files: impl Iterator<Item = &'f str>, baseline_id: &BaselineId) {
        if self.is_dry_run {
            return;
        }
        let directories = self.mark_directories();
        for file in files {
            for (directory, baseline) in
                directories.iter().flat_map(|directory| baseline_id.all().map(move |baseline| (directory, baseline)))
            {
                let mark = answer_mark(directory, rule, file, baseline);
                // An error is ignored, because there may be no mark for this directory and baseline.
                let _ = fs::remove_file(&mark);
                self.with_answer_marks(|stored| stored.remove(&mark));
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

    /// Removes the file of an entry and adds a notice. A dry run leaves the file in place, because its notice is not
    /// recorded: the next hook removes the file and records the notice.
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

    /// Removes all entries that cannot be read, and returns a message for each. A judgement finds only the unreadable
    /// entries that it looks up.
    pub fn remove_unreadable(&self) -> Vec<String> {
        let mut notices = Vec::new();
        for entry in fs::read_dir(self.layout.queue()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Files with other names are kept, because Linchpin did not write them.
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

/// Writes an empty file, or renews its time: old marks are deleted. Creating a file takes longer, and there may be very
/// many demands.
fn write_mark(path: &Path) -> io::Result<()> {
    // Opening a pipe could block.
    let is_renewed = fs::symlink_metadata(path).is_ok_and(|mark| mark.is_file())
        && fs::File::options().append(true).open(path).and_then(|mark| mark.set_modified(SystemTime::now())).is_ok();
    if is_renewed { Ok(()) } else { write(path, "") }
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
    let is_removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.is_ok();
    if is_removed {
        "It was removed; a demand that still holds is made again"
    } else {
        "It cannot be removed: delete it yourself"
    }
}

/// The sentence about an entry that a dry run leaves in place.
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

/// The mark of an answer to a rule for a file.
fn answer_mark(directory: &Path, rule: &str, file: &str, baseline: &str) -> PathBuf {
    directory.join(ANSWERS_FOLDER).join(demand_hash(rule, [file], baseline))
}

#[cfg(test)]
mod tests;
