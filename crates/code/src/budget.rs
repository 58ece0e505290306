//! How much work is spent on one text, and how deep it is followed.

use super::MAX_DEPTH;

/// Expressions and bytes of constants, over all rounds.
const MAX_WORK: usize = 1_000_000;

#[derive(Default)]
pub(super) struct Budget {
    /// Nesting of what is being read.
    pub(super) depth: usize,
    work: usize,
}

impl Budget {
    /// Takes work from what is left. False where nothing is left.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        self.work += work;
        self.work <= MAX_WORK && self.depth <= MAX_DEPTH
    }
}
