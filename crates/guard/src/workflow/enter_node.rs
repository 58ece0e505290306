//! Enters a node: runs its actions, renders its prompt, and writes the move.
//!
//! Actions and the prompt see the variables that earlier actions of the same move set. These variables are applied to a
//! copy of the workflow's state, because [`LoadedStates::workflow_state`] must stay as it was read, and to
//! [`LoadedStates::session_state`].

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::workflow::{Node, Workflow, WorkflowAction};
use serde_json::{Map, Value};
use store::{NoteKind, StateChanges, StoredState};

use super::actions::{ActionOutput, run_actions};
use super::condition::NO_SESSION;
use super::loaded_states::{LoadedStates, find_node};
use super::{Step, StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::ActiveWorkflow;
use crate::position::Position;

/// The state changes and texts of a move.
#[derive(Default)]
pub(super) struct MoveEffects {
    pub(super) changes: StateChanges,
    /// Texts for the agent.
    texts: Vec<String>,
    /// Notices for the person.
    notices: Vec<String>,
}

/// The kind and fields of the note in the journal about a move.
#[derive(Clone, Copy)]
pub(super) struct MoveNote<'n> {
    pub(super) kind: NoteKind,
    pub(super) fields: &'n Map<String, Value>,
}

impl WorkflowCommands<'_> {
    /// Moves to a node or to an end. `effects` has the effects of `on_exit`.
    pub(super) fn enter_node_or_end(
        &self,
        active: &ActiveWorkflow,
        to: &str,
        mut stored: LoadedStates,
        move_note: MoveNote<'_>,
        mut effects: MoveEffects,
    ) -> Result<Step, WorkflowError> {
        if Workflow::is_end(to) && active.workflow.node(to).is_none() {
            Position::unset_variables(&stored.workflow_state.variables, &mut effects.changes);
            self.write(&mut stored, move_note.kind, move_note.fields, &effects.changes)?;
            let MoveEffects { texts, notices, .. } = effects;
            return Ok(Step { texts, notices, ..Step::ended(active.workflow.name.clone(), to) });
        }
        active.unset_phase_variables(&mut effects.changes);
        let position =
            active.position.after_move(to, &active.workflow.digest, self.now).with_claims(active.claims.clone());
        self.enter_node(active.workflow.clone(), position, stored, move_note, effects)
    }

    /// Enters the node at `position`: runs its `on_enter` actions, renders its prompt, and writes the move. `effects`
    /// has the effects of the move so far.
    pub(super) fn enter_node(
        &self,
        workflow: Workflow,
        position: Position,
        mut stored: LoadedStates,
        move_note: MoveNote<'_>,
        mut effects: MoveEffects,
    ) -> Result<Step, WorkflowError> {
        let node = find_node(&workflow, position.node())?.clone();
        let position = position.with_head_of(&self.project.root);
        // `on_enter` sees the variables that `on_exit` set.
        let state = with_changes(&stored.workflow_state, &effects.changes.workflow_variables);
        stored.session_state = with_changes(&stored.session_state, &effects.changes.session_variables);
        let before_actions = Arc::new(self.active_at(workflow, position, state));
        self.run_node_actions("on_enter", &node.on_enter, &before_actions, &stored, &mut effects);

        // The prompt sees the variables that `on_enter` set.
        let state = with_changes(&before_actions.state, &effects.changes.workflow_variables);
        stored.session_state = with_changes(&stored.session_state, &effects.changes.session_variables);
        let after_actions = Arc::new(ActiveWorkflow { state, ..(*before_actions).clone() });
        let prompt = self.prompt(&node, &after_actions, &stored)?;

        let MoveEffects { mut changes, texts, notices } = effects;
        let workflow_name = after_actions.workflow.name.clone();
        if Workflow::is_end(&node.name) {
            // Even if the end is a node with a prompt, the workflow is over.
            Position::unset_variables(&after_actions.state.variables, &mut changes);
            self.write(&mut stored, move_note.kind, move_note.fields, &changes)?;
            let texts = texts.into_iter().chain([prompt]).filter(|text| !text.trim().is_empty()).collect();
            return Ok(Step { texts, notices, ..Step::ended(workflow_name, &node.name) });
        }
        after_actions.position.add_to(&mut changes);
        self.write(&mut stored, move_note.kind, move_note.fields, &changes)?;
        let outcome = StepOutcome::Prompt(prompt);
        Ok(Step { workflow_name, node: node.name, has_moved: true, outcome, texts, notices })
    }

    /// Runs a list of actions of a node and adds what they did to `effects`. `list` is `on_enter` or `on_exit`.
    pub(super) fn run_node_actions(
        &self,
        list: &str,
        actions: &[WorkflowAction],
        active: &Arc<ActiveWorkflow>,
        stored: &LoadedStates,
        effects: &mut MoveEffects,
    ) {
        if actions.is_empty() {
            return;
        }
        let (situation, facts) = self.situation_and_facts(active, stored);
        let source = format!("`{list}` of workflow `{}`", active.workflow.name);
        let ActionOutput { texts, notices, changes } =
            run_actions(&source, actions.iter(), &active.workflow.guides, &situation, &facts);
        effects.texts.extend(texts);
        effects.notices.extend(notices);
        for (name, value) in changes {
            if active.declares(&name) {
                effects.changes.workflow_variables.insert(name, value);
            } else if self.agent_session.is_some() {
                effects.changes.session_variables.insert(name, value);
            } else {
                effects.notices.push(format!("{source} did not set `{name}`: {NO_SESSION}"));
            }
        }
    }

    /// The node's prompt.
    pub(super) fn prompt(
        &self,
        node: &Node,
        active: &Arc<ActiveWorkflow>,
        stored: &LoadedStates,
    ) -> Result<String, WorkflowError> {
        let situation = self.situation_for_prompt(active, stored);
        active
            .workflow
            .render_prompt(&node.prompt, &situation)
            .map_err(|error| WorkflowError::Prompt { node: node.name.clone(), why: error.to_string() })
    }
}

/// The state with these changes of its variables.
fn with_changes(state: &StoredState, changes: &BTreeMap<String, Option<Value>>) -> StoredState {
    let mut state = state.clone();
    for (name, value) in changes {
        match value {
            Some(value) => state.variables.insert(name.clone(), value.clone()),
            None => state.variables.remove(name),
        };
    }
    state
}
