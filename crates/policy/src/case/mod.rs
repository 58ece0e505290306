//! Cases: what a policy is expected to say, written down beside it.
//!
//! A rule carries its own under `tests`; each tells what that rule alone says. Files in `tests/` hold cases for all of
//! the policy that is in force. Reading one that is wrong is an error for whoever runs it, and takes no rule out of
//! force.

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
pub struct Case {
    /// The rule that carries it; none: it is about the whole policy.
    pub rule: Option<String>,
    pub name: Option<String>,
    pub subject: CaseSubject,
    pub variables: Map<String, Value>,
    pub git: Map<String, Value>,
    /// How many there are, and which are complete or wait for a person.
    pub tasks: Map<String, Value>,
    pub expect: Expectation,
    pub source: Source,
    /// Where it begins.
    pub start: usize,
}

/// What a case says must come of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    Verdict(Level),
    /// Of a file rule: nothing is missing.
    Met,
    /// Of a file rule: something is missing, and where pairs are named, just these.
    Unmet(Option<Vec<[String; 2]>>),
    /// Of a pace rule: whether it is too much.
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

/// What happens in a case.
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
    /// Files changed, and the agent wants to stop.
    Files(Vec<Change>),
    /// So much happened in a phase, of which this many seconds have passed.
    Phase {
        happened: Vec<Happened>,
        now: i64,
    },
}

/// Something that happened in a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    /// Seconds since the phase began.
    pub at: i64,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
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

/// What reading cases gave.
#[derive(Debug, Default)]
pub struct Cases {
    pub cases: Vec<Case>,
    pub problems: Vec<Diagnostic>,
}
