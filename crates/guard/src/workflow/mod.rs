//! The active workflow of a project: its position and its moves.
//!
//! `policy` reads workflow files; the journal stores the position. [`WorkflowCommands`] has the commands that move a
//! workflow; [`ActiveWorkflow`] is what a judgement sees of it. This module does not print.

mod acting;
mod ahead;
mod approval;
mod approving;
mod claims;
mod command_gate;
mod gate_files;
mod gates;
mod going_on;
mod holder;
mod move_commands;
mod moves;
mod named_files;
mod names;
mod noting;
mod pace_at_move;
mod policy_at;
mod receipt;
mod refusal;
mod report;
mod running;
mod scene;
mod setting;
mod step;

pub(crate) use acting::{Acted, act};
pub use ahead::{Ahead, GateAhead, GateState, NextMove};
pub(crate) use approval::Approvals;
pub use approving::{Approvable, ApprovalRequest};
pub use claims::Claims;
pub use command_gate::HolderOptions;
pub use gate_files::{GateFiles, gate_files_of_run};
pub use gates::{Lack, Outside};
pub use holder::{HOLDER, hold};
pub use moves::Moves;
pub use names::KnownNames;
pub use pace_at_move::Force;
pub(crate) use policy_at::policy_at;
pub(crate) use receipt::Receipts;
pub use refusal::Refusal;
pub use report::WorkflowReport;
pub use running::{GateProgress, Running};
pub use setting::VariableOwner;
pub use step::{Step, StepOutcome};
