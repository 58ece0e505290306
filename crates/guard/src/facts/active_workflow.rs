//! The active workflow of a project, as rules and expressions see it.

use engine::facts::{PhaseField, WorkflowField};
use engine::pace::Tokens;
use engine::workflow::{Node, Workflow};
use engine::{Event, EventKind, Level, Verdict};
use path::Access;
use serde_json::{Map, Value, json};
use store::{SessionState, StateChanges};

use super::pace_facts;
use super::pace_facts::PaceScope;
use super::token_count::TRANSCRIPTS;
use crate::position::Position;
use crate::session::hat_sessions::HAT_SESSIONS;

/// Variables that count the calls of the current phase.
const COMMANDS: &str = "_commands";
const EDITS: &str = "_edits";

/// The active workflow and its state.
#[derive(Debug, Clone)]
pub struct ActiveWorkflow {
    pub workflow: Workflow,
    pub position: Position,
    /// The workflow's stored state.
    pub state: SessionState,
    /// The claims of the move that is being decided; if there is none, those of the move that led to the current node.
    pub claims: Map<String, Value>,
    /// Milliseconds since 1970.
    pub now: i64,
}

impl ActiveWorkflow {
    /// `None` if the workflow's file no longer has the node.
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

    pub fn variable(&self, name: &str) -> Option<Value> {
        if !self.declares(name) {
            return None;
        }
        self.state.variables.get(name).cloned().or_else(|| self.workflow.variable(name))
    }

    /// A field of `workflow` in expressions.
    pub fn workflow_field(&self, field: WorkflowField) -> Value {
        match field {
            WorkflowField::Name => json!(self.workflow.name),
            WorkflowField::Node => json!(self.position.node()),
            WorkflowField::History => self.position.history.iter().map(|visit| json!(visit.node)).collect(),
            WorkflowField::Active => Value::Bool(true),
        }
    }

    /// A field of `phase` in expressions. `tokens` and `commits` are only called if their field is needed, because
    /// counting takes long.
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
            PhaseField::Elapsed => json!(self.now.saturating_sub(self.position.visit().started).max(0) / 1000),
            PhaseField::Commands => counter(COMMANDS),
            PhaseField::Edits => counter(EDITS),
            PhaseField::Commits => json!(commits()),
            PhaseField::Tokens => json!(tokens()),
        }
    }

    /// The current phase, for pace rules.
    pub fn pace_scope(&self) -> PaceScope<'_> {
        PaceScope {
            phase: Some(self.position.phase_key()),
            name: Some(self.position.node().to_owned()),
            // The clock may have been set back.
            started: self.position.visit().started.min(self.now),
            continued: self.position.continued,
            tokens_before: Tokens::default(),
            totals_are_set_aside: self.position.totals_are_set_aside,
            commits_are_set_aside: self.position.commits_are_set_aside,
            memory: &self.state.variables,
        }
    }

    /// The text for an agent whose session begins.
    pub fn introduction(&self) -> String {
        let Self { workflow, position, .. } = self;
        format!(
            "The workflow `{}` is active here, in phase `{}`. Run `linchpin repeat` to print the prompt of this phase, and `linchpin next` to end it.",
            workflow.name,
            position.node()
        )
    }

    /// Counts a call that is allowed as a command, an edit, or both (a shell command that applies a patch).
    pub fn count_call(&self, event: &Event, verdict: &Verdict, changes: &mut StateChanges) {
        let is_permitted = verdict.level < Level::Ask || verdict.not_enforced.is_some();
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

    /// Unsets all variables that belong to the current phase.
    pub fn unset_phase_variables(&self, changes: &mut StateChanges) {
        let is_of_phase = |name: &&String| {
            [COMMANDS, EDITS, TRANSCRIPTS, HAT_SESSIONS].contains(&name.as_str()) || pace_facts::is_phase_variable(name)
        };
        for name in self.state.variables.keys().filter(is_of_phase) {
            changes.workflow_variables.insert(name.clone(), None);
        }
    }
}
