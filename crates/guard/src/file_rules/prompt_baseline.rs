//! Snapshots of the working tree: at a session's last prompt, and when a hat was activated.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use store::StateChanges;
use tree::{GitError, Snapshot, Tree};

use crate::project::TmpLayout;
use crate::regular_file::read_regular_file;

/// A snapshot in the project's `tmp` directory. Its file name contains the time of the snapshot in seconds. The
/// session's variables store this time in milliseconds.
#[derive(Debug)]
pub struct PromptBaseline {
    path: PathBuf,
    /// The baseline's id in demands.
    pub baseline_id: String,
}

/// The reason why a snapshot cannot be taken or read.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the snapshot cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// The maximum size of a snapshot's file in bytes. It is enough for hundreds of thousands of files.
const MAX_SIZE: u64 = 256 * 1024 * 1024;

/// The session variable that stores the time of the last snapshot.
const VARIABLE: &str = "_prompt_baseline";

impl PromptBaseline {
    /// The snapshot of a session (or, in a run, of the run's current hat) at a time. `tmp` is the project's `tmp`
    /// directory, `time` is in milliseconds since 1970.
    pub fn new(tmp: &Path, session: &str, time: i64) -> Self {
        let seconds = time.div_euclid(1000);
        let is_safe_name = !session.is_empty()
            && session.len() <= 80
            && session.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_'));
        let name = if is_safe_name { session.to_owned() } else { policy::digest(session.as_bytes()) };
        let path = TmpLayout::of(tmp).baselines().join(format!("prompt_{seconds}_{name}.json"));
        // Two prompts within one second may share a file, but their baselines need different ids.
        Self { path, baseline_id: format!("prompt:{name}:{time}") }
    }

    /// The time of the session's last snapshot, as stored in the session's variables.
    pub fn last_time(variables: &serde_json::Map<String, Value>) -> Option<i64> {
        variables.get(VARIABLE)?.as_i64()
    }

    /// Adds the time of a snapshot to the changes of the session's variables.
    pub fn add_time_to(time: i64, changes: &mut StateChanges) {
        changes.set(VARIABLE, json!(time));
    }

    pub fn take_snapshot(&self, tree: &Tree, timestamp: String) -> Result<(), BaselineError> {
        let snapshot = Snapshot::take(tree, timestamp)?;
        policy::write_private_file(&self.path, serde_json::to_vec_pretty(&snapshot)?)?;
        Ok(())
    }

    pub fn read(&self) -> Result<Snapshot, BaselineError> {
        Ok(serde_json::from_slice(&read_regular_file(&self.path, MAX_SIZE)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Scratch;

    #[test]
    fn a_session_id_cannot_lead_out_of_the_baseline_directory() {
        let directory = Path::new("/tmp/x/rules/baselines");
        let long = "a".repeat(81);
        for session in ["s-1_A", "", "../../elsewhere", "a/b", "a b", "é", "a\0b", &long] {
            let baseline = PromptBaseline::new(Path::new("/tmp/x"), session, 5000);
            assert_eq!(baseline.path.parent(), Some(directory), "{session}");
            let name = baseline.path.file_name().and_then(std::ffi::OsStr::to_str).expect("a name");
            assert!(name.starts_with("prompt_5_") && name.len() < 120, "{name}");
        }
        let plain = PromptBaseline::new(Path::new("/tmp/x"), "s-1_A", 5000);
        assert_eq!(plain.path, directory.join("prompt_5_s-1_A.json"));
    }

    #[test]
    fn baseline_ids_are_unique_per_prompt_and_session() {
        let baseline_id = |session, time| PromptBaseline::new(Path::new("/tmp/x"), session, time).baseline_id;
        let ids = [baseline_id("s", 5000), baseline_id("s", 5001), baseline_id("t", 5000), baseline_id("a b", 5000)];
        let different: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(different.len(), ids.len(), "{ids:?}");
    }

    #[test]
    fn a_session_stores_the_time_of_its_last_snapshot() {
        let mut changes = StateChanges::default();
        PromptBaseline::add_time_to(5000, &mut changes);
        let variables =
            changes.session_variables.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        assert_eq!(PromptBaseline::last_time(&variables), Some(5000));
        assert_eq!(PromptBaseline::last_time(&serde_json::Map::new()), None);
    }

    #[test]
    fn a_damaged_snapshot_is_an_error() {
        let scratch = Scratch::new();
        let baseline = PromptBaseline::new(&scratch.environment.temp, "s", 5000);
        assert!(matches!(baseline.read(), Err(BaselineError::Io(_))));
        crate::tests::write(&baseline.path, "{");
        assert!(matches!(baseline.read(), Err(BaselineError::Unreadable(_))));
    }
}
