//! Goes over the syntax as a shell would run it, with what is known of its folders and variables.

mod delegation;
mod doubtful_command;
mod printed;
mod state;
mod success;
mod walk;

pub use success::succeeds_as_one;
pub(crate) use walk::walk;
