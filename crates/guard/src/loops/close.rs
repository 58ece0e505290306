//! Checks the gates in `tasks.close_requires`, which must pass before a task of a run is closed.

use crate::workflow::{FailedGate, WorkflowCommands, WorkflowError};

/// The reason why a task must not be closed.
#[derive(Debug, thiserror::Error)]
pub enum ClosingRefused {
    #[error("the gates in `tasks.close_requires` are not met")]
    GatesFailed(Vec<FailedGate>),
    #[error(transparent)]
    WorkflowError(#[from] WorkflowError),
}

impl WorkflowCommands<'_> {
    /// Checks the gates for closing a task in the run that this process belongs to. Outside of runs, there are none.
    pub fn check_closing_gates(&self) -> Result<(), ClosingRefused> {
        let Some(hat_phase) = self.hat_phase.as_ref().filter(|hat_phase| !hat_phase.close_requires.is_empty()) else {
            return Ok(());
        };
        let failed_gates = self.check_hat_gates(hat_phase.close_requires.iter())?;
        if failed_gates.is_empty() { Ok(()) } else { Err(ClosingRefused::GatesFailed(failed_gates)) }
    }
}
