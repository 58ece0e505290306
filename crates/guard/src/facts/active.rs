use engine::facts::{PhaseField, WorkflowField};
use engine::pace::Tokens;
use engine::workflow::{Node, Workflow};
use engine::{Event, EventKind, Level, Verdict};
use path::Access;
use serde_json::{Map, Value, json};
use store::{SessionState, StateChanges};

use super::pace_facts;
use super::pace_facts::PaceScope;
use super::position::Position;
use super::token_count::TRANSCRIPTS;

/// The variables that count what happened in the current phase.
const COMMANDS: &str = "_commands";
const EDITS: &str = "_edits";

/// A workflow that is active, as a judgement knows it.
#[derive(Debug, Clone)]
pub struct Active {
    pub workflow: Workflow,
    pub position: Position,
    /// What is kept of it.
    pub state: SessionState,
    /// What was claimed with the move that is being decided, else with the one that led here.
    pub claims: Map<String, Value>,
    /// Milliseconds since 1970.
    pub now: i64,
}

impl Active {
    /// None where the workflow no longer has the node.
    pub fn node(&self) -> Option<&Node> {
        self.workflow.node(self.position.node())
    }

    /// Whether a variable is the workflow's own.
    pub fn declares(&self, variable: &str) -> bool {
        self.workflow.variables.contains_key(variable)
    }

    /// Whether somebody may claim this in the workflow.
    pub fn claims_include(&self, name: &str) -> bool {
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

    /// A field of `phase` in expressions. `tokens` and `commits` are asked only where they are meant: to count them takes longer.
    pub fn phase_field(
        &self,
        field: PhaseField,
        tokens: impl FnOnce() -> Option<u64>,
        commits: impl FnOnce() -> Option<u32>,
    ) -> Value {
        let counted = |name: &str| self.state.variables.get(name).cloned().unwrap_or_else(|| json!(0));
        match field {
            PhaseField::Name => json!(self.position.node()),
            PhaseField::Visit => json!(self.position.visits()),
            PhaseField::Elapsed => json!(self.now.saturating_sub(self.position.visit().started).max(0) / 1000),
            PhaseField::Commands => counted(COMMANDS),
            PhaseField::Edits => counted(EDITS),
            PhaseField::Commits => json!(commits()),
            PhaseField::Tokens => json!(tokens()),
        }
    }

    /// The phase, as pace rules know it.
    pub fn pace_scope(&self) -> PaceScope<'_> {
        PaceScope {
            phase: Some(self.position.phase()),
            name: Some(self.position.node().to_owned()),
            // A clock may have been set back.
            started: self.position.visit().started.min(self.now),
            continued: self.position.continued,
            tokens_before: Tokens::default(),
            is_past_totals: self.position.is_past_totals,
            is_past_commits: self.position.is_past_commits,
            memory: &self.state.variables,
        }
    }

    /// What an agent whose session begins has to know.
    pub fn introduction(&self) -> String {
        let Self { workflow, position, .. } = self;
        format!(
            "The workflow `{}` is active here, at `{}`: `linchpin repeat` prints what is asked for now, and `linchpin next` ends this phase.",
            workflow.name,
            position.node()
        )
    }

    /// Counts a call that is let through: a command, an edit, or a patch in a shell, which is both.
    pub fn count(&self, event: &Event, verdict: &Verdict, changes: &mut StateChanges) {
        let is_let_through = verdict.level < Level::Ask || verdict.not_enforced.is_some();
        let Some(call) = event.tool.as_ref().filter(|_| event.kind == EventKind::BeforeTool && is_let_through) else {
            return;
        };
        let is_edit = call.mcp.is_empty() && call.files.iter().any(|file| file.access != Some(Access::Read));
        let is_command = call.shell.is_some();
        for name in [is_command.then_some(COMMANDS), is_edit.then_some(EDITS)].into_iter().flatten() {
            let number = self.state.variables.get(name).and_then(Value::as_u64).unwrap_or(0);
            changes.workflow.insert(name.to_owned(), Some(json!(number + 1)));
        }
    }

    /// A new phase starts clean: whatever was kept of the last one is unset.
    pub fn forget_phase(&self, changes: &mut StateChanges) {
        let of_phase =
            |name: &&String| [COMMANDS, EDITS, TRANSCRIPTS].contains(&name.as_str()) || pace_facts::is_of_phase(name);
        for name in self.state.variables.keys().filter(of_phase) {
            changes.workflow.insert(name.clone(), None);
        }
    }
}
