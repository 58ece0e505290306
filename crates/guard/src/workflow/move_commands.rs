//! The commands that move a workflow without checking gates: `linchpin start`, `linchpin prev`, `linchpin restart` and
//! `linchpin abort`. Also `linchpin repeat`, which returns the current prompt. `linchpin next` has its own file.

use std::sync::Arc;

use engine::workflow::Workflow;
use serde_json::json;
use store::{NoteKind, StateChanges};

use super::enter_node::{MoveEffects, MoveNote};
use super::loaded_states::{LoadedStates, find_node};
use super::{Step, StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::ActiveWorkflow;
use crate::position::Position;

impl WorkflowCommands<'_> {
    /// Starts a workflow at `node`, or at its first node.
    pub fn start(&self, name: &str, node: Option<&str>) -> Result<Step, WorkflowError> {
        self.require_permission("start", || Ok(Some((name.to_owned(), None))))?;
        let stored = self.load_states()?;
        if let Some(position) = Position::of(&stored.workflow_state.variables) {
            let node = position.node().to_owned();
            return Err(WorkflowError::AlreadyActive { workflow: position.workflow_name, node });
        }
        let workflow = self.load_workflow(name, None)?;
        let first = node.unwrap_or(&workflow.start);
        find_node(&workflow, first)?;
        let position = Position {
            tier: Some(workflow.tier),
            ..Position::start(name, &workflow.digest, first, self.now, &stored.workflow_state.variables)
        };
        let fields = self.journal_fields([("workflow", json!(name)), ("to", json!(first))]);
        let move_note = MoveNote { kind: NoteKind::Start, fields: &fields };
        self.enter_node(workflow, position, stored, move_note, MoveEffects::default())
    }

    /// Returns the prompt of the current node.
    pub fn repeat(&self) -> Result<Step, WorkflowError> {
        self.require_permission_for_active("repeat")?;
        let (stored, active) = self.load_active()?;
        let node = find_node(&active.workflow, active.position.node())?.clone();
        let active = Arc::new(active);
        let prompt = self.prompt(&node, &active, &stored)?;
        Ok(Step::stayed(&active, StepOutcome::Prompt(prompt)))
    }

    /// Goes back to the node from which the current node was reached. No gate is checked.
    pub fn prev(&self) -> Result<Step, WorkflowError> {
        self.require_permission_for_active("prev")?;
        Self::retry_on_conflict(|| {
            let (stored, active) = self.load_active()?;
            let to = active.position.previous_node().ok_or(WorkflowError::NothingBefore)?.to_owned();
            let position = active.position.after_prev(&to, &active.workflow.digest, self.now);
            self.jump(position, "prev", stored, &active)
        })
    }

    /// Goes to the first node again.
    pub fn restart(&self) -> Result<Step, WorkflowError> {
        self.require_permission_for_active("restart")?;
        Self::retry_on_conflict(|| {
            let (stored, active) = self.load_active()?;
            let Workflow { start, digest, .. } = &active.workflow;
            let position = active.position.after_move(start, digest, self.now);
            self.jump(position, "restart", stored, &active)
        })
    }

    /// Ends the workflow. Variables of the session are kept.
    pub fn abort(&self) -> Result<Step, WorkflowError> {
        self.require_permission_for_active("abort")?;
        Self::retry_on_conflict(|| {
            let mut stored = self.load_states()?;
            // A workflow whose file is broken can be aborted too.
            let position = Position::of(&stored.workflow_state.variables).ok_or(WorkflowError::NoWorkflow)?;
            let mut changes = StateChanges::default();
            Position::unset_variables(&stored.workflow_state.variables, &mut changes);
            let fields =
                self.journal_fields([("workflow", json!(position.workflow_name)), ("from", json!(position.node()))]);
            self.write(&mut stored, NoteKind::Abort, &fields, &changes)?;
            Ok(Step::ended(position.workflow_name, Workflow::ABORTED))
        })
    }

    /// Moves to a node without running `on_exit`. `how` is the command, for the journal.
    fn jump(
        &self,
        to: Position,
        how: &str,
        stored: LoadedStates,
        active: &ActiveWorkflow,
    ) -> Result<Step, WorkflowError> {
        let fields = self.journal_fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(active.position.node())),
            ("to", json!(to.node())),
            ("how", json!(how)),
        ]);
        let mut effects = MoveEffects::default();
        active.unset_phase_variables(&mut effects.changes);
        let move_note = MoveNote { kind: NoteKind::Move, fields: &fields };
        self.enter_node(active.workflow.clone(), to, stored, move_note, effects)
    }
}
