use std::ops::Range;

use minijinja::ErrorKind;

use crate::facts::Missing;

/// An error in an expression, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// Byte range of the error in the source text of the expression, on character boundaries.
    pub span: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

impl ExprError {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    #[must_use]
    pub(super) fn with_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// Converts an error of minijinja: a syntax error, or a failed evaluation.
    pub(super) fn from_engine(error: &minijinja::Error, text_length: usize) -> Self {
        let message = match (error.kind(), error.detail()) {
            (ErrorKind::OutOfFuel, _) => "the expression needs too many steps".to_owned(),
            (_, Some(detail)) => detail.to_owned(),
            (kind, None) => kind.to_string(),
        };
        Self::new(error.range().unwrap_or(0..text_length), message)
    }
}

/// The reason why an expression or a template has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    #[error(transparent)]
    Expression(#[from] ExprError),
    /// A requested fact that cannot be read or determined.
    #[error("{0}")]
    Missing(Missing),
    /// Names of requested facts that were not recorded.
    #[error("{} was not recorded", .0.join(", "))]
    NotRecorded(Vec<String>),
}

/// Creates an error of an evaluation. minijinja adds the position.
pub(super) fn failure(message: impl Into<String>) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, message.into())
}

/// The error for a wrong number of arguments. This error cannot occur if the tables of functions and filters are right,
/// because the number of arguments is checked in advance.
pub(super) fn wrong_arity() -> minijinja::Error {
    failure("wrong number of arguments")
}
