use std::fmt;

use serde::{Deserialize, Serialize};

use super::TopicPattern;
use crate::observers::Observer;
use crate::rules::Rule;

/// A role of an agent in a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hat {
    pub id: String,
    pub name: String,
    pub description: String,
    /// The topics that trigger the hat.
    pub triggers: Vec<TopicPattern>,
    pub publishes: Vec<String>,
    /// The instructions for the agent; if the field is empty, the instructions are derived from the topics.
    pub instructions: String,
    /// The topic that is published if the agent publishes nothing.
    pub default_publishes: Option<String>,
    /// The patterns of the paths that the agent may write; `None` if the hat does not restrict them.
    pub writes: Option<Vec<String>>,
    pub max_activations: Option<u32>,
    /// The agent that works with this hat; `None` for the loop's agent.
    pub agent: Option<AgentChoice>,
    /// Rules that apply while the hat is active.
    pub rules: Vec<Rule>,
    pub observers: Vec<Observer>,
}

impl Hat {
    pub fn is_triggered_by(&self, topic: &str) -> bool {
        self.triggers.iter().any(|trigger| trigger.matches(topic))
    }

    pub fn publishes(&self, topic: &str) -> bool {
        self.publishes.iter().any(|published| published == topic)
    }
}

/// The agent that an iteration starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentChoice {
    /// An agent of [`AgentChoice::NAMES`].
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
    /// The agents that a loop can start by their name alone.
    pub const NAMES: [&str; 7] = ["claude", "codex", "gemini", "cursor", "copilot", "opencode", "amp"];
    /// The agents whose transcripts contain token counts.
    pub const WITH_TOKENS: [&str; 5] = ["claude", "codex", "gemini", "copilot", "opencode"];
    /// The agents that report their cost.
    pub const WITH_COST: [&str; 1] = ["claude"];

    /// True if the agent is known to report tokens. False for a custom command, because it is not known in advance
    /// whether the command reports tokens.
    pub fn reports_tokens(&self) -> bool {
        matches!(self, Self::Named(name) if Self::WITH_TOKENS.contains(&name.as_str()))
    }

    /// True if the agent is known to report its cost. False for a custom command.
    pub fn reports_cost(&self) -> bool {
        matches!(self, Self::Named(name) if Self::WITH_COST.contains(&name.as_str()))
    }
}

/// How a custom command receives the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum PromptDelivery {
    #[default]
    Stdin,
    /// The prompt is the last argument.
    Argument,
    /// The prompt is in a file, and the path of the file is the last argument.
    File,
}
