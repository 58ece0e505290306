//! Snapshots of the working tree at a session's last prompt.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use store::StateChanges;
use tree::{GitError, Snapshot, Tree};

use super::queue::read_regular_file;
use crate::project::TmpLayout;

/// One snapshot, stored in `tmp`. The session stores its time, from which the file name follows.
#[derive(Debug)]
pub struct PromptBaseline {
    path: PathBuf,
    /// The baseline's name in demands.
    pub baseline_name: String,
}

/// Formats milliseconds since 1970 as RFC 3339.
pub fn timestamp(time: i64) -> String {
    jiff::Timestamp::from_millisecond(time).map(|time| time.to_string()).unwrap_or_default()
}

/// The reason why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the snapshot cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// The maximum size in bytes, enough for hundreds of thousands of files.
const MAX_SIZE: u64 = 256 * 1024 * 1024;

const VARIABLE: &str = "_prompt_baseline";

impl PromptBaseline {
    /// `time` is in milliseconds since 1970; `tmp` is the project's `tmp` directory.
    pub fn new(tmp: &Path, session: &str, time: i64) -> Self {
        let seconds = time.div_euclid(1000);
        let is_safe_name = !session.is_empty()
            && session.len() <= 80
            && session.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_');
        let name = if is_safe_name { session.to_owned() } else { policy::digest(session.as_bytes()) };
        let path = TmpLayout::of(tmp).baselines().join(format!("prompt_{seconds}_{name}.json"));
        // The file name has a resolution of one second, but two prompts within one second need different names.
        Self { path, baseline_name: format!("prompt:{name}:{time}") }
    }

    /// The time of the session's last snapshot, from its variables.
    pub fn last_time(variables: &serde_json::Map<String, Value>) -> Option<i64> {
        variables.get(VARIABLE)?.as_i64()
    }

    /// Stores the time of the snapshot in the session's variables.
    pub fn store_time(time: i64, changes: &mut StateChanges) {
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
    fn a_session_id_cannot_escape_the_baseline_folder() {
        let folder = Path::new("/tmp/x/rules/baselines");
        let long = "a".repeat(81);
        for session in ["s-1_A", "", "../../elsewhere", "a/b", "a b", "é", "a\0b", &long] {
            let baseline = PromptBaseline::new(Path::new("/tmp/x"), session, 5000);
            assert_eq!(baseline.path.parent(), Some(folder), "{session}");
            let name = baseline.path.file_name().and_then(std::ffi::OsStr::to_str).expect("a name");
            assert!(name.starts_with("prompt_5_") && name.len() < 120, "{name}");
        }
        let plain = PromptBaseline::new(Path::new("/tmp/x"), "s-1_A", 5000);
        assert_eq!(plain.path, folder.join("prompt_5_s-1_A.json"));
    }

    #[test]
    fn baseline_names_are_unique_per_prompt_and_session() {
        let baseline_name = |session, time| PromptBaseline::new(Path::new("/tmp/x"), session, time).baseline_name;
        let names =
            [baseline_name("s", 5000), baseline_name("s", 5001), baseline_name("t", 5000), baseline_name("a b", 5000)];
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
    }

    #[test]
    fn a_session_stores_the_time_of_its_last_snapshot() {
        let mut changes = StateChanges::default();
        PromptBaseline::store_time(5000, &mut changes);
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
