//! Gates: requirements that must hold before a workflow or a loop moves on.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rules::Rule;

/// A gate with its id, as an entry of a `requires` list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The gate's name under `gates`, or its position in the file: `NODE/NUMBER` or `NODE/transitions/NUMBER/NUMBER`.
    /// Approvals are stored under this id.
    pub id: String,
    pub gate: Gate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Gate {
    Expression(String),
    Command {
        /// The command line as it is in the file, for people.
        text: String,
        /// The program and its arguments. No shell interprets them.
        words: Vec<String>,
        timeout: Duration,
        /// True if, in a run of a loop, agents must not change the files that the command names. Workflows that were
        /// stored by earlier versions of Linchpin do not have this field.
        #[serde(default = "protect_by_default")]
        protect: bool,
    },
    /// A person must approve this text.
    Approval(String),
    Webhook(Box<Webhook>),
    /// These file rules must be met. The gate has its own copies of the rules, because the rules need not apply outside
    /// of the gate.
    FileRules(Vec<Rule>),
}

fn protect_by_default() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub url: String,
    pub method: String,
    /// Header names and values. The header value `env:NAME` is replaced by the value of the environment variable
    /// `NAME`.
    pub headers: Vec<(String, String)>,
    pub expect: ExpectedResponse,
}

impl Webhook {
    /// The prefix of a header value that names an environment variable.
    pub const FROM_ENVIRONMENT: &str = "env:";
}

/// The response that opens the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedResponse {
    pub status: u16,
    /// A JSON value as text. The response body must contain all fields of this value with equal values, and can contain
    /// other fields.
    pub json: Option<String>,
}

impl Gate {
    /// True if checking the gate starts no program of the project and contacts no server. Such gates are checked first.
    /// (For approvals and file rules, Linchpin runs git to find the changed files.)
    pub fn is_cheap(&self) -> bool {
        matches!(self, Self::Expression(_) | Self::Approval(_) | Self::FileRules(_))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Expression(text) => formatter.write_str(&one_line(text)),
            Self::Command { text, .. } => write!(formatter, "command {}", one_line(text)),
            Self::Approval(text) => write!(formatter, "approval: {}", one_line(text)),
            Self::Webhook(webhook) => write!(formatter, "webhook {} {}", webhook.method, webhook.url),
            Self::FileRules(rules) => {
                let ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
                write!(formatter, "file rules {}", ids.join(", "))
            }
        }
    }
}

/// Puts an expression or text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
