//! The stored state of the workflow and the session that a command works with, and the situation for its expressions.

use std::sync::Arc;

use engine::rules::Tier;
use engine::workflow::Workflow;
use engine::{Event, EventKind, Situation, suggest};
use store::{PERSON_SESSION, SessionKey, SessionState, Store};

use super::{Moves, Refusal};
use crate::facts::{Active, LiveFacts, Position, SituationBuilder};
use crate::session::SessionOwner;

/// Other processes hold the journal's lock for milliseconds only.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// The stored state when a command begins.
pub(crate) struct Scene {
    pub(crate) store: Store,
    /// The workflow's state.
    pub(crate) state: SessionState,
    /// The state of the session whose variables are used; empty if the session is unknown.
    pub(super) session: SessionState,
    is_session_known: bool,
}

impl Scene {
    pub(super) fn known_session(&self) -> Option<&SessionState> {
        self.is_session_known.then_some(&self.session)
    }
}

impl Moves<'_> {
    pub(crate) fn scene(&self) -> Result<Scene, Refusal> {
        let store = Store::open(&self.project.store(self.environment), self.options())?;
        self.project.had_journal(self.environment);
        let state = store.workflow()?;
        let known = match &self.session {
            Some(known) => Some(known.clone()),
            None => self.session_of_hat(&store, &state)?,
        };
        let session = match &known {
            Some(SessionOwner { agent, session }) => store.session(SessionKey { agent, session })?,
            None => SessionState::default(),
        };
        Ok(Scene { store, state, session, is_session_known: known.is_some() })
    }

    /// The session of the current hat, if exactly one had events since the hat was put on.
    fn session_of_hat(&self, store: &Store, state: &SessionState) -> Result<Option<SessionOwner>, Refusal> {
        let position = self.stage.as_ref().and_then(|_| Position::of(&state.variables));
        let Some(position) = position else { return Ok(None) };
        let mut heard_of = store.sessions_since(position.visit().started, 2)?;
        let only = heard_of.pop().filter(|_| heard_of.is_empty());
        Ok(only.map(|(agent, session)| SessionOwner { agent, session }))
    }

    pub(crate) fn active(&self) -> Result<(Scene, Active), Refusal> {
        let scene = self.scene()?;
        let active = self.active_in(&scene)?;
        Ok((scene, active))
    }

    pub(super) fn active_in(&self, scene: &Scene) -> Result<Active, Refusal> {
        let position = Position::of(&scene.state.variables).ok_or(Refusal::NoWorkflow)?;
        let workflow = self.workflow(&position.workflow, position.tier).map_err(|refusal| match refusal {
            Refusal::BrokenWorkflow { name, problem } => {
                Refusal::BrokenUnderWay { workflow: name, node: position.node().to_owned(), problem }
            }
            other => other,
        })?;
        Ok(self.active_at(workflow, position, scene.state.clone()))
    }

    pub(crate) fn active_at(&self, workflow: Workflow, position: Position, state: SessionState) -> Active {
        let claims = position.claims.clone();
        Active { workflow, position, state, claims, now: self.now }
    }

    /// The workflow as its file is now; in a run, the hat's.
    pub(super) fn workflow(&self, name: &str, tier: Option<Tier>) -> Result<Workflow, Refusal> {
        if let Some(stage) = &self.stage {
            return Ok(stage.workflow.clone());
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
            return Err(Refusal::UnknownWorkflow { name: name.to_owned(), close, known });
        };
        // The error may also be in one of its guides.
        let problem = found.errors().find(|problem| problem.source.name == file.source).or(found.errors().next());
        let problem = problem.map_or_else(|| "it is broken".to_owned(), policy::Diagnostic::line);
        Err(Refusal::BrokenWorkflow { name: name.to_owned(), problem })
    }

    pub(crate) fn situation(&self, active: &Arc<Active>, scene: &Scene) -> Arc<Situation> {
        self.known(active, scene).0
    }

    /// The situation for a prompt. If the session is unknown, its variables have their declared values.
    pub(super) fn situation_for_prompt(&self, active: &Arc<Active>, scene: &Scene) -> Arc<Situation> {
        self.builder().in_workflow(active, &self.policy, &Arc::new(self.event()), Some(&scene.session)).0
    }

    pub(super) fn known(&self, active: &Arc<Active>, scene: &Scene) -> (Arc<Situation>, Arc<LiveFacts>) {
        self.builder().in_workflow(active, &self.policy, &Arc::new(self.event()), scene.known_session())
    }

    pub(super) fn builder(&self) -> SituationBuilder<'_> {
        let (policy, stage) = (Arc::clone(&self.policy), self.stage.clone());
        SituationBuilder::for_command(self.project, policy, stage, self.environment)
    }

    /// The move as an event.
    pub(super) fn event(&self) -> Event {
        let (agent, session) = match &self.session {
            Some(SessionOwner { agent, session }) => (agent.as_str(), session.clone()),
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

    pub(super) fn options(&self) -> store::StoreOptions {
        store::StoreOptions { busy: PATIENCE, now: self.now, run: self.stage.as_ref().map(|stage| stage.run) }
    }
}
