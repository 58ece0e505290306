//! The situations in which a workflow command evaluates expressions.

use std::sync::Arc;

use engine::{Event, EventKind, Situation};
use store::PERSON_SESSION;

use super::WorkflowCommands;
use super::loaded_states::LoadedStates;
use crate::facts::{ActiveWorkflow, LiveFacts, SituationBuilder};
use crate::session::AgentSession;

impl WorkflowCommands<'_> {
    /// The situation in which conditions are evaluated.
    pub(crate) fn situation(&self, active: &Arc<ActiveWorkflow>, stored: &LoadedStates) -> Arc<Situation> {
        self.situation_and_facts(active, stored).0
    }

    /// The situation in which a prompt is rendered. If the session is unknown, its variables have their initial values.
    pub(super) fn situation_for_prompt(&self, active: &Arc<ActiveWorkflow>, stored: &LoadedStates) -> Arc<Situation> {
        self.situation_builder()
            .situation_in_workflow(active, &self.policy, &Arc::new(self.event()), Some(&stored.session_state))
            .0
    }

    /// The situation in which conditions are evaluated, with its facts. If the session is unknown, its variables are
    /// missing facts.
    pub(super) fn situation_and_facts(
        &self,
        active: &Arc<ActiveWorkflow>,
        stored: &LoadedStates,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        self.situation_builder().situation_in_workflow(
            active,
            &self.policy,
            &Arc::new(self.event()),
            stored.known_session(),
        )
    }

    pub(super) fn situation_builder(&self) -> SituationBuilder<'_> {
        let (policy, hat_phase) = (Arc::clone(&self.policy), self.hat_phase.clone());
        SituationBuilder::for_command(self.project, policy, hat_phase, self.environment)
    }

    /// An event that stands for the command. It is never recorded; expressions only use its agent, session and time. So
    /// the event is named `next` for every command.
    pub(super) fn event(&self) -> Event {
        let (agent, session) = match &self.agent_session {
            Some(AgentSession { agent, id }) => (agent.as_str(), id.clone()),
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
}
