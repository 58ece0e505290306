//! `approve`: a person approves a gate that an agent cannot decide.

use engine::suggest;
use serde_json::json;
use store::{NoteKind, StateChanges};

use super::approval::{Approval, Approvals, asked};
use super::holder::content;
use super::{Moves, Refusal};
use crate::facts::{Active, Position};

/// Approvals that a person is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approvable {
    pub workflow: String,
    pub node: String,
    pub asked: Vec<ApprovalRequest>,
    /// The digest of the tree that is approved; `None` without git.
    pub tree: Option<String>,
    position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    pub gate: String,
    pub text: String,
}

impl Moves<'_> {
    /// The missing approvals on the way from the current node: of the named gate, or of all.
    pub fn approvable(&self, gate: Option<&str>) -> Result<Approvable, Refusal> {
        self.must_be_a_person("approve")?;
        let (_, active) = self.active()?;
        let tree = content(&self.project.root)?;
        let node = active.position.node().to_owned();
        let besides = self.stage.as_ref().map(|stage| stage.close_requires.as_slice()).unwrap_or_default();
        let mut all = asked(&active, besides);
        all.extend(self.stage.iter().flat_map(|stage| stage.approvable_changes(&self.project.root)));
        if let Some(gate) = gate
            && !all.iter().any(|(known, _)| known == gate)
        {
            let known: Vec<String> = all.into_iter().map(|(gate, _)| gate).collect();
            let close = suggest::closest(gate, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(Refusal::UnknownApproval { gate: gate.to_owned(), node, close, known });
        }
        let approvals = Approvals::of(&self.project.root, self.environment);
        let is_missing = |id: &str, text: &str| !approvals.includes(id, text, &active.position, tree.as_deref());
        let asked: Vec<ApprovalRequest> = all
            .into_iter()
            .filter(|(id, text)| gate.is_none_or(|gate| gate == id) && is_missing(id, text))
            .map(|(gate, text)| ApprovalRequest { gate, text })
            .collect();
        if asked.is_empty() {
            return Err(Refusal::NothingToApprove { node });
        }
        let Active { workflow, position, .. } = active;
        Ok(Approvable { workflow: workflow.name, node, asked, tree, position })
    }

    /// Stores the approvals, if the tree is still as it was when they were shown.
    pub fn approve(&self, approvable: &Approvable) -> Result<(), Refusal> {
        self.must_be_a_person("approve")?;
        let Approvable { workflow, node, asked, tree, position } = approvable;
        if content(&self.project.root)? != *tree {
            return Err(Refusal::TreeChanged);
        }
        let (mut scene, _) = self.active()?;
        let who = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| self.environment.get(name));
        let (root, cwd) = self.places();
        let approvals = Approvals::of(&self.project.root, self.environment);
        for ApprovalRequest { gate, text } in asked {
            let fields = self.fields([
                ("workflow", json!(workflow)),
                ("node", json!(node)),
                ("gate", json!(gate)),
                ("text", json!(text)),
                ("visit", json!(position.phase())),
                ("tree", json!(tree)),
                ("who", json!(who)),
            ]);
            // The journal comes first: there must be no approval without a record.
            let none = StateChanges::default();
            scene.store.note(&self.note(NoteKind::Approve, &fields, &none, &root, &cwd))?;
            let approval = Approval {
                workflow: workflow.clone(),
                gate: gate.clone(),
                text: text.clone(),
                visit: position.phase(),
                tree: tree.clone(),
                who: who.clone(),
                time: self.now,
            };
            approvals.keep(&approval, position)?;
        }
        Ok(())
    }
}
