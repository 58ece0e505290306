//! Gates: conditions of a transition.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rules::Rule;

/// A gate, with its id, at a place that requires it: a node, a transition or a topic, for example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The gate's name under `gates`, or `NODE/NUMBER` or `NODE/transitions/NUMBER/NUMBER`. Approvals are stored under
    /// this id.
    pub id: String,
    pub gate: Gate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Gate {
    Expression(String),
    Command {
        /// The command line as written, for people.
        text: String,
        /// The program and its arguments. No shell interprets them.
        words: Vec<String>,
        timeout: Duration,
        /// In a run of a loop, agents must not change the files that the command names. Workflows stored by earlier
        /// versions lack this field.
        #[serde(default = "protected")]
        protect: bool,
    },
    /// A person must approve this text.
    Approval(String),
    /// Boxed to keep the enum small.
    Webhook(Box<Webhook>),
    /// These file rules must be met. The gate has its own copies, because the rules need not be active otherwise.
    FileRules(Vec<Rule>),
}

fn protected() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub url: String,
    pub method: String,
    /// Header names and values. The value `env:NAME` is replaced by that environment variable.
    pub headers: Vec<(String, String)>,
    pub expect: ExpectedResponse,
}

impl Webhook {
    /// Prefix of a header value that names an environment variable.
    pub const FROM_ENVIRONMENT: &str = "env:";
}

/// The response that opens the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedResponse {
    pub status: u16,
    /// JSON text that the response body must contain.
    pub json: Option<String>,
}

impl Gate {
    /// True if checking starts no process of the project and contacts no server. (An approval and file rules ask git for
    /// changed files.) Cheap gates are checked first.
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

/// Joins the lines of an expression or text.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
