//! The active workflow of a project: its position and its moves.
//!
//! `policy` reads workflow files; the journal stores the position. [`WorkflowCommands`] has the commands that move a
//! workflow: `next.rs` decides and checks a move, `gates/` checks its gates, `enter_node.rs` enters the node, `write_move.rs`
//! writes the move. A hook only reads the position. This module prints nothing.

mod actions;
mod approve;
mod claims;
mod condition;
mod continue_past_rules;
mod enter_node;
mod expression_names;
mod gate_context;
mod gates;
mod move_commands;
mod next;
mod next_moves;
mod pace_at_move;
mod permission;
mod policy_at;
mod report;
mod set_variable;
mod step;
mod stored_state;
mod workflow_commands;
mod workflow_error;
mod write_move;

pub(crate) use actions::{ActionOutput, run_actions};
pub use approve::{ApprovalRequest, PendingApprovals};
pub use claims::Claims;
pub use expression_names::ExpressionNames;
pub(crate) use gates::{Approvals, ReceiptFile};
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
