//! Why a pattern does not load, what is odd about one that does, and why one could not be filled.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

/// Why a text is no pattern. Whoever knows the file shows the span in it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct PatternError {
    span: Range<usize>,
    message: String,
    help: Option<String>,
}

impl PatternError {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    #[must_use]
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// In bytes of the pattern's text.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// A pattern that loads but hardly means what was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternWarning {
    /// `src/`: paths of files never end in `/`.
    BareFolder { suggestion: String },
    /// Something in it that no normalised path can have.
    MatchesNothing { span: Range<usize>, why: &'static str },
    /// `src/**.rs`, where `**` does not cross folders.
    DoubleStarInSegment { span: Range<usize> },
}

impl fmt::Display for PatternWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BareFolder { suggestion } => {
                write!(f, "a folder alone matches no file; did you mean `{suggestion}`?")
            }
            Self::MatchesNothing { why, .. } => write!(f, "this pattern can match nothing: {why}"),
            Self::DoubleStarInSegment { .. } => {
                write!(f, "`**` crosses folders only as a whole segment; here it means `*`")
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FillError {
    #[error("`{{{variable}}}` has no value")]
    Unbound { variable: String },
    #[error("with its values the pattern becomes `{filled}`: {error}")]
    Unusable { filled: String, error: Box<PatternError> },
}
