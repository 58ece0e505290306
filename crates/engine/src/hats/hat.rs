use std::fmt;

use serde::{Deserialize, Serialize};

use super::TopicPattern;
use crate::observers::Observer;
use crate::rules::Rule;

/// One role in a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hat {
    pub id: String,
    pub name: String,
    pub description: String,
    /// The topics that put it on.
    pub triggers: Vec<TopicPattern>,
    /// The topics that its agent may publish.
    pub publishes: Vec<String>,
    /// Empty: derived from what it takes and publishes.
    pub instructions: String,
    /// Published in its agent's place where that publishes nothing.
    pub default_publishes: Option<String>,
    /// The paths that it may write, as patterns; none: whatever the rules allow.
    pub writes: Option<Vec<String>>,
    pub max_activations: Option<u32>,
    /// Another agent than the loop's.
    pub agent: Option<AgentChoice>,
    /// In force while it is on.
    pub rules: Vec<Rule>,
    pub observers: Vec<Observer>,
}

impl Hat {
    pub fn takes(&self, topic: &str) -> bool {
        self.triggers.iter().any(|trigger| trigger.matches(topic))
    }

    pub fn publishes(&self, topic: &str) -> bool {
        self.publishes.iter().any(|published| published == topic)
    }
}

/// What is started in each iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentChoice {
    /// One that is known by name.
    Named(String),
    Command {
        words: Vec<String>,
        prompt: PromptDelivery,
    },
}

impl fmt::Display for AgentChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => formatter.write_str(name),
            Self::Command { words, .. } => formatter.write_str(&words.join(" ")),
        }
    }
}

impl AgentChoice {
    /// The agents that are known by name.
    pub const NAMES: [&str; 7] = ["claude", "codex", "gemini", "cursor", "copilot", "opencode", "amp"];
    /// Those whose transcripts tell how many tokens they used.
    pub const WITH_TOKENS: [&str; 5] = ["claude", "codex", "gemini", "copilot", "opencode"];
    /// Those that say what they cost.
    pub const WITH_COST: [&str; 1] = ["claude"];

    /// Whether it surely reports its tokens. A command may, but nobody knows beforehand.
    pub fn reports_tokens(&self) -> bool {
        matches!(self, Self::Named(name) if Self::WITH_TOKENS.contains(&name.as_str()))
    }

    /// Whether it surely reports its cost.
    pub fn reports_cost(&self) -> bool {
        matches!(self, Self::Named(name) if Self::WITH_COST.contains(&name.as_str()))
    }
}

/// How a command gets its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum PromptDelivery {
    #[default]
    Stdin,
    /// As its last argument.
    Argument,
    /// In a file whose path is its last argument.
    File,
}
