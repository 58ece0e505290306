//! Refused edits.

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::values::rule_id::InvalidRuleId;

/// An edit that was refused. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRefusal {
    pub kind: DiagnosticKind,
    /// Starts in lower case and ends without a full stop. Quotes from the file are in backticks.
    pub message: String,
    /// The message without the text of `problems`, for output that shows the problems as well.
    pub conclusion: Option<String>,
    pub help: Option<String>,
    /// The problems that caused the refusal.
    pub problems: Vec<Diagnostic>,
}

impl EditRefusal {
    pub fn new(kind: DiagnosticKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), conclusion: None, help: None, problems: Vec::new() }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub fn with_problems(mut self, problems: Vec<Diagnostic>) -> Self {
        self.problems = problems;
        self
    }

    /// `None` if there are no errors.
    pub(super) fn of_errors(errors: Vec<Diagnostic>) -> Option<Self> {
        let first = errors.first()?;
        let message = match errors.len() - 1 {
            0 => format!("nothing was written: {}", first.message),
            1 => format!("nothing was written: {}, and one more error", first.message),
            more => format!("nothing was written: {}, and {more} more errors", first.message),
        };
        let conclusion = Some("nothing was written".to_owned());
        Some(Self { conclusion, ..Self::new(first.kind, message).with_problems(errors) })
    }

    /// A refusal because of an I/O error. `participle`: what failed, such as `written`.
    pub fn io(name: &str, participle: &str, error: &std::io::Error) -> Self {
        Self::new(DiagnosticKind::Io, format!("`{name}` cannot be {participle}: {error}"))
    }
}

impl From<InvalidRuleId> for EditRefusal {
    fn from(invalid_id: InvalidRuleId) -> Self {
        Self::new(DiagnosticKind::InvalidValue, invalid_id.message).help(invalid_id.help)
    }
}

impl From<Box<Diagnostic>> for EditRefusal {
    fn from(problem: Box<Diagnostic>) -> Self {
        let conclusion = format!("`{}` has errors and was not changed", problem.source.name);
        let message = format!("{conclusion}: {}", problem.message);
        Self { conclusion: Some(conclusion), ..Self::new(problem.kind, message).with_problems(vec![*problem]) }
    }
}
