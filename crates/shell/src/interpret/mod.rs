//! Simulates a script as a shell would run it, and collects the simple commands, with what is known of directories and
//! variables.

mod ast_walker;
mod delegation;
mod doubtful_command;
mod exit_status;
mod possible_output;
mod state;

pub(crate) use ast_walker::interpret;
pub use exit_status::every_command_must_succeed;
