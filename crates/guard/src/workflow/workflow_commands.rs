//! What all workflow commands need. The commands are methods in the other files of this directory.

use std::sync::Arc;

use engine::Situation;
use policy::CompiledPolicy;

use super::GateRunners;
use super::gates::GateChecker;
use crate::Environment;
use crate::facts::ActiveWorkflow;
use crate::project::Project;
use crate::session::{AgentSession, HatPhase};

/// The commands that move or show a workflow.
pub struct WorkflowCommands<'a> {
    pub project: &'a Project,
    pub environment: &'a Environment,
    /// The project's policy when the command began.
    pub policy: Arc<CompiledPolicy>,
    /// Milliseconds since 1970.
    pub now: i64,
    /// The session whose variables are used.
    pub agent_session: Option<AgentSession>,
    /// The current hat, in a run of a loop.
    pub hat_phase: Option<Arc<HatPhase>>,
    /// True if an agent runs the command.
    pub is_by_agent: bool,
    pub gate_runners: GateRunners,
}

impl WorkflowCommands<'_> {
    /// The checker for the gates of a move of this workflow.
    pub(crate) fn gate_checker<'a>(
        &'a self,
        active: &'a ActiveWorkflow,
        situation: &'a Arc<Situation>,
    ) -> GateChecker<'a> {
        let hat_phase = self.hat_phase.as_ref();
        GateChecker {
            active,
            situation,
            project: self.project,
            environment: self.environment,
            config: &self.policy.config,
            gate_runners: &self.gate_runners,
            environment_overrides: hat_phase
                .map_or_else(Vec::new, |hat_phase| hat_phase.gate_variables(&self.project.root)),
            is_in_run: hat_phase.is_some(),
            compares_with_activation: hat_phase.is_some_and(|hat_phase| hat_phase.snapshot_time.is_some()),
        }
    }
}
