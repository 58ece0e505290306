//! Weakenings of rules that a person accepted. A running session keeps the stricter rules until a person accepts the
//! change.
//!
//! The accepted changes are stored in the user's state directory: in one file for each project, and in one for the user
//! tier. Each line has the rule, its new digest (`-` if the rule is gone), and the time of the acceptance. A line does
//! not apply to sessions that began to use the stricter rule after that time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use policy::Weakening;

use crate::Environment;

/// The accepted weakenings of a project's policy.
pub struct AcceptedWeakenings {
    file: PathBuf,
    /// The file with the accepted changes of the user tier. These changes are accepted in every project.
    user_file: PathBuf,
}

impl AcceptedWeakenings {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        Self { file: environment.project_state(root).join("accepted"), user_file: environment.state.join("accepted") }
    }

    /// The accepted changes of the user tier only.
    pub fn of_user(environment: &Environment) -> Self {
        let user_file = environment.state.join("accepted");
        Self { file: user_file.clone(), user_file }
    }

    /// True if a person accepted the change at the time `since` (milliseconds since 1970) or later.
    pub fn includes(&self, change: &Weakening, since: i64) -> bool {
        let key = change_key(change);
        let is_same = |line: &str| {
            line.rsplit_once(' ')
                .is_some_and(|(name, time)| name == key && time.parse().is_ok_and(|time: i64| time >= since))
        };
        [&self.file, &self.user_file].into_iter().any(|file| read_text(file).lines().any(is_same))
    }

    /// Stores that these changes are accepted. Changes that were accepted before stay accepted.
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

/// The text that identifies a change of a rule. It does not contain the digest of the rule's old text, because a person
/// may have changed the old text as well.
fn change_key(change: &Weakening) -> String {
    format!("{} {}", change.rule, change.to.as_deref().unwrap_or("-"))
}
