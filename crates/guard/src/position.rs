//! The position of a workflow: its node and the visits to earlier nodes.

use std::path::Path;

use engine::hats::Loop;
use engine::rules::Tier;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{PhaseName, PhaseStart, StateChanges};
use tree::Repository;

use crate::session::HatPhase;

/// The workflow variable that stores the position.
const POSITION_VARIABLE: &str = "_at";
/// The workflow variable that counts all workflows started in the project.
const RUNS_VARIABLE: &str = "_runs";
/// The maximum number of visits that are stored. The journal has earlier ones.
const MAX_HISTORY: usize = 200;

/// The position of an active workflow: its node and the visits before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub workflow: String,
    /// The digest of the workflow's file when the node was entered.
    pub digest: String,
    /// The tier that the workflow was started from. A workflow of the same name in another tier is a different one. Not
    /// set by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// The number of this workflow among all that were started in the project.
    pub run: u64,
    /// The latest visits, at most 200. The current visit is the last.
    pub history: Vec<Visit>,
    /// The number of visits dropped from `history`.
    #[serde(default, rename = "forgotten")]
    pub dropped_visits: usize,
    /// Only set by earlier versions: the time of the last `continue` in this visit, in milliseconds since 1970. Windows
    /// count from that time. Now each rule has a variable for this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continued: Option<i64>,
    /// The claims of the move that led to this visit; empty at the start and after `prev`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub claims: Map<String, Value>,
    /// The number of `continue`s in this visit.
    #[serde(default)]
    pub continues: u32,
    /// Only set by earlier versions: true if limits of time and tokens are not judged until the next move.
    #[serde(default, rename = "is_past_totals", skip_serializing_if = "std::ops::Not::not")]
    pub totals_are_set_aside: bool,
    /// Only set by earlier versions: true if limits of commits are not judged either.
    #[serde(default, rename = "is_past_commits", skip_serializing_if = "std::ops::Not::not")]
    pub commits_are_set_aside: bool,
}

/// A visit to a node, also called a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    pub node: String,
    /// Milliseconds since 1970.
    pub started: i64,
    /// True if the node was entered by `prev`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_back: bool,
    /// `HEAD` when the visit began: older commits do not belong to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The length of the reflog of `HEAD` when the visit began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reflog: Option<u64>,
}

impl Position {
    /// `None` if no workflow is active.
    pub fn of(variables: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(variables.get(POSITION_VARIABLE)?.clone())
            .ok()
            .filter(|position: &Self| !position.history.is_empty())
    }

    /// The position at a workflow's start.
    pub fn start(workflow: &str, digest: &str, node: &str, now: i64, variables: &Map<String, Value>) -> Self {
        let run = variables.get(RUNS_VARIABLE).and_then(Value::as_u64).unwrap_or(0) + 1;
        Self {
            workflow: workflow.to_owned(),
            digest: digest.to_owned(),
            tier: None,
            run,
            history: vec![Visit { node: node.to_owned(), started: now, is_back: false, head: None, reflog: None }],
            dropped_visits: 0,
            continued: None,
            claims: Map::new(),
            continues: 0,
            totals_are_set_aside: false,
            commits_are_set_aside: false,
        }
    }

    /// The position in an iteration of a run.
    fn in_run(run: u64, iteration: u32, hat: &str, digest: &str, now: i64) -> Self {
        let start = Self::start(Loop::NAME, digest, hat, now, &Map::new());
        Self { run, dropped_visits: usize::try_from(iteration.saturating_sub(1)).unwrap_or(0), ..start }
    }

    /// The position of a run when a hat has just been activated.
    pub fn of_hat_phase(hat_phase: &HatPhase, now: i64) -> Self {
        Self::in_run(hat_phase.run, hat_phase.iteration, hat_phase.hat(), &hat_phase.workflow.digest, now)
    }

    /// The scope of an approval: this visit or, in a run, the whole run, because the next iteration continues the same
    /// work.
    pub fn approval_scope(&self) -> String {
        if self.workflow == Loop::NAME {
            return format!("run {}", self.run);
        }
        // The number of a visit is not unique, because counting restarts if the journal is deleted. Start times are
        // unique.
        format!("{} {}", self.phase_key(), self.visit().started)
    }

    /// The position after a move to a node.
    #[must_use]
    pub fn after_move(&self, node: &str, digest: &str, now: i64) -> Self {
        self.after_entering(
            Visit { node: node.to_owned(), started: now, is_back: false, head: None, reflog: None },
            digest,
        )
    }

    /// The same position with the claims of the move.
    #[must_use]
    pub fn with_claims(self, claims: Map<String, Value>) -> Self {
        Self { claims, ..self }
    }

    /// The position after `prev`, which goes back to a node.
    #[must_use]
    pub fn after_prev(&self, node: &str, digest: &str, now: i64) -> Self {
        self.after_entering(
            Visit { node: node.to_owned(), started: now, is_back: true, head: None, reflog: None },
            digest,
        )
    }

    /// The node from which the current one was reached, ignoring detours that `prev` undid.
    pub fn previous_node(&self) -> Option<&str> {
        let mut trail: Vec<&str> = Vec::new();
        for visit in &self.history {
            if visit.is_back {
                trail.pop();
            }
            if !visit.is_back || trail.is_empty() {
                trail.push(&visit.node);
            }
        }
        trail.pop();
        trail.pop()
    }

    fn after_entering(&self, visit: Visit, digest: &str) -> Self {
        let mut history = self.history.clone();
        history.push(visit);
        let excess = history.len().saturating_sub(MAX_HISTORY);
        history.drain(..excess);
        Self {
            workflow: self.workflow.clone(),
            digest: digest.to_owned(),
            tier: self.tier,
            run: self.run,
            history,
            dropped_visits: self.dropped_visits + excess,
            continued: None,
            claims: Map::new(),
            continues: 0,
            totals_are_set_aside: false,
            commits_are_set_aside: false,
        }
    }

    /// The position after a `continue`, in the same visit.
    #[must_use]
    pub fn after_continue(&self) -> Self {
        Self { continues: self.continues + 1, ..self.clone() }
    }

    /// Sets `HEAD` and its reflog of the current visit to those of the tree at `root`.
    #[must_use]
    pub fn with_head_of(mut self, root: &Path) -> Self {
        if let (Some(visit), Some(repository)) = (self.history.last_mut(), Repository::of(root)) {
            visit.head = repository.head();
            visit.reflog = repository.reflog_length();
        }
        self
    }

    /// The current visit.
    pub fn visit(&self) -> &Visit {
        // INVARIANT: `history` is not empty; `of` and `start` ensure it.
        const NONE: &Visit = &Visit { node: String::new(), started: 0, is_back: false, head: None, reflog: None };
        self.history.last().unwrap_or(NONE)
    }

    pub fn node(&self) -> &str {
        &self.visit().node
    }

    /// The number of visits to the current node, including this one.
    pub fn visit_count(&self) -> usize {
        self.history.iter().filter(|visit| visit.node == self.node()).count()
    }

    /// The unique name of this visit.
    pub fn phase_key(&self) -> String {
        self.numbered_phase_key(self.dropped_visits + self.history.len())
    }

    /// The name of this visit with its workflow and node.
    pub fn phase_name(&self) -> PhaseName {
        PhaseName { id: self.phase_key(), workflow: self.workflow.clone(), node: self.node().to_owned() }
    }

    /// The start of each visit in `history`, in order.
    pub fn phase_starts(&self) -> Vec<PhaseStart> {
        let numbered = self.history.iter().zip(self.dropped_visits + 1..);
        numbered
            .map(|(visit, number)| PhaseStart { time: visit.started, phase: self.numbered_phase_key(number) })
            .collect()
    }

    fn numbered_phase_key(&self, number: usize) -> String {
        // Runs of a loop have numbers of their own.
        let prefix = if self.workflow == Loop::NAME { "loop-" } else { "" };
        format!("{prefix}{}.{number}", self.run)
    }

    /// The last visits, the current one last.
    pub fn last_visits(&self, number: usize) -> &[Visit] {
        self.history.get(self.history.len().saturating_sub(number)..).unwrap_or_default()
    }

    pub fn store(&self, changes: &mut StateChanges) {
        let value = serde_json::to_value(self).unwrap_or_default();
        changes.workflow_variables.insert(POSITION_VARIABLE.to_owned(), Some(value));
        changes.workflow_variables.insert(RUNS_VARIABLE.to_owned(), Some(self.run.into()));
    }

    /// Unsets all variables of a workflow that has ended.
    pub fn unset_variables(variables: &Map<String, Value>, changes: &mut StateChanges) {
        for name in variables.keys().filter(|name| *name != RUNS_VARIABLE) {
            changes.workflow_variables.insert(name.clone(), None);
        }
    }
}
