//! The gates that do not pass, of a move or of what a hat hands over.

use std::sync::Arc;

use engine::Situation;
use engine::workflow::Requirement;

use super::gates::Gates;
use super::{FailedGate, WorkflowCommands, WorkflowError};
use crate::facts::ActiveWorkflow;

impl WorkflowCommands<'_> {
    pub(super) fn gates<'a>(&'a self, active: &'a ActiveWorkflow, situation: &'a Arc<Situation>) -> Gates<'a> {
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

    /// The gates of a hat that do not pass.
    pub(crate) fn failed_gates_of_hat<'r>(
        &self,
        required: impl Iterator<Item = &'r Requirement> + Clone,
    ) -> Result<Vec<FailedGate>, WorkflowError> {
        let (stored, active) = self.active()?;
        let active = Arc::new(active);
        if let Some(hat_phase) = &self.hat_phase {
            let changed = hat_phase.changed_gates(required.clone(), &active.position, self.project, self.environment);
            if !changed.is_empty() {
                return Ok(changed);
            }
        }
        let situation = self.situation(&active, &stored);
        Ok(self.gates(&active, &situation).failed_gates(required))
    }
}
