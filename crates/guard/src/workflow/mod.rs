//! The active workflow of a project: its position and its moves.
//!
//! `policy` reads workflow files; the journal stores the position. [`WorkflowCommands`] has the commands that move a
//! workflow. A judgement uses [`ActiveWorkflow`](crate::facts::ActiveWorkflow) instead. This module prints nothing.

mod actions;
mod approval;
mod approve;
mod claims;
mod command_gate;
mod continue_past_rules;
mod gate_process;
mod gates;
mod move_commands;
mod named_files;
mod names;
mod next_moves;
mod pace_at_move;
mod policy_at;
mod protected_gate_files;
mod receipt;
mod report;
mod running_command;
mod set_variable;
mod step;
mod stored_state;
mod workflow_commands;
mod workflow_error;
mod write_move;

pub(crate) use actions::{ActionOutput, run_actions};
pub(crate) use approval::Approvals;
pub use approve::{ApprovalRequest, PendingApprovals};
pub use claims::Claims;
pub use command_gate::GateRunOptions;
pub use gate_process::{GATE_ARGUMENT, run_gate};
pub use gates::{FailedGate, GateRunners};
pub use names::KnownNames;
pub use next_moves::{GatePreview, GateState, NextMove, NextMoves};
pub use pace_at_move::Force;
pub(crate) use pace_at_move::ViolatedPaceRule;
pub(crate) use policy_at::policy_at;
pub use protected_gate_files::{GateFiles, gate_files_of_run};
pub(crate) use receipt::ReceiptFile;
pub use report::WorkflowReport;
pub use running_command::{GateProgress, RunningCommand};
pub use set_variable::VariableOwner;
pub use step::{Step, StepOutcome};
pub use workflow_commands::WorkflowCommands;
pub use workflow_error::WorkflowError;
