//! A limit on the work for one script.
//!
//! A short script can cause much work: by nested loops, by functions that each call other functions twice, or by
//! thousands of variables that are copied for thousands of subshells. The effects of separate limits would multiply, so
//! one budget covers all work. Code that walks, copies or expands a part of the script reports its cost, and the walk
//! ends when the budget is spent.

/// The initial budget: sixteen steps for each byte of the longest script that is accepted. One step is roughly the work
/// of reading a character or copying a variable.
const MAX_STEPS: usize = 1024 * 1024;
/// The cost of visiting a node of the syntax tree.
pub(crate) const NODE: usize = 16;
/// The cost of storing a word.
pub(crate) const WORD: usize = 8;
/// The cost of a byte of code in a language other than shell. Such code is read more than once.
pub(crate) const CODE: usize = 8;

pub(crate) struct Budget {
    remaining: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { remaining: MAX_STEPS }
    }
}

impl Budget {
    /// Takes steps from the budget. Returns false if the budget is spent.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        self.remaining = self.remaining.saturating_sub(steps);
        !self.is_spent()
    }

    pub(crate) fn spend_all(&mut self) {
        self.remaining = 0;
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.remaining == 0
    }
}
