//! The loop: agents work in iterations, each under a hat. Hats are triggered by topics and publish topics; the loop
//! ends when the completion topic is published and its gates are open.
//!
//! This module defines the configuration ([`Loop`]), its static checks ([`topology`]), and the agent's prompt
//! ([`prompt`]). It does not know processes, files or the clock.

pub mod diagram;
mod hat;
mod hat_workflow;
pub mod prompt;
#[cfg(test)]
mod tests;
mod topic;
pub mod topology;
mod trust;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use hat::{AgentChoice, Hat, PromptDelivery};
pub use topic::{TopicError, TopicPattern, check_topic};

use crate::workflow::{Gate, Requirement};

/// A loop as `loop.yml` describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    /// The file that the loop was read from, as shown to people.
    pub source: String,
    /// Digest of the file.
    pub digest: String,
    pub agent: AgentChoice,
    /// The topic that starts a run.
    pub start: String,
    pub completion: Completion,
    pub limits: RunLimits,
    pub guardrails: Vec<String>,
    /// Path of the notes that agents leave for later iterations, relative to the root.
    pub scratchpad: String,
    pub specs_dir: String,
    /// Gates on closing a task.
    pub close_requires: Vec<Requirement>,
    /// Initial values of variables as JSON text.
    pub variables: BTreeMap<String, String>,
    pub topics: BTreeMap<String, Topic>,
    pub gates: BTreeMap<String, Gate>,
    /// Hats in the order of the file.
    pub hats: Vec<Hat>,
}

/// The condition for completing a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    pub topic: String,
    pub requires: Vec<Requirement>,
    pub after: Vec<String>,
}

/// A topic's entry in `loop.yml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// Instructions for the hat that the topic triggers; empty for the built-in default.
    pub on_trigger: String,
    /// Instructions for hats that publish the topic.
    pub on_publish: String,
    pub requires: Vec<Requirement>,
}

/// Limits that end a run early; `None` for no limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLimits {
    pub iterations: Option<u32>,
    pub runtime: Option<Duration>,
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    /// Consecutive failures of agents.
    pub failures: Option<u32>,
    /// Repetitions of a topic with the same payload without a change in the project.
    pub stale: Option<u32>,
    /// Time without a sign of life (output or hook calls) after which an agent is terminated.
    pub idle: Option<Duration>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            iterations: Some(100),
            runtime: Some(Duration::from_hours(4)),
            tokens: None,
            cost_usd: None,
            failures: Some(5),
            stale: Some(3),
            idle: Some(Duration::from_mins(5)),
        }
    }
}

impl Loop {
    /// Prefix of topics that only Linchpin publishes.
    pub const RESERVED: &str = "system";
    /// The topic that is published for a hat whose agent published nothing.
    pub const SYSTEM_RESUME: &str = "system.resume";
    /// The topic that `run --resume` publishes if no other event is pending.
    pub const TASK_RESUME: &str = "task.resume";
    pub const COMPLETE: &str = "loop.complete";
    /// Maximum number of topics in `completion.after`: the check for reachability visits every subset of them.
    pub const MAX_AFTER: usize = 10;
    /// The end of a run in diagrams; hats cannot have this id.
    pub const DONE: &str = "done";

    pub fn hat(&self, id: &str) -> Option<&Hat> {
        self.hats.iter().find(|hat| hat.id == id)
    }

    /// The hat that a topic triggers. Valid loops have at most one.
    pub fn hat_for(&self, topic: &str) -> Option<&Hat> {
        self.hats.iter().find(|hat| hat.is_triggered_by(topic))
    }

    /// Gates of a topic, including those of completion if it is the completion topic.
    pub fn requires(&self, topic: &str) -> impl Iterator<Item = &Requirement> {
        let own = self.topics.get(topic).map(|topic| topic.requires.as_slice()).unwrap_or_default();
        let ends = if topic == self.completion.topic { self.completion.requires.as_slice() } else { &[] };
        own.iter().chain(ends)
    }
}
