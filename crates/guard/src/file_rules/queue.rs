//! The queue: demands of file rules and their answers, one small file per demand.
//!
//! Entries are named by a digest of their rule, files and baseline, so that lookups stay fast however many there are.
//! All of it may be deleted at any time: unmet demands come up again.
//!
//! A repository could contain such files, with every demand answered in advance. So Linchpin marks the entries it
//! wrote, and the files that were answered for, in the user's state directory. Marks are under a random name that the
//! project's directory gets once.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::Environment;
use crate::project::{Project, can_be_written};

/// The maximum file size in bytes, enough for a thousand files with long names.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The queue of one project.
#[derive(Debug)]
pub struct Queue {
    folder: PathBuf,
    /// Directories for marks of entries that Linchpin wrote; the project's marks are in a subdirectory with its name.
    /// Marks are written to the first directory and looked up in all.
    marks: Vec<PathBuf>,
    problems: Mutex<Vec<String>>,
    /// True if nothing may be written or removed.
    is_dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueStatus {
    /// Open.
    Queued,
    /// Promised, acknowledged, or met by a command.
    Passed,
    /// Given up after the maximum number of holds, or its command failed.
    Failed,
    /// No longer demanded: the rule is met or the changes are gone.
    Skipped,
}

impl QueueStatus {
    /// In order of precedence, if several files exist because the process was killed while writing an answer.
    const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::Skipped, Self::Queued];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
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
    /// How often it was demanded, in all sessions together.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// The baseline of changes, as named in demands and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub name: String,
    /// Another baseline for which answers count too.
    pub also: Option<String>,
}

impl From<String> for Reference {
    fn from(name: String) -> Self {
        Self { name, also: None }
    }
}

impl Reference {
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.also.as_deref())
    }
}

/// The result of reading an entry.
enum Found {
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

impl Queue {
    pub fn of(project: &Project, environment: &Environment) -> Self {
        Self::new(&project.tmp(environment), &environment.project_state(&project.root))
    }

    /// `tmp` is the project's `tmp` directory, `state` the project's directory in the user's state directory.
    fn new(tmp: &Path, state: &Path) -> Self {
        let (folder, state) = (tmp.join("rules"), state.join("demands"));
        // If the state directory is not writable, marks go where a repository could forge them. That is better than no
        // file rules at all.
        let marks = if can_be_written(&state) { vec![state] } else { vec![folder.join("demands"), state] };
        Self { folder, marks, problems: Mutex::default(), is_dry_run: false }
    }

    /// Makes a queue that writes nothing.
    #[must_use]
    pub fn for_dry_run(self, is_dry_run: bool) -> Self {
        Self { is_dry_run, ..self }
    }

    /// The random name of the project's directory; `None` if nothing was written yet.
    fn name(&self) -> Option<String> {
        let name = String::from_utf8(read_plain(&self.folder.join("name"), LARGEST).ok()?).ok()?;
        let is_name = name.len() == 24 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name.then_some(name)
    }

    /// Like [`Self::name`], but creates a name if there is none.
    fn name_or_new(&self) -> io::Result<String> {
        if let Some(name) = self.name() {
            return Ok(name);
        }
        // The name is no secret: knowing it is useless without access to the state directory.
        let chance = || RandomState::new().build_hasher().finish().to_le_bytes();
        let name = policy::digest([chance(), chance()].concat());
        let file = self.folder.join("name");
        // Concurrent sessions must agree on one name. A file that contains no valid name is overwritten.
        if !policy::write_new_private_file(&file, &name).map_err(|error| unwritten(&file, &error))? {
            if let Some(name) = self.name() {
                return Ok(name);
            }
            write(&file, &name)?;
        }
        Ok(name)
    }

    /// The directories in which marks of this project are looked up.
    fn own(&self) -> Vec<PathBuf> {
        let name = self.name();
        name.map(|name| self.marks.iter().map(|marks| marks.join(&name)).collect()).unwrap_or_default()
    }

    /// The directory to which marks are written.
    fn own_or_new(&self) -> io::Result<PathBuf> {
        let name = self.name_or_new()?;
        Ok(self.marks.iter().map(|marks| marks.join(&name)).next().unwrap_or_default())
    }

    fn folder(&self) -> PathBuf {
        self.folder.join("queue")
    }

    /// Returns the entry of a demand. A file that cannot be read causes a notice and counts as missing.
    pub fn find_or_discard(&self, rule: &str, hash: &str) -> Option<QueueEntry> {
        QueueStatus::ALL.into_iter().find_map(|status| match self.read(rule, hash, status) {
            Found::Entry(entry) => Some(*entry),
            Found::Nothing | Found::Damaged => None,
        })
    }

    /// True if the answer's file could not be used, which causes a notice.
    pub fn discard_damaged_answer(&self, rule: &str, hash: &str) -> bool {
        matches!(self.read(rule, hash, QueueStatus::Passed), Found::Damaged)
    }

    fn read(&self, rule: &str, hash: &str, status: QueueStatus) -> Found {
        let path = self.path(hash, status);
        let why = match read_plain(&path, LARGEST) {
            // A missing directory is reported when something is written.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Found::Nothing;
            }
            Err(error) => unreadable(&error),
            Ok(bytes) => match serde_json::from_slice::<QueueEntry>(&bytes) {
                Ok(_) if !self.own().iter().any(|own| own.join(hash).exists()) => "it was not written here".to_owned(),
                Ok(entry) if entry.trigger_hash == hash && entry.status == status => {
                    return Found::Entry(Box::new(entry));
                }
                Ok(_) => "it is about something else than its name says".to_owned(),
                Err(error) => malformed(&error).to_owned(),
            },
        };
        self.discard(rule, &path, &why);
        Found::Damaged
    }

    /// Writes the entry atomically and removes files of its other statuses.
    pub fn put(&self, entry: &QueueEntry) -> io::Result<()> {
        if self.is_dry_run {
            return Ok(());
        }
        let bytes = serde_json::to_vec_pretty(entry).map_err(io::Error::other)?;
        write(&self.own_or_new()?.join(&entry.trigger_hash), "")?;
        write(&self.path(&entry.trigger_hash, entry.status), bytes)?;
        for status in QueueStatus::ALL.into_iter().filter(|status| *status != entry.status) {
            let path = self.path(&entry.trigger_hash, status);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritten(&path, &error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Fingerprints of a file, one for each answer that was given for it to the rule.
    pub fn answer_fingerprints(&self, rule: &str, file: &str, reference: &Reference) -> Vec<String> {
        let own = self.own();
        let marks = own.iter().flat_map(|own| reference.names().map(|baseline| mark(own, rule, file, baseline)));
        marks.filter_map(|mark| fs::read_to_string(mark).ok()).collect()
    }

    pub fn record_answer(&self, rule: &str, file: &str, reference: &Reference, content: &str) -> io::Result<()> {
        if self.is_dry_run {
            return Ok(());
        }
        let own = self.own_or_new()?;
        let mut marks = reference.names().map(|baseline| mark(&own, rule, file, baseline));
        marks.try_for_each(|mark| write(&mark, content))
    }

    /// Removes the answers for these files to a rule.
    pub fn forget_answers<'f>(&self, rule: &str, files: impl Iterator<Item = &'f str>, reference: &Reference) {
        if self.is_dry_run {
            return;
        }
        let own = self.own();
        for file in files {
            for (own, baseline) in own.iter().flat_map(|own| reference.names().map(move |baseline| (own, baseline))) {
                // The file may not exist.
                let _ = fs::remove_file(mark(own, rule, file, baseline));
            }
        }
    }

    /// Error messages since the last call.
    pub fn take_problems(&self) -> Vec<String> {
        self.problems.lock().map(|mut problems| std::mem::take(&mut *problems)).unwrap_or_default()
    }

    fn path(&self, hash: &str, status: QueueStatus) -> PathBuf {
        self.folder().join(format!("{hash}{}", status.ending()))
    }

    /// The entry is removed, unless this is a dry run: then the next hook does that and records it.
    fn discard(&self, rule: &str, path: &Path, why: &str) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let outcome = if self.is_dry_run { LEFT_TO_HOOKS } else { removed(path) };
        let problem = format!("the queue entry `{name}` of rule `{rule}` cannot be used: {why}. {outcome}");
        if let Ok(mut problems) = self.problems.lock()
            && !problems.contains(&problem)
        {
            problems.push(problem);
        }
    }

    /// Removes unreadable entries and returns messages. A judgement only finds those that a rule still looks up.
    pub fn remove_unreadable(&self) -> Vec<String> {
        let mut told = Vec::new();
        for entry in fs::read_dir(self.folder()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Files that Linchpin did not write are kept.
            if !QueueStatus::ALL.into_iter().any(|status| name.ends_with(&status.ending())) {
                continue;
            }
            let why = match read_plain(&entry.path(), LARGEST).map(|bytes| serde_json::from_slice::<QueueEntry>(&bytes))
            {
                Ok(Ok(_)) => continue,
                Ok(Err(error)) => malformed(&error).to_owned(),
                Err(error) => unreadable(&error),
            };
            told.push(format!("the queue entry `{name}` cannot be used: {why}. {}", removed(&entry.path())));
        }
        told
    }
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    policy::write_private_file(path, bytes).map_err(|error| unwritten(path, &error))
}

/// Adds the file's path to the error.
fn unwritten(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}` cannot be written: {}", path.display(), error.kind()))
}

/// Removes the file or directory, and returns the sentence about it for the message.
fn removed(path: &Path) -> &'static str {
    let is_gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.is_ok();
    if is_gone {
        "It was removed, and what still holds is asked for again"
    } else {
        "It cannot be removed: delete it by hand"
    }
}

const LEFT_TO_HOOKS: &str = "It counts as missing, and the next stop removes it";

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::Other => error.to_string(),
        kind => format!("it cannot be read ({kind})"),
    }
}

fn malformed(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Eof => "it is cut short",
        serde_json::error::Category::Data => "it lacks a field, or has a value of another kind",
        _ => "it is not JSON",
    }
}

/// Reads a regular file of limited size. Reading a pipe could block.
pub fn read_plain(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() || metadata.len() > largest {
        return Err(io::Error::other("it is no regular file, or too large for one"));
    }
    fs::read(path)
}

fn mark(own: &Path, rule: &str, file: &str, baseline: &str) -> PathBuf {
    own.join("settled").join(trigger_hash(rule, [file], baseline))
}

#[cfg(test)]
mod tests;
