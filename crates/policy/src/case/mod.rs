//! Cases: tests of a policy, in its own files.
//!
//! The cases under a rule's `tests` run with that rule alone. The cases in `tests/*.yml` run with the whole policy in
//! force. An error in a case is reported when the cases are run, and never takes a rule out of force.

mod keys;
mod read;

use engine::file_rules::Change;
use engine::pace::Tokens;
use engine::{EventKind, Level};
use serde_json::{Map, Value};

pub use keys::CASE;

use crate::text::diagnostic::Diagnostic;
use crate::text::source::Source;

#[derive(Debug, Clone, PartialEq)]
pub struct PolicyCase {
    /// The rule whose `tests` contain the case; `None` for a case of the whole policy.
    pub rule: Option<String>,
    pub name: Option<String>,
    pub subject: CaseSubject,
    pub variables: Map<String, Value>,
    pub git: Map<String, Value>,
    /// The values of `tasks` in expressions: counts, and the ids of complete tasks and of those that wait for a person.
    pub tasks: Map<String, Value>,
    pub expect: Expectation,
    pub source: Source,
    /// The offset of the case in the file.
    pub start: usize,
}

/// The expected result of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    Verdict(Level),
    /// For a file rule: all demanded changes were made.
    Met,
    /// For a file rule: demanded changes are missing. With a list of `[trigger file, missing file]`, the missing
    /// changes must be exactly those of the list.
    Unmet(Option<Vec<[String; 2]>>),
    /// For a pace rule: true if the limit is exceeded.
    Fires(bool),
}

impl Expectation {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Verdict(level) => level.name(),
            Self::Met => "met",
            Self::Unmet(_) => "unmet",
            Self::Fires(true) => "fires",
            Self::Fires(false) => "quiet",
        }
    }
}

/// The situation that a case describes.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseSubject {
    /// A shell call that is about to run.
    Command(String),
    /// A tool call that is about to run.
    Tool {
        name: String,
        input: Value,
    },
    Event(Box<EventFields>),
    /// Files changed, and the agent is about to stop.
    Files(Vec<Change>),
    Phase {
        activities: Vec<TimedActivity>,
        /// Seconds since the phase began.
        now: i64,
    },
}

/// An activity of the agent in a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedActivity {
    /// Seconds since the phase began.
    pub at: i64,
    pub activity: CaseActivity,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CaseActivity {
    Command { text: String, has_failed: bool },
    Edit(String),
    Tokens { message: String, tokens: Tokens },
}

/// The fields of an event, as expressions name them.
#[derive(Debug, Clone, PartialEq)]
pub struct EventFields {
    pub kind: EventKind,
    pub agent: Option<String>,
    pub tool: Option<String>,
    pub input: Option<Value>,
    pub output: Option<Value>,
    pub failed: Option<bool>,
    pub command: Option<String>,
    pub prompt: Option<String>,
    pub message: Option<String>,
}

/// The cases of a rule, or of the files in `tests/`, and the errors in them.
#[derive(Debug, Default)]
pub struct Cases {
    pub cases: Vec<PolicyCase>,
    pub problems: Vec<Diagnostic>,
}
