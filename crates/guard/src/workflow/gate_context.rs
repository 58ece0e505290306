//! The context in which the gates of a workflow command are checked.

use std::sync::Arc;

use engine::Situation;

use super::WorkflowCommands;
use super::gates::Gates;
use crate::facts::ActiveWorkflow;

impl WorkflowCommands<'_> {
    pub(crate) fn gate_context<'a>(&'a self, active: &'a ActiveWorkflow, situation: &'a Arc<Situation>) -> Gates<'a> {
        Gates {
            active,
            situation,
            project: self.project,
            environment: self.environment,
            config: &self.policy.config,
            gate_runners: &self.gate_runners,
            variables: self
                .hat_phase
                .as_ref()
                .map_or_else(Vec::new, |hat_phase| hat_phase.gate_variables(&self.project.root)),
            is_in_run: self.hat_phase.is_some(),
            since_activation: self.hat_phase.as_ref().is_some_and(|hat_phase| hat_phase.baseline.is_some()),
        }
    }
}
