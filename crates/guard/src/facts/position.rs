use engine::hats::Loop;
use engine::rules::Tier;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{PhaseName, PhaseStart, StateChanges};

use crate::session::Stage;

/// The variable of the workflow's state that says where it stands.
const POSITION: &str = "_at";
/// The variable that says how many workflows were ever started here.
const RUNS: &str = "_runs";
/// Earlier visits are in the journal.
const HISTORY_LIMIT: usize = 200;

/// Where a workflow stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub workflow: String,
    /// Of the text under which the node was entered.
    pub digest: String,
    /// The tier that it was started from. Another of its name is another workflow, whatever a repository has since. Earlier versions
    /// did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Of all workflows that were started in this project, the how manieth this is.
    pub run: u64,
    /// The visits of this run, the current one last; of very many, the last.
    pub history: Vec<Visit>,
    /// How many visits came before those.
    #[serde(default)]
    pub forgotten: usize,
    /// When somebody last ran `continue` in this visit, in milliseconds since 1970: windows count from then. Only earlier
    /// versions wrote it; now each rule keeps what somebody went on past.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continued: Option<i64>,
    /// What was claimed with the move that led to this visit; empty where none did, as at the start and after `prev`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub claims: Map<String, Value>,
    /// How often somebody went on past rules in this visit.
    #[serde(default)]
    pub continues: u32,
    /// Time and tokens are set aside until the next move. Only earlier versions wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_past_totals: bool,
    /// So are commits. Only earlier versions wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_past_commits: bool,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    pub node: String,
    /// Milliseconds since 1970.
    pub started: i64,
    /// It was reached by going back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_back: bool,
    /// The commit that was checked out when it began: commits up to there were made before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
}

impl Position {
    /// None where nothing is active.
    pub fn of(variables: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(variables.get(POSITION)?.clone()).ok().filter(|at: &Self| !at.history.is_empty())
    }

    /// At the beginning of a workflow.
    pub fn start(workflow: &str, digest: &str, node: &str, now: i64, variables: &Map<String, Value>) -> Self {
        let run = variables.get(RUNS).and_then(Value::as_u64).unwrap_or(0) + 1;
        Self {
            workflow: workflow.to_owned(),
            digest: digest.to_owned(),
            tier: None,
            run,
            history: vec![Visit { node: node.to_owned(), started: now, is_back: false, head: None }],
            forgotten: 0,
            continued: None,
            claims: Map::new(),
            continues: 0,
            is_past_totals: false,
            is_past_commits: false,
        }
    }

    /// In an iteration of a run.
    fn in_run(run: u64, iteration: u32, hat: &str, digest: &str, now: i64) -> Self {
        let start = Self::start(Loop::NAME, digest, hat, now, &Map::new());
        Self { run, forgotten: usize::try_from(iteration.saturating_sub(1)).unwrap_or(0), ..start }
    }

    /// Where a run stands that has just put the hat on.
    pub fn of_stage(stage: &Stage, now: i64) -> Self {
        Self::in_run(stage.run, stage.iteration, stage.hat(), &stage.workflow.digest, now)
    }

    /// What a person's yes is good for: this visit, or the whole run, because its next iteration goes on with the same work.
    pub fn approval_scope(&self) -> String {
        if self.workflow == Loop::NAME {
            return format!("run {}", self.run);
        }
        // Visits are counted by the journal, which may be deleted; no two begin at the same time.
        format!("{} {}", self.phase(), self.visit().started)
    }

    #[must_use]
    pub fn moved(&self, node: &str, digest: &str, now: i64) -> Self {
        self.entered(Visit { node: node.to_owned(), started: now, is_back: false, head: None }, digest)
    }

    /// The same, with what was claimed with the move.
    #[must_use]
    pub fn claiming(self, claims: Map<String, Value>) -> Self {
        Self { claims, ..self }
    }

    #[must_use]
    pub fn went_back(&self, node: &str, digest: &str, now: i64) -> Self {
        self.entered(Visit { node: node.to_owned(), started: now, is_back: true, head: None }, digest)
    }

    /// The node from which the current one was reached, ways back taken out.
    pub fn way_back(&self) -> Option<&str> {
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

    fn entered(&self, visit: Visit, digest: &str) -> Self {
        let mut history = self.history.clone();
        history.push(visit);
        let excess = history.len().saturating_sub(HISTORY_LIMIT);
        history.drain(..excess);
        Self {
            workflow: self.workflow.clone(),
            digest: digest.to_owned(),
            tier: self.tier,
            run: self.run,
            history,
            forgotten: self.forgotten + excess,
            continued: None,
            claims: Map::new(),
            continues: 0,
            is_past_totals: false,
            is_past_commits: false,
        }
    }

    #[must_use]
    pub fn continued(&self) -> Self {
        Self { continues: self.continues + 1, ..self.clone() }
    }

    /// The same, with the commit that is checked out where the current visit begins.
    #[must_use]
    pub fn at_commit(mut self, head: Option<String>) -> Self {
        if let Some(visit) = self.history.last_mut() {
            visit.head = head;
        }
        self
    }

    /// The current one.
    pub fn visit(&self) -> &Visit {
        // INVARIANT: there is one; see `of` and `start`.
        const NONE: &Visit = &Visit { node: String::new(), started: 0, is_back: false, head: None };
        self.history.last().unwrap_or(NONE)
    }

    pub fn node(&self) -> &str {
        &self.visit().node
    }

    /// How often the node was visited, this time included.
    pub fn visits(&self) -> usize {
        self.history.iter().filter(|visit| visit.node == self.node()).count()
    }

    /// The name of this visit; no other has it.
    pub fn phase(&self) -> String {
        self.phase_name(self.forgotten + self.history.len())
    }

    /// This visit, as people know it.
    pub fn phase_named(&self) -> PhaseName {
        PhaseName { phase: self.phase(), workflow: self.workflow.clone(), node: self.node().to_owned() }
    }

    /// When each phase that is still known began, in order.
    pub fn phase_starts(&self) -> Vec<PhaseStart> {
        let numbered = self.history.iter().zip(self.forgotten + 1..);
        numbered.map(|(visit, number)| PhaseStart { time: visit.started, phase: self.phase_name(number) }).collect()
    }

    fn phase_name(&self, number: usize) -> String {
        // Runs of a loop are counted apart.
        let of = if self.workflow == Loop::NAME { "loop-" } else { "" };
        format!("{of}{}.{number}", self.run)
    }

    /// The last visits, this one last.
    pub fn last(&self, number: usize) -> &[Visit] {
        self.history.get(self.history.len().saturating_sub(number)..).unwrap_or_default()
    }

    pub fn remember(&self, changes: &mut StateChanges) {
        let kept = serde_json::to_value(self).unwrap_or_default();
        changes.workflow.insert(POSITION.to_owned(), Some(kept));
        changes.workflow.insert(RUNS.to_owned(), Some(self.run.into()));
    }

    /// Nothing is active any more: whatever was kept of the workflow is unset.
    pub fn forget_all(variables: &Map<String, Value>, changes: &mut StateChanges) {
        for name in variables.keys().filter(|name| *name != RUNS) {
            changes.workflow.insert(name.clone(), None);
        }
    }
}
