//! Checks the gates of a hat, for `linchpin emit` and for closing a task.

use std::sync::Arc;

use engine::workflow::Requirement;

use crate::workflow::{FailedGate, WorkflowCommands, WorkflowError};

impl WorkflowCommands<'_> {
    /// Returns the gates that do not pass. If files of gates changed during the run, these gates are returned at once,
    /// and no gate's command is run.
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
        Ok(self.gate_checker(&active, &situation).check_gates(requirements))
    }
}
