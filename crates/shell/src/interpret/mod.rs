//! Goes over the syntax as a shell would run it, with what is known of its folders and variables.

mod delegation;
mod doubtful_command;
mod exit_status;
mod printed;
mod state;
mod walk;

pub use exit_status::every_command_must_succeed;
pub(crate) use walk::walk;
