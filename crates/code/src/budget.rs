//! Limits on the work and the nesting for one program.

use super::MAX_DEPTH;

/// The maximum number of expressions and of bytes in constants, in all rounds together.
const MAX_WORK: usize = 1_000_000;

#[derive(Default)]
pub(super) struct Budget {
    /// The current nesting.
    pub(super) depth: usize,
    work: usize,
}

impl Budget {
    /// Takes work from the budget. Returns false if none is left.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        self.work += work;
        self.work <= MAX_WORK && self.depth <= MAX_DEPTH
    }
}
