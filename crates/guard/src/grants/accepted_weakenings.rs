//! Weakenings of rules that a person accepted. A running session keeps its rules until the change is listed here.
//!
//! The file is in the user's state directory and has one line per change: the rule, its new digest or `-`, and the
//! time. A line does not apply to sessions that first saw the rule after that time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use policy::Weakening;

use crate::Environment;

pub struct AcceptedWeakenings {
    file: PathBuf,
    /// Accepted changes of the user tier, which count in every project.
    user_file: PathBuf,
}

impl AcceptedWeakenings {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        Self { file: environment.project_state(root).join("accepted"), user_file: environment.state.join("accepted") }
    }

    /// Only the changes of the user tier.
    pub fn of_user(environment: &Environment) -> Self {
        let user_file = environment.state.join("accepted");
        Self { file: user_file.clone(), user_file }
    }

    /// True if the change was accepted at `since` (milliseconds since 1970) or later.
    pub fn includes(&self, change: &Weakening, since: i64) -> bool {
        let key = change_key(change);
        let is_same = |line: &str| {
            line.rsplit_once(' ')
                .is_some_and(|(name, time)| name == key && time.parse().is_ok_and(|time: i64| time >= since))
        };
        [&self.file, &self.user_file].into_iter().any(|file| read_text(file).lines().any(is_same))
    }

    /// Adds changes to those accepted before.
    pub fn add<'a>(&self, changes: impl IntoIterator<Item = &'a Weakening>, now: i64) -> io::Result<()> {
        let added: Vec<String> = changes.into_iter().map(|change| format!("{} {now}", change_key(change))).collect();
        if added.is_empty() {
            return Ok(());
        }
        policy::write_private_file(&self.file, format!("{}{}\n", read_text(&self.file), added.join("\n")))
    }
}

fn read_text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// The text that identifies a change. It has no old digest, because a person may have changed the old text too.
fn change_key(change: &Weakening) -> String {
    format!("{} {}", change.rule, change.to.as_deref().unwrap_or("-"))
}
