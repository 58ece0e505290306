//! Loops: agents work in iterations, each with a hat. A hat is a role of an agent. A topic triggers a hat, and the hat
//! publishes a topic for the next hat. The run ends when the completion topic is published and the gates of this topic
//! are open.
//!
//! This module defines the configuration ([`Loop`]), its static checks ([`topology`]), the choice of the next hat
//! ([`next_hat`]), and the agent's prompt ([`prompt`]). This module does not know processes, files or the clock.

pub mod diagram;
mod hat;
pub mod hat_for_topic;
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
    /// The digest of the file.
    pub digest: String,
    pub agent: AgentChoice,
    /// The topic that starts a run.
    pub start: String,
    pub completion: Completion,
    pub limits: RunLimits,
    pub guardrails: Vec<String>,
    /// The path of the notes that agents leave for later iterations, relative to the project's root.
    pub scratchpad: String,
    pub specs_dir: String,
    /// The gates that must be open before a task is closed.
    pub close_requires: Vec<Requirement>,
    /// The initial values of variables, as JSON text.
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
    /// The topics that the run must have accepted before the completion topic.
    pub after: Vec<String>,
}

/// A topic's entry in `loop.yml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// Instructions for the hat that the topic triggers; if the field is empty, the built-in default is used.
    pub on_trigger: String,
    /// Instructions for hats that publish the topic.
    pub on_publish: String,
    pub requires: Vec<Requirement>,
}

/// Limits of a run; `None` for no limit. `idle` terminates an agent, every other limit ends the run early.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLimits {
    pub iterations: Option<u32>,
    pub runtime: Option<Duration>,
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    /// The number of consecutive failures of agents after which the run ends.
    pub failures: Option<u32>,
    /// The number of times that a topic can be repeated with the same payload, without a change in the project, before
    /// the run ends.
    pub stale: Option<u32>,
    /// The time without output and hook calls after which an agent is terminated.
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
    /// The reserved first part of topics. Only Linchpin publishes topics that begin with this part, such as
    /// `system.resume`.
    pub const RESERVED: &str = "system";
    /// The topic that is published for a hat whose agent published nothing.
    pub const SYSTEM_RESUME: &str = "system.resume";
    /// The topic that `run --resume` publishes if no other event is pending.
    pub const TASK_RESUME: &str = "task.resume";
    pub const COMPLETE: &str = "loop.complete";
    /// The maximum number of topics in `completion.after`. The maximum is low, because the check of the topology may
    /// visit every subset of these topics.
    pub const MAX_AFTER: usize = 10;
    /// The name of the end of a run in diagrams. No hat can have this id.
    pub const DONE: &str = "done";

    /// The agent of the hat; if the hat does not name an agent, the agent of the loop.
    pub fn agent_of<'a>(&'a self, hat: &'a Hat) -> &'a AgentChoice {
        hat.agent.as_ref().unwrap_or(&self.agent)
    }

    pub fn hat(&self, id: &str) -> Option<&Hat> {
        self.hats.iter().find(|hat| hat.id == id)
    }

    /// The gates that must be open for a topic. For the completion topic, the result includes the gates of the
    /// completion.
    pub fn requires(&self, topic: &str) -> impl Iterator<Item = &Requirement> {
        let of_topic = self.topics.get(topic).map(|topic| topic.requires.as_slice()).unwrap_or_default();
        let of_completion = if topic == self.completion.topic { self.completion.requires.as_slice() } else { &[] };
        of_topic.iter().chain(of_completion)
    }
}
