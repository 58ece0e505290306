//! The active workflow of a project: its position and its moves.
//!
//! The crate `policy` reads workflow files; the journal stores the position. [`WorkflowCommands`] has the commands that
//! move a workflow: `next.rs` decides and checks a move, `gates/` checks its gates, `enter_node.rs` enters the node,
//! and `write_move.rs` writes the move. Hooks never move a workflow. This module prints nothing.

mod actions;
mod approve;
mod claims;
mod command_situation;
mod condition;
mod continue_past_rules;
mod enter_node;
mod expression_names;
mod gates;
mod loaded_states;
mod move_commands;
mod next;
mod next_moves;
mod pace_at_move;
mod permission;
mod policy_at;
mod report;
mod set_variable;
mod step;
mod workflow_commands;
mod workflow_error;
mod write_move;

pub(crate) use actions::{ActionOutput, run_actions};
pub use approve::{ApprovalRequest, PendingApprovals};
pub use claims::Claims;
pub use expression_names::ExpressionNames;
pub(crate) use gates::{Approvals, ReceiptFiles};
pub use gates::{
    FailedGate, GATE_ARGUMENT, GateFiles, GateProgress, GateRunOptions, GateRunners, RunningCommand, gate_files_of_run,
    run_gate,
};
pub use next_moves::{GatePreview, GateState, NextMove, NextMoves};
pub use pace_at_move::Force;
pub(crate) use pace_at_move::ViolatedPaceRule;
pub(crate) use policy_at::policy_at;
pub use report::WorkflowReport;
pub use set_variable::VariableOwner;
pub use step::{Step, StepOutcome};
pub use workflow_commands::WorkflowCommands;
pub use workflow_error::WorkflowError;
