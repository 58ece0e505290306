//! How much work the reading of one text may be.
//!
//! A short text can ask for much: loops in loops, functions that call others twice, thousands of variables and as many
//! shells that could change them. Limits on each of them multiply, so there is one on all of it: whoever walks, copies
//! or expands says how much that is, and once it is spent the walk ends.

/// A step is about what it takes to look at a letter, or to copy a variable. Sixteen times the longest text.
const MAX_STEPS: usize = 1024 * 1024;
/// Of going to a part of the tree, whatever it is.
pub(crate) const NODE: usize = 16;
/// Of keeping a word.
pub(crate) const WORD: usize = 8;
/// Of a letter of a program text in another language, which is read more than once.
pub(crate) const CODE: usize = 8;

pub(crate) struct Budget {
    left: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: MAX_STEPS }
    }
}

impl Budget {
    /// Whether there is something left behind it.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        self.left = self.left.saturating_sub(steps);
        !self.is_spent()
    }

    pub(crate) fn spend_all(&mut self) {
        self.left = 0;
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}
