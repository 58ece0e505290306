//! `linchpin set`: sets a variable of a workflow or session.

use engine::workflow::Workflow;
use policy::PolicyFolders;
use serde_json::{Value, json};
use store::{NoteKind, StateChanges};

use super::write_move::moved_meanwhile_error;
use super::{WorkflowCommands, WorkflowError};
use crate::position::Position;
use crate::session::AgentSession;

/// The workflow or session that a variable belongs to.
#[derive(Debug, Clone)]
pub enum VariableOwner {
    /// The name of the active workflow.
    Workflow(String),
    Session(AgentSession),
}

impl WorkflowCommands<'_> {
    /// The active workflow, as in the last version of its file that had no errors; in a run, the workflow of the hat.
    pub fn active_workflow(&self) -> Result<Option<Workflow>, WorkflowError> {
        if let Some(hat_phase) = &self.hat_phase {
            return Ok(Some(hat_phase.workflow.clone()));
        }
        let position = Position::of(&self.load_states()?.workflow_state.variables);
        let compiled = position.and_then(|position| {
            self.project.compiled_workflow(
                &position.workflow_name,
                position.tier,
                &self.policy,
                false,
                self.environment,
            )
        });
        Ok(compiled.map(|compiled| compiled.workflow))
    }

    /// Fails if the caller is not allowed to set the variable. `workflow` is the workflow that declares the variable;
    /// `None` if no workflow declares it.
    pub fn require_permission_to_set(&self, name: &str, workflow: Option<&Workflow>) -> Result<(), WorkflowError> {
        self.require_permission("set", || Ok(workflow.map(|workflow| (workflow.name.clone(), Some(workflow.tier)))))?;
        if workflow.is_some() || !self.is_by_agent || self.policy.config.agent_permissions.user_allows("set") {
            return Ok(());
        }
        let user_tiers = PolicyFolders { project: None, user: self.project.tiers.user.clone() };
        let is_declared_by_user =
            policy::load(&user_tiers, &policy::LastGoodPolicy::default(), |_| false).config.knows_variable(name);
        if is_declared_by_user {
            Err(WorkflowError::OfUser { verb: "set", what: format!("variable `{name}`") })
        } else {
            Ok(())
        }
    }

    /// Sets the variable to `value`.
    pub fn set(&self, name: &str, value: &Value, owner: &VariableOwner) -> Result<(), WorkflowError> {
        let change = [(name.to_owned(), Some(value.clone()))].into();
        let (changes, workflow) = match owner {
            VariableOwner::Workflow(name) => {
                (StateChanges { workflow_variables: change, ..StateChanges::default() }, Some(name))
            }
            VariableOwner::Session(_) => (StateChanges { session_variables: change, ..StateChanges::default() }, None),
        };
        let mut fields = self.journal_fields([("name", json!(name)), ("workflow", json!(workflow))]);
        fields.insert("value".to_owned(), value.clone());
        let (root, cwd) = self.root_and_cwd();
        Self::retry_on_conflict(|| {
            let mut stored = self.load_states()?;
            let Some(workflow) = workflow else {
                stored.store.write_note(&self.note(NoteKind::Set, &fields, &changes, &root, &cwd))?;
                return Ok(());
            };
            let position = Position::of(&stored.workflow_state.variables);
            if position.as_ref().is_none_or(|position| position.workflow_name != *workflow) {
                return Err(moved_meanwhile_error(position.as_ref()));
            }
            // The variable can be set at any node, so a move within the workflow does not matter.
            self.write(&mut stored, NoteKind::Set, &fields, &changes).map_err(|error| match error {
                WorkflowError::MovedMeanwhile(_) => WorkflowError::WriteConflict,
                error => error,
            })
        })
    }
}
