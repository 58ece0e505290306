//! Loads what a workflow command works on: the stored states of the workflow and of the session, and the active
//! workflow.

use engine::rules::Tier;
use engine::suggest;
use engine::workflow::{Node, Workflow};
use store::{SessionKey, Store, StoredState};

use super::{WorkflowCommands, WorkflowError};
use crate::facts::ActiveWorkflow;
use crate::position::Position;
use crate::session::{AgentSession, hat_sessions};

/// How long to wait for the journal's lock. Other processes hold it only for milliseconds.
const LOCK_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// The stored states when a command begins.
pub(crate) struct LoadedStates {
    pub(crate) store: Store,
    /// The state of the workflow, as it was read. It must not be changed: a move is only written if the journal still
    /// has the same state.
    pub(crate) workflow_state: StoredState,
    /// The state of the session whose variables are used; empty if the session is unknown.
    pub(super) session_state: StoredState,
    is_session_known: bool,
}

impl LoadedStates {
    /// The state of the session; `None` if the session is unknown.
    pub(super) fn known_session(&self) -> Option<&StoredState> {
        self.is_session_known.then_some(&self.session_state)
    }
}

impl WorkflowCommands<'_> {
    /// Opens the journal and reads the states.
    pub(crate) fn load_states(&self) -> Result<LoadedStates, WorkflowError> {
        let store = Store::open(&self.project.journal_path(self.environment), self.store_options())?;
        self.project.mark_has_journal(self.environment);
        let workflow_state = store.workflow_state()?;
        let hat_session = || self.hat_phase.as_ref().and_then(|_| hat_sessions::only(&workflow_state.variables));
        let agent_session = self.agent_session.clone().or_else(hat_session);
        let session_state = match &agent_session {
            Some(AgentSession { agent, id }) => store.session_state(SessionKey { agent, session: id })?,
            None => StoredState::default(),
        };
        Ok(LoadedStates { store, workflow_state, session_state, is_session_known: agent_session.is_some() })
    }

    /// The stored states and the active workflow.
    pub(crate) fn load_active(&self) -> Result<(LoadedStates, ActiveWorkflow), WorkflowError> {
        let stored = self.load_states()?;
        let active = self.active_in(&stored)?;
        Ok((stored, active))
    }

    /// The active workflow, by the stored states.
    pub(super) fn active_in(&self, stored: &LoadedStates) -> Result<ActiveWorkflow, WorkflowError> {
        let position = Position::of(&stored.workflow_state.variables).ok_or(WorkflowError::NoWorkflow)?;
        let workflow = self.load_workflow(&position.workflow_name, position.tier).map_err(|error| match error {
            WorkflowError::BrokenWorkflow { name, problem } => {
                WorkflowError::BrokenUnderWay { workflow: name, node: position.node().to_owned(), problem }
            }
            other => other,
        })?;
        Ok(self.active_at(workflow, position, stored.workflow_state.clone()))
    }

    /// The workflow at a position.
    pub(crate) fn active_at(&self, workflow: Workflow, position: Position, state: StoredState) -> ActiveWorkflow {
        let claims = position.claims.clone();
        ActiveWorkflow { workflow, position, state, claims, now: self.now }
    }

    /// Loads a workflow as its file is now. In a run, returns the workflow of the hat.
    pub(super) fn load_workflow(&self, name: &str, tier: Option<Tier>) -> Result<Workflow, WorkflowError> {
        if let Some(hat_phase) = &self.hat_phase {
            return Ok(hat_phase.workflow.clone());
        }
        let compiled = self.project.compiled_workflow(name, tier, &self.policy, true, self.environment);
        if let Some(compiled) = compiled.filter(|compiled| !compiled.is_last_good) {
            return Ok(compiled.workflow);
        }
        let workflows = policy::workflows(&self.project.tiers, &self.project.load(self.environment));
        let file = workflows.files.iter().find(|file| file.name == name && tier.is_none_or(|tier| file.tier == tier));
        let Some(file) = file else {
            let known: Vec<String> = workflows.names().into_iter().map(str::to_owned).collect();
            let close = suggest::closest(name, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(WorkflowError::UnknownWorkflow { name: name.to_owned(), close, known });
        };
        // The error may also be in one of the workflow's guides. So if no error is in the workflow's own file, the
        // first error of all workflows is shown.
        let problem =
            workflows.errors().find(|problem| problem.source.name == file.source).or(workflows.errors().next());
        let problem = problem.map_or_else(|| "it is broken".to_owned(), policy::Diagnostic::line);
        Err(WorkflowError::BrokenWorkflow { name: name.to_owned(), problem })
    }

    pub(super) fn store_options(&self) -> store::StoreOptions {
        store::StoreOptions {
            busy_timeout: LOCK_TIMEOUT,
            now: self.now,
            run: self.hat_phase.as_ref().map(|hat_phase| hat_phase.run),
        }
    }
}

/// The node with this name.
pub(super) fn find_node<'w>(workflow: &'w Workflow, node: &str) -> Result<&'w Node, WorkflowError> {
    workflow.node(node).ok_or_else(|| WorkflowError::NodeNotFound {
        workflow: workflow.name.clone(),
        node: node.to_owned(),
        nodes: workflow.nodes.iter().map(|node| node.name.clone()).collect(),
    })
}
