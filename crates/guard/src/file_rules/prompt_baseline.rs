//! Snapshots of the working tree at a session's last prompt.

use std::io;
use std::path::{Path, PathBuf};

use engine::Event;
use serde_json::{Value, json};
use store::StateChanges;
use tree::{GitError, Snapshot, Tree};

use super::GIT_LIMIT;
use super::queue::read_plain;
use crate::Environment;
use crate::project::Project;

/// One snapshot, stored in `tmp`. The session stores its time, from which the file name follows.
#[derive(Debug)]
pub struct PromptBaseline {
    path: PathBuf,
    /// The baseline's name in demands.
    pub reference: String,
}

/// The result of taking snapshots when a prompt arrives.
#[derive(Default)]
pub struct KeptBaselines {
    pub is_kept: bool,
    pub notices: Vec<String>,
}

impl KeptBaselines {
    /// Takes a snapshot of a project's tree.
    pub fn keep(&mut self, project: &Project, event: &Event, environment: &Environment) {
        let Some(tree) = Tree::of(&project.root, GIT_LIMIT) else { return };
        let baseline = PromptBaseline::new(&project.tmp(environment), &event.session, event.time);
        match baseline.take(&tree, timestamp(event.time)) {
            Ok(()) => self.is_kept = true,
            Err(error) => self.notices.push(format!(
                "how things were at this prompt was not kept, so rules that compare with it compare with the base of \
                 the branch: {error}"
            )),
        }
    }
}

/// Formats milliseconds since 1970 as RFC 3339.
pub fn timestamp(time: i64) -> String {
    jiff::Timestamp::from_millisecond(time).map(|time| time.to_string()).unwrap_or_default()
}

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the snapshot cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// In bytes, enough for hundreds of thousands of files.
const LARGEST: u64 = 256 * 1024 * 1024;

const VARIABLE: &str = "_prompt_baseline";

impl PromptBaseline {
    /// `time` is in milliseconds since 1970; `tmp` is the project's `tmp` directory.
    pub fn new(tmp: &Path, session: &str, time: i64) -> Self {
        let seconds = time.div_euclid(1000);
        let is_plain = !session.is_empty()
            && session.len() <= 80
            && session.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_');
        let name = if is_plain { session.to_owned() } else { policy::digest(session.as_bytes()) };
        let path = tmp.join("rules/baselines").join(format!("prompt_{seconds}_{name}.json"));
        // The file name has seconds only, but two prompts within one second need two references.
        Self { path, reference: format!("prompt:{name}:{time}") }
    }

    /// The time of the session's last snapshot, from its variables.
    pub fn last(variables: &serde_json::Map<String, Value>) -> Option<i64> {
        variables.get(VARIABLE)?.as_i64()
    }

    /// Stores the time of the snapshot in the session's variables.
    pub fn remember(time: i64, changes: &mut StateChanges) {
        changes.set(VARIABLE, json!(time));
    }

    pub fn take(&self, tree: &Tree, timestamp: String) -> Result<(), BaselineError> {
        let snapshot = Snapshot::take(tree, timestamp)?;
        policy::write_private_file(&self.path, serde_json::to_vec_pretty(&snapshot)?)?;
        Ok(())
    }

    pub fn read(&self) -> Result<Snapshot, BaselineError> {
        Ok(serde_json::from_slice(&read_plain(&self.path, LARGEST)?)?)
    }
}
