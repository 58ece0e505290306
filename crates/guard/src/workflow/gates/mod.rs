//! The gates of a move.
//!
//! [`GateChecker`] checks them. A gate with a command starts a process of its own (`gate_process.rs`), which outlives
//! the move and writes a receipt.

mod approval;
mod command_gate;
mod file_rule_gate;
mod gate_checker;
mod gate_process;
mod named_files;
mod protected_gate_files;
mod receipt;
mod running_command;

use engine::workflow::Webhook;
use serde_json::Value;

pub(crate) use self::approval::Approvals;
pub(super) use self::approval::{Approval, required_approvals};
pub use self::command_gate::GateRunOptions;
pub use self::gate_checker::GateChecker;
pub use self::gate_process::{GATE_ARGUMENT, run_gate};
pub use self::protected_gate_files::{GateFiles, gate_files_of_run};
pub(crate) use self::receipt::ReceiptFiles;
pub use self::running_command::{GateProgress, RunningCommand};
use crate::Environment;

/// A gate that does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedGate {
    /// The gate's id.
    pub gate: String,
    /// One or more lines that say what is missing, and what to do next.
    pub why: String,
    /// The file rules that are unmet.
    pub rules: Vec<String>,
}

impl FailedGate {
    fn new(gate: &str, why: String) -> Self {
        Self { gate: gate.to_owned(), why, rules: Vec::new() }
    }
}

/// How gates start processes and call webhooks.
#[derive(Clone)]
pub struct GateRunners {
    pub command: GateRunOptions,
    /// Calls a webhook with a payload. The error is the reason why the gate does not pass. The caller provides the
    /// function, because the code of hooks must not link a network client.
    pub webhook: fn(&Webhook, &Value, &Environment) -> Result<(), String>,
}

#[cfg(test)]
mod tests;
