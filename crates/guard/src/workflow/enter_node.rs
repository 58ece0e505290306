//! Enters a node: runs its actions, renders its prompt, and writes the move.
//!
//! INVARIANT: `StoredState::workflow` stays as it was read, because the move is written only if the workflow's state has not
//! changed since. Variables that actions set are applied to copies of it, and to `StoredState::session`.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::workflow::{Action, Node, Workflow};
use serde_json::{Map, Value};
use store::{NoteKind, StateChanges};

use super::actions::{ActionOutput, run_actions};
use super::condition::NO_SESSION;
use super::stored_state::{StoredState, find_node};
use super::{Step, StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::ActiveWorkflow;
use crate::position::Position;

/// The state changes and texts that a move's actions make.
#[derive(Default)]
pub(super) struct MoveEffects {
    pub(super) changes: StateChanges,
    /// Texts for the agent.
    texts: Vec<String>,
    /// Notices for the person.
    notices: Vec<String>,
}

impl WorkflowCommands<'_> {
    /// Moves to a node or to an end.
    pub(super) fn enter_node_or_end(
        &self,
        active: &ActiveWorkflow,
        to: &str,
        mut stored: StoredState,
        kind: NoteKind,
        fields: &Map<String, Value>,
        mut output: MoveEffects,
    ) -> Result<Step, WorkflowError> {
        if Workflow::is_end(to) && active.workflow.node(to).is_none() {
            Position::unset_variables(&stored.workflow.variables, &mut output.changes);
            self.write(&mut stored, kind, fields, &output.changes)?;
            let MoveEffects { texts, notices, .. } = output;
            return Ok(Step { texts, notices, ..Step::ended(active.workflow.name.clone(), to) });
        }
        active.unset_phase_variables(&mut output.changes);
        let position =
            active.position.after_move(to, &active.workflow.digest, self.now).with_claims(active.claims.clone());
        self.enter_node(active.workflow.clone(), position, stored, kind, fields, output)
    }

    /// Enters a node: runs its actions, renders its prompt, and then writes the move.
    pub(super) fn enter_node(
        &self,
        workflow: Workflow,
        position: Position,
        mut stored: StoredState,
        kind: NoteKind,
        fields: &Map<String, Value>,
        mut output: MoveEffects,
    ) -> Result<Step, WorkflowError> {
        let node = find_node(&workflow, position.node())?.clone();
        let position = position.with_head_of(&self.project.root);
        let mut state = stored.workflow.clone();
        // `on_enter` sees the variables that `on_exit` set.
        apply(&output.changes.workflow_variables, &mut state.variables);
        apply(&output.changes.session_variables, &mut stored.session.variables);
        let entering = Arc::new(self.active_at(workflow, position, state));
        self.run_node_actions("on_enter", &node.on_enter, &entering, &stored, &mut output);
        let MoveEffects { mut changes, texts, notices } = output;
        let mut state = entering.state.clone();
        apply(&changes.workflow_variables, &mut state.variables);
        let entered = Arc::new(ActiveWorkflow { state, ..(*entering).clone() });
        apply(&changes.session_variables, &mut stored.session.variables);
        let prompt = self.prompt(&node, &entered, &stored)?;
        let workflow = entered.workflow.name.clone();
        if Workflow::is_end(&node.name) {
            // An end may have a node with a prompt, but the workflow is over.
            Position::unset_variables(&entered.state.variables, &mut changes);
            self.write(&mut stored, kind, fields, &changes)?;
            let texts = texts.into_iter().chain([prompt]).filter(|text| !text.trim().is_empty()).collect();
            return Ok(Step { texts, notices, ..Step::ended(workflow, &node.name) });
        }
        entered.position.store(&mut changes);
        self.write(&mut stored, kind, fields, &changes)?;
        Ok(Step { workflow, node: node.name, has_moved: true, outcome: StepOutcome::Prompt(prompt), texts, notices })
    }

    /// Runs the actions in a list (`on_enter`, `on_exit`) of a node.
    pub(super) fn run_node_actions(
        &self,
        list: &str,
        actions: &[Action],
        active: &Arc<ActiveWorkflow>,
        stored: &StoredState,
        output: &mut MoveEffects,
    ) {
        if actions.is_empty() {
            return;
        }
        let (situation, facts) = self.situation_and_facts(active, stored);
        let source = format!("`{list}` of workflow `{}`", active.workflow.name);
        let ActionOutput { texts, notices } =
            run_actions(&source, actions.iter(), &active.workflow.guides, &situation, &facts);
        output.texts.extend(texts);
        output.notices.extend(notices);
        for (name, value) in facts.observed_changes() {
            if active.declares(&name) {
                output.changes.workflow_variables.insert(name, value);
            } else if self.session_owner.is_some() {
                output.changes.session_variables.insert(name, value);
            } else {
                output.notices.push(format!("{source} did not set `{name}`: {NO_SESSION}"));
            }
        }
    }

    pub(super) fn prompt(
        &self,
        node: &Node,
        active: &Arc<ActiveWorkflow>,
        stored: &StoredState,
    ) -> Result<String, WorkflowError> {
        let situation = self.situation_for_prompt(active, stored);
        active
            .workflow
            .rendered(&node.prompt, &situation)
            .map_err(|error| WorkflowError::Prompt { node: node.name.clone(), why: error.to_string() })
    }
}

fn apply(changes: &BTreeMap<String, Option<Value>>, variables: &mut Map<String, Value>) {
    for (name, value) in changes {
        match value {
            Some(value) => variables.insert(name.clone(), value.clone()),
            None => variables.remove(name),
        };
    }
}
