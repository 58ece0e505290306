//! Commands that move a workflow without conditions: `start`, `repeat`, `prev`, `restart`, `abort`. `next` has a file of its
//! own.
//!
//! A move is written in one transaction, and only if the workflow is still at the node at which the move was decided:
//! of two concurrent moves, one is refused, and a killed process leaves either the old or the new state. Only the
//! revision of the workflow's state is checked, not that of the session's.

use std::sync::Arc;

use engine::workflow::Workflow;
use serde_json::json;
use store::{NoteKind, StateChanges};

use super::enter_node::MoveOutput;
use super::stored_state::{StoredState, find_node};
use super::{Step, StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::ActiveWorkflow;
use crate::position::Position;

impl WorkflowCommands<'_> {
    /// Starts a workflow at `node`, or at its first node.
    pub fn start(&self, name: &str, node: Option<&str>) -> Result<Step, WorkflowError> {
        self.may_move("start", || Ok(Some((name.to_owned(), None))))?;
        let stored = self.stored_state()?;
        if let Some(position) = Position::of(&stored.state.variables) {
            let node = position.node().to_owned();
            return Err(WorkflowError::AlreadyActive { workflow: position.workflow, node });
        }
        let workflow = self.workflow(name, None)?;
        let first = node.unwrap_or(&workflow.start);
        find_node(&workflow, first)?;
        let position = Position {
            tier: Some(workflow.tier),
            ..Position::start(name, &workflow.digest, first, self.now, &stored.state.variables)
        };
        let fields = self.fields([("workflow", json!(name)), ("to", json!(first))]);
        self.enter(workflow, position, stored, NoteKind::Start, &fields, MoveOutput::default())
    }

    /// Returns the prompt of the current node.
    pub fn repeat(&self) -> Result<Step, WorkflowError> {
        self.may_move_active("repeat")?;
        let (stored, active) = self.active()?;
        let node = find_node(&active.workflow, active.position.node())?.clone();
        let active = Arc::new(active);
        let prompt = self.prompt(&node, &active, &stored)?;
        Ok(Step::stayed(&active, StepOutcome::Prompt(prompt)))
    }

    /// Goes back to the node from which the current one was reached. No gate is checked.
    pub fn prev(&self) -> Result<Step, WorkflowError> {
        self.may_move_active("prev")?;
        Self::retry_on_conflict(|| {
            let (stored, active) = self.active()?;
            let to = active.position.previous_node().ok_or(WorkflowError::NothingBefore)?.to_owned();
            let position = active.position.went_back(&to, &active.workflow.digest, self.now);
            self.jump(position, "prev", stored, &active)
        })
    }

    /// Goes to the first node again.
    pub fn restart(&self) -> Result<Step, WorkflowError> {
        self.may_move_active("restart")?;
        Self::retry_on_conflict(|| {
            let (stored, active) = self.active()?;
            let Workflow { start, digest, .. } = &active.workflow;
            let position = active.position.moved(start, digest, self.now);
            self.jump(position, "restart", stored, &active)
        })
    }

    /// Ends the workflow. Variables of the session are kept.
    pub fn abort(&self) -> Result<Step, WorkflowError> {
        self.may_move_active("abort")?;
        Self::retry_on_conflict(|| {
            let mut stored = self.stored_state()?;
            // A workflow whose file is broken can be aborted too.
            let position = Position::of(&stored.state.variables).ok_or(WorkflowError::NoWorkflow)?;
            let mut changes = StateChanges::default();
            Position::forget_all(&stored.state.variables, &mut changes);
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
        let mut output = MoveOutput::default();
        active.forget_phase(&mut output.changes);
        self.enter(active.workflow.clone(), to, stored, NoteKind::Move, &fields, output)
    }
}
