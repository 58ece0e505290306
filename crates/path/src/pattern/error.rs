//! Errors and warnings of patterns.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

/// The reason why a string is not a valid pattern. The caller knows the policy file, and shows the span in it.
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

    /// Returns the byte range of the error in the source.
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

/// A valid pattern that is probably a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternWarning {
    /// `src/` matches no file, because file paths never end in `/`.
    BareDirectory { suggestion: String },
    /// A segment cannot occur in a normalized path.
    MatchesNothing { span: Range<usize>, reason: &'static str },
    /// In `src/**.rs`, `**` matches like `*`, within one segment.
    DoubleStarInSegment { span: Range<usize> },
}

impl fmt::Display for PatternWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BareDirectory { suggestion } => {
                write!(f, "a directory alone matches no file; did you mean `{suggestion}`?")
            }
            Self::MatchesNothing { reason, .. } => write!(f, "this pattern can never match: {reason}"),
            Self::DoubleStarInSegment { .. } => {
                write!(f, "`**` crosses directories only as a whole segment; here it means `*`")
            }
        }
    }
}

/// The reason why captured values cannot replace the variables of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FillError {
    #[error("`{{{variable}}}` has no value")]
    Unbound { variable: String },
    #[error("with its values the pattern becomes `{filled}`: {error}")]
    Unusable { filled: String, error: Box<PatternError> },
}
