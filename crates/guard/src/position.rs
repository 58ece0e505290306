//! The position of a workflow: its current phase and the phases before it.

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
/// The workflow variable that stores how many workflows were started in the project.
const SERIAL_VARIABLE: &str = "_runs";
/// The maximum number of phases that are stored. Earlier ones are only in the journal.
const MAX_HISTORY: usize = 200;

/// The position of an active workflow: its current phase and the phases before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    #[serde(rename = "workflow")]
    pub workflow_name: String,
    /// The digest of the workflow's file when the node was entered.
    pub digest: String,
    /// The tier from which the workflow was started. Another tier may have a different workflow of the same name.
    /// `None` if an earlier version of Linchpin started the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// The number of this workflow among all that were started in the project; in a run of a loop, the run's id.
    #[serde(rename = "run")]
    pub serial: u64,
    /// The latest phases, at most `MAX_HISTORY`. The current phase is the last.
    pub history: Vec<PhaseRecord>,
    /// The number of earlier phases that are no longer in `history`.
    #[serde(default, rename = "forgotten")]
    pub dropped_phases: usize,
    /// Only set by earlier versions of Linchpin: the time of the last `linchpin continue` in this phase, in
    /// milliseconds since 1970. The time windows of pace rules begin at that time. This version stores such a time for
    /// each rule, in variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continued: Option<i64>,
    /// The claims of the move that led to this phase; empty after `linchpin start` and `linchpin prev`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub claims: Map<String, Value>,
    /// How often `linchpin continue` was run in this phase.
    #[serde(default)]
    pub continues: u32,
    /// Only set by `linchpin continue` of earlier versions of Linchpin: true if limits of time and tokens are not
    /// judged until the next move.
    #[serde(default, rename = "is_past_totals", skip_serializing_if = "std::ops::Not::not")]
    pub total_limits_are_off: bool,
    /// Only set by `linchpin continue` of earlier versions of Linchpin: true if limits of commits are not judged until
    /// the next move.
    #[serde(default, rename = "is_past_commits", skip_serializing_if = "std::ops::Not::not")]
    pub commit_limits_are_off: bool,
}

/// One phase: the node and when it was entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRecord {
    pub node: String,
    /// The time at which the phase began, in milliseconds since 1970.
    pub started: i64,
    /// True if `linchpin prev` entered the node.
    #[serde(default, rename = "is_back", skip_serializing_if = "std::ops::Not::not")]
    pub is_entered_by_prev: bool,
    /// `HEAD` when the phase began. Commits that it contains do not belong to the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The length of the reflog of `HEAD` when the phase began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reflog: Option<u64>,
}

impl Position {
    /// The position that the variables of a workflow store; `None` if no workflow is active.
    pub fn of(variables: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(variables.get(POSITION_VARIABLE)?.clone())
            .ok()
            .filter(|position: &Self| !position.history.is_empty())
    }

    /// The position at a workflow's start.
    pub fn start(workflow: &str, digest: &str, node: &str, now: i64, variables: &Map<String, Value>) -> Self {
        let serial = variables.get(SERIAL_VARIABLE).and_then(Value::as_u64).unwrap_or(0) + 1;
        Self {
            workflow_name: workflow.to_owned(),
            digest: digest.to_owned(),
            tier: None,
            serial,
            history: vec![PhaseRecord {
                node: node.to_owned(),
                started: now,
                is_entered_by_prev: false,
                head: None,
                reflog: None,
            }],
            dropped_phases: 0,
            continued: None,
            claims: Map::new(),
            continues: 0,
            total_limits_are_off: false,
            commit_limits_are_off: false,
        }
    }

    /// The position in an iteration of a run.
    fn in_run(run: u64, iteration: u32, hat: &str, digest: &str, now: i64) -> Self {
        let start = Self::start(Loop::NAME, digest, hat, now, &Map::new());
        Self { serial: run, dropped_phases: usize::try_from(iteration.saturating_sub(1)).unwrap_or(0), ..start }
    }

    /// The position of a run when a hat has just been activated.
    pub fn of_hat_phase(hat_phase: &HatPhase, now: i64) -> Self {
        Self::in_run(hat_phase.run, hat_phase.iteration, hat_phase.hat(), &hat_phase.workflow.digest, now)
    }

    /// The scope of an approval: this phase. In a run, the scope is the whole run, because the next iteration continues
    /// the same work.
    pub fn approval_scope(&self) -> String {
        if self.workflow_name == Loop::NAME {
            return format!("run {}", self.serial);
        }
        // The phase key alone is not unique, because counting restarts if the journal is deleted.
        format!("{} {}", self.phase_key(), self.phase().started)
    }

    /// The position after a move to a node.
    #[must_use]
    pub fn after_move(&self, node: &str, digest: &str, now: i64) -> Self {
        self.after_entering(
            PhaseRecord { node: node.to_owned(), started: now, is_entered_by_prev: false, head: None, reflog: None },
            digest,
        )
    }

    /// The same position with the claims of the move.
    #[must_use]
    pub fn with_claims(self, claims: Map<String, Value>) -> Self {
        Self { claims, ..self }
    }

    /// The position after `linchpin prev`, which goes back to a node.
    #[must_use]
    pub fn after_prev(&self, node: &str, digest: &str, now: i64) -> Self {
        self.after_entering(
            PhaseRecord { node: node.to_owned(), started: now, is_entered_by_prev: true, head: None, reflog: None },
            digest,
        )
    }

    /// The node from which the current node was reached. Phases that `linchpin prev` left are ignored.
    pub fn previous_node(&self) -> Option<&str> {
        let mut trail: Vec<&str> = Vec::new();
        for phase in &self.history {
            if phase.is_entered_by_prev {
                trail.pop();
            }
            if !phase.is_entered_by_prev || trail.is_empty() {
                trail.push(&phase.node);
            }
        }
        trail.pop();
        trail.pop()
    }

    fn after_entering(&self, phase: PhaseRecord, digest: &str) -> Self {
        let mut history = self.history.clone();
        history.push(phase);
        let excess = history.len().saturating_sub(MAX_HISTORY);
        history.drain(..excess);
        Self {
            workflow_name: self.workflow_name.clone(),
            digest: digest.to_owned(),
            tier: self.tier,
            serial: self.serial,
            history,
            dropped_phases: self.dropped_phases + excess,
            continued: None,
            claims: Map::new(),
            continues: 0,
            total_limits_are_off: false,
            commit_limits_are_off: false,
        }
    }

    /// The position after a `linchpin continue`, in the same phase.
    #[must_use]
    pub fn after_continue(&self) -> Self {
        Self { continues: self.continues + 1, ..self.clone() }
    }

    /// Records in the current phase where `HEAD` is in the tree at `root`, and how long its reflog is.
    #[must_use]
    pub fn with_head_of(mut self, root: &Path) -> Self {
        if let (Some(phase), Some(repository)) = (self.history.last_mut(), Repository::of(root)) {
            phase.head = repository.head();
            phase.reflog = repository.reflog_length();
        }
        self
    }

    /// The current phase.
    pub fn phase(&self) -> &PhaseRecord {
        // INVARIANT: `history` is not empty; `of` and `start` ensure it.
        const NONE: &PhaseRecord =
            &PhaseRecord { node: String::new(), started: 0, is_entered_by_prev: false, head: None, reflog: None };
        self.history.last().unwrap_or(NONE)
    }

    pub fn node(&self) -> &str {
        &self.phase().node
    }

    /// The number of phases at the current node, including this one.
    pub fn visit_count(&self) -> usize {
        self.history.iter().filter(|phase| phase.node == self.node()).count()
    }

    /// The key of this phase in the journal.
    pub fn phase_key(&self) -> String {
        self.numbered_phase_key(self.dropped_phases + self.history.len())
    }

    /// The phase's key with its workflow and node.
    pub fn phase_name(&self) -> PhaseName {
        PhaseName { id: self.phase_key(), workflow: self.workflow_name.clone(), node: self.node().to_owned() }
    }

    /// The start of each phase in `history`, in order.
    pub fn phase_starts(&self) -> Vec<PhaseStart> {
        let numbered = self.history.iter().zip(self.dropped_phases + 1..);
        numbered
            .map(|(phase, number)| PhaseStart { time: phase.started, phase: self.numbered_phase_key(number) })
            .collect()
    }

    fn numbered_phase_key(&self, number: usize) -> String {
        // Runs of a loop are numbered separately.
        let prefix = if self.workflow_name == Loop::NAME { "loop-" } else { "" };
        format!("{prefix}{}.{number}", self.serial)
    }

    /// The last `number` phases, oldest first. The last of them is the current one.
    pub fn last_phases(&self, number: usize) -> &[PhaseRecord] {
        self.history.get(self.history.len().saturating_sub(number)..).unwrap_or_default()
    }

    /// Adds this position to the changes of the workflow's variables.
    pub fn add_to(&self, changes: &mut StateChanges) {
        let value = serde_json::to_value(self).unwrap_or_default();
        changes.workflow_variables.insert(POSITION_VARIABLE.to_owned(), Some(value));
        changes.workflow_variables.insert(SERIAL_VARIABLE.to_owned(), Some(self.serial.into()));
    }

    /// Unsets all variables of a workflow that has ended, except the number of started workflows.
    pub fn unset_variables(variables: &Map<String, Value>, changes: &mut StateChanges) {
        for name in variables.keys().filter(|name| *name != SERIAL_VARIABLE) {
            changes.workflow_variables.insert(name.clone(), None);
        }
    }
}
