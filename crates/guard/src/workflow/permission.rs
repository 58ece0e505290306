//! Whether the caller may move the workflow: in a run, as an agent, or as a person.

use engine::rules::Tier;

use super::{WorkflowCommands, WorkflowError};
use crate::position::Position;

impl WorkflowCommands<'_> {
    /// Checks whether the caller may run the command. `moved` returns the workflow that the command would move, if any.
    pub(super) fn may_move(
        &self,
        verb: &'static str,
        moved: impl FnOnce() -> Result<Option<(String, Option<Tier>)>, WorkflowError>,
    ) -> Result<(), WorkflowError> {
        // `continue` and `set` are allowed in a run: rules of a hat interrupt too, and a hat's workflow may declare
        // variables.
        if self.hat_phase.is_some() && !["continue", "set"].contains(&verb) {
            return Err(WorkflowError::InRun(verb));
        }
        let config = &self.policy.config;
        if !self.is_by_agent || config.agent_permissions.user_allows(verb) {
            return Ok(());
        }
        if !config.agent_permissions.allows(verb) {
            return Err(WorkflowError::NotForAgents(verb));
        }
        // A project's permissions for agents do not apply to the user's own workflows.
        let moved = if self.hat_phase.is_none() { moved()? } else { None };
        let users = moved.filter(|(name, tier)| {
            let workflow = self.project.workflow(name, *tier, &self.policy, false, self.environment);
            workflow.is_some_and(|compiled| compiled.workflow.tier == Tier::User)
        });
        users.map_or(Ok(()), |(name, _)| Err(WorkflowError::OfUser { verb, what: format!("workflow `{name}`") }))
    }

    pub(super) fn may_move_active(&self, verb: &'static str) -> Result<(), WorkflowError> {
        self.may_move(verb, || {
            let position = Position::of(&self.stored_state()?.state.variables);
            Ok(position.map(|position| (position.workflow, position.tier)))
        })
    }

    /// Refuses agents, regardless of `agent_may`.
    pub(super) fn must_be_a_person(&self, verb: &'static str) -> Result<(), WorkflowError> {
        if self.is_by_agent { Err(WorkflowError::PeopleOnly(verb)) } else { Ok(()) }
    }
}
