//! The workflow that is active in a project: where it stands, and how it moves.
//!
//! What a workflow file says comes from `policy`, where the workflow stands from the journal. [`Moves`] is what commands
//! call; [`Active`] is what a judgement knows. Nothing here prints.

mod active;

mod position;

pub use active::Active;

pub use position::{Position, Visit};
