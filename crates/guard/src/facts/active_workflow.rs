//! The active workflow of a project, as rules and expressions see it.

use engine::facts::{PhaseField, WorkflowField};
use engine::pace::Tokens;
use engine::workflow::{Node, Workflow};
use engine::{Event, EventKind, Level, Verdict};
use path::Access;
use serde_json::{Map, Value, json};
use store::{StateChanges, StoredState};

use super::pace_facts;
use super::pace_facts::PaceScope;
use super::token_count::TRANSCRIPTS;
use crate::position::Position;
use crate::session::hat_sessions::HAT_SESSIONS;

/// The phase variable that counts the commands of the phase; below it, the one that counts the edits.
const COMMANDS: &str = "_commands";
const EDITS: &str = "_edits";

/// The active workflow and its state.
#[derive(Debug, Clone)]
pub struct ActiveWorkflow {
    pub workflow: Workflow,
    pub position: Position,
    /// The workflow's stored state.
    pub state: StoredState,
    /// While a move is being decided: the claims of that move. Otherwise: the claims of the move that led to the
    /// current node.
    pub claims: Map<String, Value>,
    /// Milliseconds since 1970.
    pub now: i64,
}

impl ActiveWorkflow {
    /// The current node; `None` if the workflow's file no longer contains that node.
    pub fn node(&self) -> Option<&Node> {
        self.workflow.node(self.position.node())
    }

    /// True if the workflow declares the variable.
    pub fn declares(&self, variable: &str) -> bool {
        self.workflow.variables.contains_key(variable)
    }

    /// True if the workflow has a claim with this name.
    pub fn has_claim(&self, name: &str) -> bool {
        self.workflow.all_claims().any(|claim| claim == name)
    }

    /// The value of a variable that the workflow declares; `None` for any other variable.
    pub fn variable(&self, name: &str) -> Option<Value> {
        if !self.declares(name) {
            return None;
        }
        self.state.variables.get(name).cloned().or_else(|| self.workflow.initial_value(name))
    }

    /// The value of a field of `workflow` in expressions.
    pub fn workflow_field(&self, field: WorkflowField) -> Value {
        match field {
            WorkflowField::Name => json!(self.workflow.name),
            WorkflowField::Node => json!(self.position.node()),
            WorkflowField::History => self.position.history.iter().map(|phase| json!(phase.node)).collect(),
            WorkflowField::Active => Value::Bool(true),
        }
    }

    /// The value of a field of `phase` in expressions. `tokens` is called only for the field `tokens`, and `commits`
    /// only for the field `commits`, because it takes long to count tokens or commits.
    pub fn phase_field(
        &self,
        field: PhaseField,
        tokens: impl FnOnce() -> Option<u64>,
        commits: impl FnOnce() -> Option<u32>,
    ) -> Value {
        let counter = |name: &str| self.state.variables.get(name).cloned().unwrap_or_else(|| json!(0));
        match field {
            PhaseField::Name => json!(self.position.node()),
            PhaseField::Visit => json!(self.position.visit_count()),
            PhaseField::Elapsed => json!(self.now.saturating_sub(self.position.phase().started).max(0) / 1000),
            PhaseField::Commands => counter(COMMANDS),
            PhaseField::Edits => counter(EDITS),
            PhaseField::Commits => json!(commits()),
            PhaseField::Tokens => json!(tokens()),
        }
    }

    /// The current phase, as the period over which pace rules count.
    pub fn pace_scope(&self) -> PaceScope<'_> {
        PaceScope {
            phase_key: Some(self.position.phase_key()),
            node: Some(self.position.node().to_owned()),
            // If the clock was set back, the phase's start may be later than the present time.
            started: self.position.phase().started.min(self.now),
            continued: self.position.continued,
            tokens_before: Tokens::default(),
            total_limits_are_off: self.position.total_limits_are_off,
            commit_limits_are_off: self.position.commit_limits_are_off,
            variables: &self.state.variables,
        }
    }

    /// The text about the workflow for an agent whose session begins.
    pub fn introduction(&self) -> String {
        let Self { workflow, position, .. } = self;
        format!(
            "The workflow `{}` is active here, in phase `{}`. Run `linchpin repeat` to print the prompt of this phase, and `linchpin next` to end it.",
            workflow.name,
            position.node()
        )
    }

    /// If the event is a call that is permitted, adds its count to the changes: as a command, as an edit, or as both (a
    /// shell command that applies a patch).
    pub fn count_call(&self, event: &Event, verdict: &Verdict, changes: &mut StateChanges) {
        let is_permitted = verdict.level < Level::Ask || !verdict.is_enforced();
        let Some(call) = event.tool.as_ref().filter(|_| event.kind == EventKind::BeforeTool && is_permitted) else {
            return;
        };
        let is_edit = call.mcp.is_empty() && call.files.iter().any(|file| file.access != Some(Access::Read));
        let is_command = call.shell.is_some();
        for name in [is_command.then_some(COMMANDS), is_edit.then_some(EDITS)].into_iter().flatten() {
            let count = self.state.variables.get(name).and_then(Value::as_u64).unwrap_or(0);
            changes.workflow_variables.insert(name.to_owned(), Some(json!(count + 1)));
        }
    }

    /// Adds to the changes that all variables of the current phase are unset.
    pub fn unset_phase_variables(&self, changes: &mut StateChanges) {
        let is_of_phase = |name: &&String| {
            [COMMANDS, EDITS, TRANSCRIPTS, HAT_SESSIONS].contains(&name.as_str()) || pace_facts::is_phase_variable(name)
        };
        for name in self.state.variables.keys().filter(is_of_phase) {
            changes.workflow_variables.insert(name.clone(), None);
        }
    }
}
