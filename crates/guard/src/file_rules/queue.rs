//! What file rules asked for, and what came of it: one small file a demand.
//!
//! An entry lies under the digest of what it is about, so it is found by name however many there are. All of it may be deleted
//! at any time: what still holds is found again.
//!
//! A repository could bring such files along, with every rule answered in advance. So which entries are ours, and which files
//! somebody has answered for, is marked in the user's own folder, under a name that the project's folder is given once.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::Environment;
use crate::project::{Project, can_be_written};

/// In bytes. A thousand files with long names fit in.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The files of a project's demands.
#[derive(Debug)]
pub struct Queue {
    folder: PathBuf,
    /// Folders for the marks of what is ours, under the name of this project's folder. They are written to the first, and
    /// looked for in all.
    marks: Vec<PathBuf>,
    problems: Mutex<Vec<String>>,
    /// Nothing is written or removed.
    is_dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueStatus {
    /// Asked for, and open.
    Queued,
    /// Promised, acknowledged, or put right by a command.
    Passed,
    /// Asked for as often as it may be, or its command failed.
    Failed,
    /// No longer asked for: it was answered, or what it was about is gone.
    Skipped,
}

impl QueueStatus {
    /// An answer that was being written when the process ended counts more than what was there before it.
    const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::Skipped, Self::Queued];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// How the name of an entry's file ends.
    pub fn ending(self) -> String {
        format!(".{}.json", self.name())
    }
}

/// Other programs may read these files: the names stay.
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
    /// The session that was asked first.
    pub session: String,
    /// How often it was asked for, by all sessions together.
    pub shown: u32,
    /// How often each session was.
    #[serde(default)]
    pub asked: BTreeMap<String, TimesAsked>,
    /// Digest of what is in the trigger files.
    pub content: String,
}

/// How often a session was asked without doing anything about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimesAsked {
    pub times: u32,
    /// Digest of the trigger files and of what is missing, as they were when it was last asked.
    pub state: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionResult {
    /// `prompt` or `command`.
    #[serde(rename = "type")]
    pub kind: String,
    pub command: Option<String>,
    pub exit_code: Option<i32>,
    /// What people are told of it.
    pub output: Option<String>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    /// Digest of all files that differed when a command ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// What changes were compared with, as demands and answers name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub name: String,
    /// Another baseline that answers count for as well.
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

/// What lies under the name of a demand.
enum Found {
    Entry(Box<QueueEntry>),
    Nothing,
    /// Something that cannot be used; only a dry run leaves it there.
    Damaged,
}

/// Twelve hexadecimal digits for a rule, the files that it asks about and what they are compared with. Each part is
/// preceded by its length, so that no two demands have the same bytes.
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

    /// `tmp`: the project's folder for what may be deleted. `state`: the user's own folder for the project.
    fn new(tmp: &Path, state: &Path) -> Self {
        let (folder, state) = (tmp.join("rules"), state.join("demands"));
        // Without a state folder that can be written, marks lie where a repository could bring them along: better than no
        // rule at all.
        let marks = if can_be_written(&state) { vec![state] } else { vec![folder.join("demands"), state] };
        Self { folder, marks, problems: Mutex::default(), is_dry_run: false }
    }

    /// The same, for those who only ask what would come of an event.
    #[must_use]
    pub fn for_dry_run(self, is_dry_run: bool) -> Self {
        Self { is_dry_run, ..self }
    }

    /// The name of the project's folder; `None` where nothing was ever written.
    fn name(&self) -> Option<String> {
        let name = String::from_utf8(read_plain(&self.folder.join("name"), LARGEST).ok()?).ok()?;
        let is_name = name.len() == 24 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name.then_some(name)
    }

    /// The same, with a new one where there is none.
    fn name_or_new(&self) -> io::Result<String> {
        if let Some(name) = self.name() {
            return Ok(name);
        }
        // Nobody has to be kept from guessing it: it says nothing where there is nothing.
        let chance = || RandomState::new().build_hasher().finish().to_le_bytes();
        let name = policy::digest([chance(), chance()].concat());
        let file = self.folder.join("name");
        // Sessions that end at once have to agree on one; what is there and is no name goes.
        if !policy::write_new_private_file(&file, &name).map_err(|error| unwritten(&file, &error))? {
            if let Some(name) = self.name() {
                return Ok(name);
            }
            write(&file, &name)?;
        }
        Ok(name)
    }

    /// Where marks of this project are looked for.
    fn own(&self) -> Vec<PathBuf> {
        let name = self.name();
        name.map(|name| self.marks.iter().map(|marks| marks.join(&name)).collect()).unwrap_or_default()
    }

    /// Where they are written.
    fn own_or_new(&self) -> io::Result<PathBuf> {
        let name = self.name_or_new()?;
        Ok(self.marks.iter().map(|marks| marks.join(&name)).next().unwrap_or_default())
    }

    fn folder(&self) -> PathBuf {
        self.folder.join("queue")
    }

    /// The demand of this name. One that cannot be read is reported, and counts as missing.
    pub fn find(&self, rule: &str, hash: &str) -> Option<QueueEntry> {
        QueueStatus::ALL.into_iter().find_map(|status| match self.read(rule, hash, status) {
            Found::Entry(entry) => Some(*entry),
            Found::Nothing | Found::Damaged => None,
        })
    }

    /// Whether the record of an answer could not be used, which is then reported.
    pub fn has_damaged_answer(&self, rule: &str, hash: &str) -> bool {
        matches!(self.read(rule, hash, QueueStatus::Passed), Found::Damaged)
    }

    fn read(&self, rule: &str, hash: &str, status: QueueStatus) -> Found {
        let path = self.path(hash, status);
        let why = match read_plain(&path, LARGEST) {
            // Where there is no folder, that is told when something is written.
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
        self.put_away(rule, &path, &why);
        Found::Damaged
    }

    /// Writes the entry whole, in the place of what it was before.
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

    /// What was in a file each time somebody answered for it to a rule.
    pub fn settled(&self, rule: &str, file: &str, reference: &Reference) -> Vec<String> {
        let own = self.own();
        let marks = own.iter().flat_map(|own| reference.names().map(|baseline| mark(own, rule, file, baseline)));
        marks.filter_map(|mark| fs::read_to_string(mark).ok()).collect()
    }

    pub fn settle(&self, rule: &str, file: &str, reference: &Reference, content: &str) -> io::Result<()> {
        if self.is_dry_run {
            return Ok(());
        }
        let own = self.own_or_new()?;
        let mut marks = reference.names().map(|baseline| mark(&own, rule, file, baseline));
        marks.try_for_each(|mark| write(&mark, content))
    }

    /// Nobody has answered for these files to a rule.
    pub fn unsettle<'f>(&self, rule: &str, files: impl Iterator<Item = &'f str>, reference: &Reference) {
        if self.is_dry_run {
            return;
        }
        let own = self.own();
        for file in files {
            for (own, baseline) in own.iter().flat_map(|own| reference.names().map(move |baseline| (own, baseline))) {
                // What is not there need not go.
                let _ = fs::remove_file(mark(own, rule, file, baseline));
            }
        }
    }

    /// What went wrong with files here since this was last asked.
    pub fn take_problems(&self) -> Vec<String> {
        self.problems.lock().map(|mut problems| std::mem::take(&mut *problems)).unwrap_or_default()
    }

    fn path(&self, hash: &str, status: QueueStatus) -> PathBuf {
        self.folder().join(format!("{hash}{}", status.ending()))
    }

    /// The entry is removed, unless this is a dry run: then the next hook does that and records it.
    fn put_away(&self, rule: &str, path: &Path, why: &str) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let outcome = if self.is_dry_run { LEFT_TO_HOOKS } else { removed(path) };
        let problem = format!("the queue entry `{name}` of rule `{rule}` cannot be used: {why}. {outcome}");
        if let Ok(mut problems) = self.problems.lock()
            && !problems.contains(&problem)
        {
            problems.push(problem);
        }
    }

    /// Removes entries that cannot be read and says so. A judgement only comes across those that a rule still asks for.
    pub fn remove_unreadable(&self) -> Vec<String> {
        let mut told = Vec::new();
        for entry in fs::read_dir(self.folder()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Nothing is deleted that is none of ours.
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

/// The error, with the file that it is about.
fn unwritten(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}` cannot be written: {}", path.display(), error.kind()))
}

/// Removes what is there, and says what came of it.
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

/// A file that is one, and no larger than it may be: to read from a pipe would be to wait for it.
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
