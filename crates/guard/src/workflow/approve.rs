//! `linchpin approve`: a person opens a gate with an approval.

use engine::suggest;
use serde_json::json;
use store::{NoteKind, StateChanges};

use super::gates::{Approval, Approvals, required_approvals};
use super::{WorkflowCommands, WorkflowError};
use crate::facts::ActiveWorkflow;
use crate::position::Position;
use crate::tree_digest::tree_digest;

/// The approvals that the current node needs from a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingApprovals {
    pub workflow: String,
    pub node: String,
    pub requests: Vec<ApprovalRequest>,
    /// The digest of the tree that the person approves; `None` without git.
    pub tree_digest: Option<String>,
    position: Position,
}

/// One missing approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The gate's id.
    pub gate: String,
    /// The text that the person approves.
    pub text: String,
}

impl WorkflowCommands<'_> {
    /// The missing approvals at the current node: for the named gate, or for all gates.
    pub fn pending_approvals(&self, gate: Option<&str>) -> Result<PendingApprovals, WorkflowError> {
        self.require_person("approve")?;
        let (_, active) = self.load_active()?;
        let tree_digest = tree_digest(&self.project.root)?;
        let node = active.position.node().to_owned();
        let closing_gates =
            self.hat_phase.as_ref().map(|hat_phase| hat_phase.close_requires.as_slice()).unwrap_or_default();
        let mut all = required_approvals(&active, closing_gates);
        all.extend(self.hat_phase.iter().flat_map(|hat_phase| hat_phase.approvable_changes(&self.project.root)));
        if let Some(gate) = gate
            && !all.iter().any(|(id, _)| id == gate)
        {
            let known: Vec<String> = all.into_iter().map(|(gate, _)| gate).collect();
            let close = suggest::closest(gate, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(WorkflowError::UnknownApproval { gate: gate.to_owned(), node, close, known });
        }
        let approvals = Approvals::of(&self.project.root, self.environment);
        let is_missing = |id: &str, text: &str| !approvals.includes(id, text, &active.position, tree_digest.as_deref());
        let requests: Vec<ApprovalRequest> = all
            .into_iter()
            .filter(|(id, text)| gate.is_none_or(|gate| gate == id) && is_missing(id, text))
            .map(|(gate, text)| ApprovalRequest { gate, text })
            .collect();
        if requests.is_empty() {
            return Err(WorkflowError::NothingToApprove { node });
        }
        let ActiveWorkflow { workflow, position, .. } = active;
        Ok(PendingApprovals { workflow: workflow.name, node, requests, tree_digest, position })
    }

    /// Stores the approvals, if the tree is still as it was when they were shown.
    pub fn approve(&self, pending: &PendingApprovals) -> Result<(), WorkflowError> {
        self.require_person("approve")?;
        let PendingApprovals { workflow, node, requests, tree_digest: approved_digest, position } = pending;
        if tree_digest(&self.project.root)? != *approved_digest {
            return Err(WorkflowError::TreeChanged);
        }
        let (mut stored, _) = self.load_active()?;
        let who = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| self.environment.get(name));
        let (root, cwd) = self.root_and_cwd();
        let approvals = Approvals::of(&self.project.root, self.environment);
        for ApprovalRequest { gate, text } in requests {
            let fields = self.journal_fields([
                ("workflow", json!(workflow)),
                ("node", json!(node)),
                ("gate", json!(gate)),
                ("text", json!(text)),
                ("visit", json!(position.phase_key())),
                ("tree", json!(approved_digest)),
                ("who", json!(who)),
            ]);
            // The note is written first, because there must be no approval that is not in the journal.
            let no_changes = StateChanges::default();
            stored.store.write_note(&self.note(NoteKind::Approve, &fields, &no_changes, &root, &cwd))?;
            let approval = Approval {
                workflow: workflow.clone(),
                gate: gate.clone(),
                text: text.clone(),
                phase: position.phase_key(),
                tree_digest: approved_digest.clone(),
                who: who.clone(),
                time: self.now,
            };
            approvals.store(&approval, position)?;
        }
        Ok(())
    }
}
