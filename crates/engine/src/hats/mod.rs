//! The loop: work goes round under hats. Each hat takes topics and publishes topics, and the loop ends when one of them says
//! so and its gates hold.
//!
//! This is what a configuration means ([`Loop`]), what is wrong with it before anything runs ([`topology`]), and what an
//! agent under a hat is told ([`prompt`]). It knows nothing of processes, files or time.

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
    /// The file it was read from, as people know it.
    pub source: String,
    /// Digest of the text it was made from.
    pub digest: String,
    pub agent: AgentChoice,
    /// The topic that opens a run.
    pub start: String,
    pub completion: Completion,
    pub limits: RunLimits,
    pub guardrails: Vec<String>,
    /// Where agents keep notes for the next one; from the root.
    pub scratchpad: String,
    pub specs_dir: String,
    /// What has to hold before a task is closed.
    pub close_requires: Vec<Requirement>,
    /// Variables with their first values, each as JSON text.
    pub variables: BTreeMap<String, String>,
    pub topics: BTreeMap<String, Topic>,
    pub gates: BTreeMap<String, Gate>,
    /// As the file orders them.
    pub hats: Vec<Hat>,
}

/// When a run has done what it was for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    pub topic: String,
    pub requires: Vec<Requirement>,
    /// Topics that must have been accepted earlier in the run.
    pub after: Vec<String>,
}

/// What the file says of a topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// For whoever takes it; empty: what is well known of it.
    pub on_trigger: String,
    /// For whoever publishes it.
    pub on_publish: String,
    pub requires: Vec<Requirement>,
}

/// What ends a run before its work is done. None: it does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLimits {
    pub iterations: Option<u32>,
    pub runtime: Option<Duration>,
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    /// Of agents, one after another.
    pub failures: Option<u32>,
    /// The same topic with the same payload, while nothing changes.
    pub stale: Option<u32>,
    /// An agent that gives no sign of life for so long is ended.
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
    /// What Linchpin itself publishes, and nobody else.
    pub const RESERVED: &str = "system";
    /// Given to a hat whose agent published nothing.
    pub const RESUME: &str = "system.resume";
    /// Published by `run --resume` where nothing else waits, for the hat that takes it.
    pub const GO_ON: &str = "task.resume";
    pub const COMPLETE: &str = "loop.complete";
    /// Topics that completion may come after: whether some run accepts them all takes looking at every set of them.
    pub const MOST_AFTER: usize = 10;
    /// Where a run ends, in drawings; no hat is called so.
    pub const DONE: &str = "done";

    pub fn hat(&self, id: &str) -> Option<&Hat> {
        self.hats.iter().find(|hat| hat.id == id)
    }

    /// The hat that takes a topic. A sound loop has at most one.
    pub fn hat_for(&self, topic: &str) -> Option<&Hat> {
        self.hats.iter().find(|hat| hat.takes(topic))
    }

    /// The gates of a topic, and those of completion where it is that.
    pub fn requires(&self, topic: &str) -> impl Iterator<Item = &Requirement> {
        let own = self.topics.get(topic).map(|topic| topic.requires.as_slice()).unwrap_or_default();
        let ends = if topic == self.completion.topic { self.completion.requires.as_slice() } else { &[] };
        own.iter().chain(ends)
    }
}
