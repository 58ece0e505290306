//! Decides whether the caller may run a workflow command. It depends on whether an agent or a person calls, and on
//! whether the command runs in a run of the loop.

use engine::rules::Tier;

use super::{WorkflowCommands, WorkflowError};
use crate::position::Position;

impl WorkflowCommands<'_> {
    /// Fails if the caller is not allowed to run the command `verb`. `workflow` returns name and tier of the workflow
    /// that the command would move; `None` if there is none.
    pub(super) fn require_permission(
        &self,
        verb: &'static str,
        workflow: impl FnOnce() -> Result<Option<(String, Option<Tier>)>, WorkflowError>,
    ) -> Result<(), WorkflowError> {
        // `linchpin continue` and `linchpin set` are allowed in a run, because rules of a hat can interrupt the agent,
        // and a hat's workflow may declare variables.
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
        let workflow = if self.hat_phase.is_none() { workflow()? } else { None };
        let user_workflow = workflow.filter(|(name, tier)| {
            let compiled = self.project.compiled_workflow(name, *tier, &self.policy, false, self.environment);
            compiled.is_some_and(|compiled| compiled.workflow.tier == Tier::User)
        });
        user_workflow
            .map_or(Ok(()), |(name, _)| Err(WorkflowError::OfUser { verb, what: format!("workflow `{name}`") }))
    }

    /// Like [`Self::require_permission`], for a command that moves the active workflow.
    pub(super) fn require_permission_for_active(&self, verb: &'static str) -> Result<(), WorkflowError> {
        self.require_permission(verb, || {
            let position = Position::of(&self.load_states()?.workflow_state.variables);
            Ok(position.map(|position| (position.workflow_name, position.tier)))
        })
    }

    /// Refuses agents, regardless of `agent_may`.
    pub(super) fn require_person(&self, verb: &'static str) -> Result<(), WorkflowError> {
        if self.is_by_agent { Err(WorkflowError::PeopleOnly(verb)) } else { Ok(()) }
    }
}
