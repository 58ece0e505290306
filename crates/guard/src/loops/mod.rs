//! The run of a loop that a session belongs to: which hat is on, what of it is in force, and what it hands over.
//!
//! Whoever drives a run sets the stage before each agent starts; the agent's hooks and commands find it by
//! [`Stage::RUN`] in their environment. Nothing here starts an agent.

mod close;
mod emit;
mod enter;
mod facts;
mod gate_files;
mod sign_of_life;
mod stage;

pub use close::ClosingRefused;
pub use emit::{Emission, EmitRefused};
pub(crate) use facts::LoopFacts;
pub use gate_files::{GateFiles, gate_files_of_run};
pub use stage::Stage;
