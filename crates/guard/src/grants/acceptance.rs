//! The changes of rules that a person wanted: a session that runs is held to its rules until it finds one here.
//!
//! One line a change, in the user's own folder: the rule, the digest it has now or `-`, and when. A session that knew the
//! rule later than that was not meant.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use policy::Weakened;

use crate::Environment;

pub struct Acceptance {
    file: PathBuf,
    /// What was accepted of the user's own policy counts in every project.
    of_user: PathBuf,
}

impl Acceptance {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        Self { file: environment.project_state(root).join("accepted"), of_user: environment.state.join("accepted") }
    }

    /// For changes of the user's own policy.
    pub fn of_user(environment: &Environment) -> Self {
        let of_user = environment.state.join("accepted");
        Self { file: of_user.clone(), of_user }
    }

    /// Whether it was accepted at this time (milliseconds since 1970) or later.
    pub fn includes(&self, change: &Weakened, since: i64) -> bool {
        let wanted = name(change);
        let is_meant = |line: &str| {
            line.rsplit_once(' ')
                .is_some_and(|(name, time)| name == wanted && time.parse().is_ok_and(|time: i64| time >= since))
        };
        [&self.file, &self.of_user].into_iter().any(|file| text(file).lines().any(is_meant))
    }

    /// Besides what was accepted before.
    pub fn add<'a>(&self, changes: impl IntoIterator<Item = &'a Weakened>, now: i64) -> io::Result<()> {
        let added: Vec<String> = changes.into_iter().map(|change| format!("{} {now}", name(change))).collect();
        if added.is_empty() {
            return Ok(());
        }
        policy::write_private_file(&self.file, format!("{}{}\n", text(&self.file), added.join("\n")))
    }
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Which text it had does not matter: a person may have changed that too.
fn name(change: &Weakened) -> String {
    format!("{} {}", change.rule, change.to.as_deref().unwrap_or("-"))
}
