//! Commands that move a workflow without checking gates: `start`, `prev`, `restart`, `abort`; and `repeat`, which only
//! prints the current prompt. `next` has its own file.
//!
//! A move is written in one transaction, and only if the workflow is still at the node at which the move was decided:
//! of two concurrent moves, one is refused, and a killed process leaves either the old or the new state. Only the
//! revision of the workflow's state is checked, not the revision of the session's state.

use std::sync::Arc;

use engine::workflow::Workflow;
use serde_json::json;
use store::{NoteKind, StateChanges};

use super::enter_node::MoveEffects;
use super::stored_state::{StoredState, find_node};
use super::{Step, StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::ActiveWorkflow;
use crate::position::Position;

impl WorkflowCommands<'_> {
    /// Starts a workflow at `node`, or at its first node.
    pub fn start(&self, name: &str, node: Option<&str>) -> Result<Step, WorkflowError> {
        self.require_permission("start", || Ok(Some((name.to_owned(), None))))?;
        let stored = self.stored_state()?;
        if let Some(position) = Position::of(&stored.workflow.variables) {
            let node = position.node().to_owned();
            return Err(WorkflowError::AlreadyActive { workflow: position.workflow, node });
        }
        let workflow = self.workflow(name, None)?;
        let first = node.unwrap_or(&workflow.start);
        find_node(&workflow, first)?;
        let position = Position {
            tier: Some(workflow.tier),
            ..Position::start(name, &workflow.digest, first, self.now, &stored.workflow.variables)
        };
        let fields = self.fields([("workflow", json!(name)), ("to", json!(first))]);
        self.enter_node(workflow, position, stored, NoteKind::Start, &fields, MoveEffects::default())
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

    /// Goes back to the node from which the current one was reached. No gate is checked.
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
            let mut stored = self.stored_state()?;
            // A workflow whose file is broken can be aborted too.
            let position = Position::of(&stored.workflow.variables).ok_or(WorkflowError::NoWorkflow)?;
            let mut changes = StateChanges::default();
            Position::unset_variables(&stored.workflow.variables, &mut changes);
            let fields = self.fields([("workflow", json!(position.workflow)), ("from", json!(position.node()))]);
            self.write(&mut stored, NoteKind::Abort, &fields, &changes)?;
            Ok(Step::ended(position.workflow, Workflow::ABORTED))
        })
    }

    fn jump(
        &self,
        to: Position,
        how: &str,
        stored: StoredState,
        active: &ActiveWorkflow,
    ) -> Result<Step, WorkflowError> {
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(active.position.node())),
            ("to", json!(to.node())),
            ("how", json!(how)),
        ]);
        let mut output = MoveEffects::default();
        active.unset_phase_variables(&mut output.changes);
        self.enter_node(active.workflow.clone(), to, stored, NoteKind::Move, &fields, output)
    }
}
