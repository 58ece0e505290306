//! `tasks.close_requires`: gates that must pass before a task of a run is closed.

use crate::workflow::{Lack, Moves, Refusal};

#[derive(Debug, thiserror::Error)]
pub enum ClosingRefused {
    #[error("what has to hold before a task is closed does not")]
    Held(Vec<Lack>),
    #[error(transparent)]
    Refusal(#[from] Refusal),
}

impl Moves<'_> {
    /// Checks the gates for closing a task in the run that this process belongs to.
    pub fn may_close_tasks(&self) -> Result<(), ClosingRefused> {
        let Some(stage) = self.stage.as_ref().filter(|stage| !stage.close_requires.is_empty()) else { return Ok(()) };
        let lacks = self.lacks_of_stage(stage.close_requires.iter())?;
        if lacks.is_empty() { Ok(()) } else { Err(ClosingRefused::Held(lacks)) }
    }
}
