//! The names that an expression uses, and the calls of functions that read data of a behavior.

use std::ops::Range;

/// A name in an expression, with the field that directly follows it.
pub(super) struct NameReference<'s> {
    pub(super) name: &'s str,
    pub(super) span: Range<usize>,
    pub(super) field: Option<(&'s str, Range<usize>)>,
}

/// A call of a function that reads data of a behavior.
pub(super) struct BehaviorCall<'s> {
    pub(super) name: &'s str,
    pub(super) span: Range<usize>,
    pub(super) argument_count: usize,
    /// The built-in behavior that provides the data; `None` if an external behavior provides the data.
    pub(super) behavior: Option<&'static str>,
}
