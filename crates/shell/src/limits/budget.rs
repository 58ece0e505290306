//! A limit on the work for one script.
//!
//! A short script can require much work: nested loops, functions that call others twice, thousands of variables and as
//! many shells that could change them. Separate limits would multiply, so one budget covers everything: code that
//! walks, copies or expands reports its cost, and the walk ends when the budget is spent.

/// Sixteen times the longest script. One step is roughly the work of reading a character or copying a variable.
const MAX_STEPS: usize = 1024 * 1024;
/// The cost of visiting a node of the syntax tree.
pub(crate) const NODE: usize = 16;
/// The cost of storing a word.
pub(crate) const WORD: usize = 8;
/// The cost of a character of code in another language, which is read more than once.
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
    /// Takes steps from the budget. Returns false if none are left.
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
