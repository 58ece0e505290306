//! Limits on the work and the nesting for one program.

use super::MAX_DEPTH;

/// The maximum work for one program: the number of expressions and the bytes in copied constants, over all rounds.
const MAX_WORK: usize = 1_000_000;

#[derive(Default)]
pub(super) struct Budget {
    /// The current nesting depth.
    pub(super) depth: usize,
    work: usize,
}

impl Budget {
    /// Adds to the work that was done. Returns false if the work or the nesting depth exceeds its limit.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        self.work += work;
        self.work <= MAX_WORK && self.depth <= MAX_DEPTH
    }
}
