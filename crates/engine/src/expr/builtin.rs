//! Types that functions, filters, methods and operators share.

use std::{fmt, sync::Arc};

use minijinja::{
    Error, State, Value,
    value::{Object, ObjectRepr},
};

/// The implementation of a function, filter, method or operator.
pub(super) type BuiltinFn = fn(&mut State, &[Value]) -> Result<Value, Error>;

/// A function that lowered expressions can call.
pub(super) struct Builtin(pub(super) BuiltinFn);

impl fmt::Debug for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("builtin")
    }
}

impl Object for Builtin {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        (self.0)(state, args)
    }
}

/// The numbers of arguments that a function accepts.
#[derive(Clone, Copy)]
pub(super) struct Arity {
    least: usize,
    most: Option<usize>,
}

impl Arity {
    pub(super) const fn exactly(count: usize) -> Self {
        Self { least: count, most: Some(count) }
    }

    pub(super) const fn between(least: usize, most: usize) -> Self {
        Self { least, most: Some(most) }
    }

    pub(super) const fn at_least(least: usize) -> Self {
        Self { least, most: None }
    }

    pub(super) fn allows(self, count: usize) -> bool {
        count >= self.least && self.most.is_none_or(|most| count <= most)
    }
}

impl fmt::Display for Arity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match (self.least, self.most) {
            (0, Some(0)) => f.write_str("no arguments"),
            (least, None) => write!(f, "at least {least} argument{}", plural(least)),
            (least, Some(most)) if least == most => write!(f, "{least} argument{}", plural(least)),
            (least, Some(most)) if least + 1 == most => write!(f, "{least} or {most} arguments"),
            (least, Some(most)) => write!(f, "{least} to {most} arguments"),
        }
    }
}
