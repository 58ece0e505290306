//! What has to hold before a move is made.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rules::Rule;

/// A gate at its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The name under `gates`; else `NODE/NUMBER`, or `NODE/transitions/NUMBER/NUMBER`. An approval belongs to it.
    pub id: String,
    pub gate: Gate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Gate {
    Expression(String),
    Command {
        /// As it is written, for people.
        text: String,
        /// The program and its arguments: no shell reads them.
        words: Vec<String>,
        timeout: Duration,
        /// In a run of a loop, agents may not change the files that it names. The stage of a run that an earlier version wrote
        /// does not have it.
        #[serde(default = "protected")]
        protect: bool,
    },
    /// A person says yes to this text.
    Approval(String),
    /// Boxed: the others should not carry its size.
    Webhook(Box<Webhook>),
    /// These file rules are met. They are here whole: they need not be in force otherwise.
    FileRules(Vec<Rule>),
}

fn protected() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub url: String,
    pub method: String,
    /// A value `env:NAME` is that environment variable's.
    pub headers: Vec<(String, String)>,
    pub expect: Expected,
}

impl Webhook {
    /// Before the name of an environment variable, in place of a header's value.
    pub const FROM_ENVIRONMENT: &str = "env:";
}

/// The answer that lets the move through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    pub status: u16,
    /// What the answer's body holds at least, as JSON text.
    pub json: Option<String>,
}

impl Gate {
    /// Whether it is looked at without starting anything or asking anybody. Such gates come first.
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

/// Expressions and texts may have line breaks.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
