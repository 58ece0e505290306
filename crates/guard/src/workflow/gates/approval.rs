//! Approvals by people. Each is valid for one gate, for one visit or one run of a loop, and for one state of the tree.
//! They are stored in the user's state directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use engine::workflow::{Gate, Requirement};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::facts::ActiveWorkflow;
use crate::position::Position;
use crate::{Environment, plain_text};

/// A stored approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub workflow: String,
    pub gate: String,
    /// The text that was approved.
    pub text: String,
    /// The visit, as in [`Position::phase_key`].
    pub visit: String,
    /// `None` without git.
    #[serde(rename = "tree")]
    pub tree_digest: Option<String>,
    /// The user's login name.
    pub who: Option<String>,
    /// Milliseconds since 1970.
    pub time: i64,
}

impl Approval {
    /// The message about an approval for another state of the tree.
    pub fn outdated_text(&self) -> String {
        let who = self.who.as_deref().map_or_else(|| "a person".to_owned(), plain_text::single_line);
        let time = Timestamp::from_millisecond(self.time).map(|time| time.to_zoned(TimeZone::system()));
        let time = time.map(|time| time.strftime(" on %Y-%m-%d at %H:%M:%S").to_string()).unwrap_or_default();
        format!("{who} approved{time}, but the tree has changed since")
    }
}

/// The stored approvals of a project.
pub struct Approvals {
    folder: PathBuf,
}

impl Approvals {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        Self { folder: environment.project_state(root).join("approved") }
    }

    pub fn includes(&self, gate: &str, text: &str, position: &Position, tree_digest: Option<&str>) -> bool {
        self.last(gate, text, position).is_some_and(|approval| approval.tree_digest.as_deref() == tree_digest)
    }

    /// The latest approval in this visit or run, for any state of the tree.
    pub fn last(&self, gate: &str, text: &str, position: &Position) -> Option<Approval> {
        let bytes = fs::read(self.file(gate, text, position)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Stores an approval, replacing one for another state of the tree.
    pub fn store(&self, approval: &Approval, position: &Position) -> io::Result<()> {
        policy::delete_old_files(&self.folder);
        let file = self.file(&approval.gate, &approval.text, position);
        policy::write_private_file(&file, serde_json::to_vec(approval)?)
    }

    fn file(&self, gate: &str, text: &str, position: &Position) -> PathBuf {
        let Position { workflow, .. } = position;
        self.folder.join(policy::digest([workflow, gate, text, position.approval_scope().as_str()].join("\0")))
    }
}

/// The approvals that gates of the current node and of its transitions require, each once, with their text. `closing_gates`
/// has the gates for closing a task.
pub fn required_approvals<'a>(active: &'a ActiveWorkflow, closing_gates: &'a [Requirement]) -> Vec<(String, String)> {
    let Some(node) = active.node() else { return Vec::new() };
    let requirements = node.requires.iter().chain(node.transitions.iter().flat_map(|transition| &transition.requires));
    let requirements = requirements.chain(closing_gates);
    let mut approvals: Vec<(String, String)> = Vec::new();
    for Requirement { id, gate } in requirements {
        if let Gate::Approval(text) = gate
            && !approvals.iter().any(|(other, _)| other == id)
        {
            approvals.push((id.clone(), text.clone()));
        }
    }
    approvals
}

#[cfg(test)]
mod tests;
