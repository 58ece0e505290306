//! The workflow that is active in a project: where it stands, and how it moves.
//!
//! What a workflow file says comes from `policy`, where the workflow stands from the journal. [`Moves`] is what commands
//! call; [`Active`] is what a judgement knows. Nothing here prints.

mod active;
mod claims;
mod gates;
mod moves;
mod position;
mod refusal;
mod step;

pub use active::Active;
pub use claims::Claims;
pub use gates::Lack;
pub use moves::{Force, Moves};
pub use position::{Position, Visit};
pub use refusal::Refusal;
pub use step::{Step, StepOutcome};
