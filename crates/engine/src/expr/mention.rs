//! What a text mentions: names, and functions that need a behavior.

use std::ops::Range;

/// A name that the text mentions, and its field if that is written right after it.
pub(super) struct Mention<'s> {
    pub(super) name: &'s str,
    pub(super) span: Range<usize>,
    pub(super) field: Option<(&'s str, Range<usize>)>,
}

/// A call of a function that only some behavior supplies with facts.
pub(super) struct FedCall<'s> {
    pub(super) name: &'s str,
    pub(super) span: Range<usize>,
    pub(super) arguments: usize,
    /// None where it is the condition of a behavior from outside.
    pub(super) fed_by: Option<&'static str>,
}
