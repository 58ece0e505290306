//! Checks the gates of a hat, for `emit` and for closing a task.

use std::sync::Arc;

use engine::workflow::Requirement;

use crate::workflow::{FailedGate, WorkflowCommands, WorkflowError};

impl WorkflowCommands<'_> {
    /// Checks gates of a hat, and returns those that do not pass. A gate whose files changed during the run fails without
    /// being run.
    pub(super) fn check_hat_gates<'r>(
        &self,
        requirements: impl Iterator<Item = &'r Requirement> + Clone,
    ) -> Result<Vec<FailedGate>, WorkflowError> {
        let (stored, active) = self.load_active()?;
        let active = Arc::new(active);
        if let Some(hat_phase) = &self.hat_phase {
            let changed =
                hat_phase.changed_gates(requirements.clone(), &active.position, self.project, self.environment);
            if !changed.is_empty() {
                return Ok(changed);
            }
        }
        let situation = self.situation(&active, &stored);
        Ok(self.gate_context(&active, &situation).check_gates(requirements))
    }
}
