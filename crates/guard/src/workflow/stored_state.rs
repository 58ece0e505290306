//! The stored state of the workflow and of the session that a command uses, and the situation in which its expressions
//! are evaluated.

use std::sync::Arc;

use engine::rules::Tier;
use engine::workflow::{Node, Workflow};
use engine::{Event, EventKind, Situation, suggest};
use store::{PERSON_SESSION, SessionKey, SessionState, Store};

use super::{WorkflowCommands, WorkflowError};
use crate::facts::{ActiveWorkflow, LiveFacts, SessionContext};
use crate::position::Position;
use crate::session::{SessionOwner, hat_sessions};

/// How long to wait for the journal's lock. Other processes hold it only for milliseconds.
const LOCK_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// The stored state when a command begins.
pub(crate) struct StoredState {
    pub(crate) store: Store,
    /// The workflow's state.
    pub(crate) workflow: SessionState,
    /// The state of the session whose variables are used; empty if the session is unknown.
    pub(super) session: SessionState,
    is_session_known: bool,
}

impl StoredState {
    pub(super) fn known_session(&self) -> Option<&SessionState> {
        self.is_session_known.then_some(&self.session)
    }
}

impl WorkflowCommands<'_> {
    pub(crate) fn stored_state(&self) -> Result<StoredState, WorkflowError> {
        let store = Store::open(&self.project.journal_path(self.environment), self.store_options())?;
        self.project.record_journal(self.environment);
        let workflow = store.workflow()?;
        let hat_session = || self.hat_phase.as_ref().and_then(|_| hat_sessions::only(&workflow.variables));
        let owner = self.session_owner.clone().or_else(hat_session);
        let session = match &owner {
            Some(SessionOwner { agent, id }) => store.session(SessionKey { agent, session: id })?,
            None => SessionState::default(),
        };
        Ok(StoredState { store, workflow, session, is_session_known: owner.is_some() })
    }

    /// The stored state and the active workflow.
    pub(crate) fn load_active(&self) -> Result<(StoredState, ActiveWorkflow), WorkflowError> {
        let stored = self.stored_state()?;
        let active = self.active_in(&stored)?;
        Ok((stored, active))
    }

    pub(super) fn active_in(&self, stored: &StoredState) -> Result<ActiveWorkflow, WorkflowError> {
        let position = Position::of(&stored.workflow.variables).ok_or(WorkflowError::NoWorkflow)?;
        let workflow = self.workflow(&position.workflow, position.tier).map_err(|error| match error {
            WorkflowError::BrokenWorkflow { name, problem } => {
                WorkflowError::BrokenUnderWay { workflow: name, node: position.node().to_owned(), problem }
            }
            other => other,
        })?;
        Ok(self.active_at(workflow, position, stored.workflow.clone()))
    }

    pub(crate) fn active_at(&self, workflow: Workflow, position: Position, state: SessionState) -> ActiveWorkflow {
        let claims = position.claims.clone();
        ActiveWorkflow { workflow, position, state, claims, now: self.now }
    }

    /// The workflow as its file is now; in a run, the workflow of the hat.
    pub(super) fn workflow(&self, name: &str, tier: Option<Tier>) -> Result<Workflow, WorkflowError> {
        if let Some(hat_phase) = &self.hat_phase {
            return Ok(hat_phase.workflow.clone());
        }
        let compiled = self.project.workflow(name, tier, &self.policy, true, self.environment);
        if let Some(compiled) = compiled.filter(|compiled| !compiled.is_last_good) {
            return Ok(compiled.workflow);
        }
        let found = policy::workflows(&self.project.tiers, &self.project.load(self.environment));
        let file = found.files.iter().find(|file| file.name == name && tier.is_none_or(|tier| file.tier == tier));
        let Some(file) = file else {
            let known: Vec<String> = found.names().into_iter().map(str::to_owned).collect();
            let close = suggest::closest(name, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(WorkflowError::UnknownWorkflow { name: name.to_owned(), close, known });
        };
        // The error may also be in one of its guides.
        let problem = found.errors().find(|problem| problem.source.name == file.source).or(found.errors().next());
        let problem = problem.map_or_else(|| "it is broken".to_owned(), policy::Diagnostic::line);
        Err(WorkflowError::BrokenWorkflow { name: name.to_owned(), problem })
    }

    pub(crate) fn situation(&self, active: &Arc<ActiveWorkflow>, stored: &StoredState) -> Arc<Situation> {
        self.situation_and_facts(active, stored).0
    }

    /// The situation in which a prompt is rendered. If the session is unknown, its variables have their declared
    /// values.
    pub(super) fn situation_for_prompt(&self, active: &Arc<ActiveWorkflow>, stored: &StoredState) -> Arc<Situation> {
        self.session_context()
            .situation_in_workflow(active, &self.policy, &Arc::new(self.event()), Some(&stored.session))
            .0
    }

    pub(super) fn situation_and_facts(
        &self,
        active: &Arc<ActiveWorkflow>,
        stored: &StoredState,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        self.session_context().situation_in_workflow(
            active,
            &self.policy,
            &Arc::new(self.event()),
            stored.known_session(),
        )
    }

    pub(super) fn session_context(&self) -> SessionContext<'_> {
        let (policy, hat_phase) = (Arc::clone(&self.policy), self.hat_phase.clone());
        SessionContext::for_command(self.project, policy, hat_phase, self.environment)
    }

    /// An event that represents the command. Every command's event is named `next`, because it is never recorded: it only
    /// gives expressions an agent, a session and a time.
    pub(super) fn event(&self) -> Event {
        let (agent, session) = match &self.session_owner {
            Some(SessionOwner { agent, id }) => (agent.as_str(), id.clone()),
            None => (PERSON_SESSION.agent, String::new()),
        };
        Event {
            kind: EventKind::Other,
            name: "next".to_owned(),
            session,
            cwd: self.project.root.to_string_lossy().into_owned(),
            ..Event::unknown(agent, self.now)
        }
    }

    pub(super) fn store_options(&self) -> store::StoreOptions {
        store::StoreOptions {
            busy_timeout: LOCK_TIMEOUT,
            now: self.now,
            run: self.hat_phase.as_ref().map(|hat_phase| hat_phase.run),
        }
    }
}

pub(super) fn find_node<'w>(workflow: &'w Workflow, node: &str) -> Result<&'w Node, WorkflowError> {
    workflow.node(node).ok_or_else(|| WorkflowError::NodeNotFound {
        workflow: workflow.name.clone(),
        node: node.to_owned(),
        nodes: workflow.nodes.iter().map(|node| node.name.clone()).collect(),
    })
}
