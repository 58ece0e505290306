//! Names and behavior functions that occur in an expression.

use std::ops::Range;

/// A name in an expression, with the field that directly follows it.
pub(super) struct NameReference<'s> {
    pub(super) name: &'s str,
    pub(super) span: Range<usize>,
    pub(super) field: Option<(&'s str, Range<usize>)>,
}

/// A call of a function whose data a behavior provides.
pub(super) struct BehaviorCall<'s> {
    pub(super) name: &'s str,
    pub(super) span: Range<usize>,
    pub(super) arguments: usize,
    /// `None` for a condition of an external behavior.
    pub(super) behavior: Option<&'static str>,
}
