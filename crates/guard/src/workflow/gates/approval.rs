//! Approvals by people. An approval is valid for one gate, for one phase or run of a loop, and for one state of the
//! tree. Approvals are stored in the user's state directory.

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
    /// The key of the phase, from [`Position::phase_key`].
    #[serde(rename = "visit")]
    pub phase: String,
    /// The digest of the tree; `None` without git.
    #[serde(rename = "tree")]
    pub tree_digest: Option<String>,
    /// The user's login name.
    pub who: Option<String>,
    /// Milliseconds since 1970.
    pub time: i64,
}

impl Approval {
    /// The message that this approval is for another state of the tree.
    pub fn outdated_text(&self) -> String {
        let who = self.who.as_deref().map_or_else(|| "a person".to_owned(), plain_text::single_line);
        let time = Timestamp::from_millisecond(self.time).map(|time| time.to_zoned(TimeZone::system()));
        let time = time.map(|time| time.strftime(" on %Y-%m-%d at %H:%M:%S").to_string()).unwrap_or_default();
        format!("{who} approved{time}, but the tree has changed since")
    }
}

/// The stored approvals of a project.
pub struct Approvals {
    directory: PathBuf,
}

impl Approvals {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        Self { directory: environment.project_state(root).join("approved") }
    }

    pub fn includes(&self, gate: &str, text: &str, position: &Position, tree_digest: Option<&str>) -> bool {
        self.last(gate, text, position).is_some_and(|approval| approval.tree_digest.as_deref() == tree_digest)
    }

    /// The latest approval of this text for the gate in this phase (or run of a loop), for any state of the tree.
    pub fn last(&self, gate: &str, text: &str, position: &Position) -> Option<Approval> {
        let bytes = fs::read(self.file(gate, text, position)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Stores an approval. It replaces an approval for another state of the tree.
    pub fn store(&self, approval: &Approval, position: &Position) -> io::Result<()> {
        policy::delete_old_files(&self.directory);
        let file = self.file(&approval.gate, &approval.text, position);
        policy::write_private_file(&file, serde_json::to_vec(approval)?)
    }

    fn file(&self, gate: &str, text: &str, position: &Position) -> PathBuf {
        let scope = position.approval_scope();
        self.directory.join(policy::digest([position.workflow_name.as_str(), gate, text, &scope].join("\0")))
    }
}

/// The approvals that gates require: the gates of the current node, those of its transitions, and `closing_gates`, the
/// gates for closing a task. Returns each approval once, as the gate's id and the text to approve.
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
