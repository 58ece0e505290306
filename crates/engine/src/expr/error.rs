use std::ops::Range;

use minijinja::ErrorKind;

use crate::facts::Missing;

/// What is wrong with an expression, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// Bytes of the expression's text; within it, and on character boundaries.
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

    /// Everything that the engine itself reports: syntax, and what went wrong while evaluating.
    pub(super) fn from_engine(error: &minijinja::Error, text_length: usize) -> Self {
        let message = match (error.kind(), error.detail()) {
            (ErrorKind::OutOfFuel, _) => "the expression takes too many steps".to_owned(),
            (_, Some(detail)) => detail.to_owned(),
            (kind, None) => kind.to_string(),
        };
        Self::new(error.range().unwrap_or(0..text_length), message)
    }
}

/// Why an expression or a template has no value in a situation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    #[error(transparent)]
    Expression(#[from] ExprError),
    /// A fact that it asks for, and that cannot be read or determined.
    #[error("{0}")]
    Missing(Missing),
    /// The facts that it asks for and that the record does not have; their names.
    #[error("{} was not recorded", .0.join(", "))]
    NotRecorded(Vec<String>),
}

/// An error inside a running expression; the engine adds the place.
pub(super) fn failure(message: impl Into<String>) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, message.into())
}

/// Arity is checked before anything runs, so this is only seen if a catalogue entry contradicts its function.
pub(super) fn wrong_arity() -> minijinja::Error {
    failure("wrong number of arguments")
}
