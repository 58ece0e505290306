//! A run of a loop, its iterations, and the topics that hats publish in it.
//!
//! An iteration *hands over* by publishing a topic, on which the next hat starts.

use std::fmt;
use std::str::FromStr;

/// Displayed as `r7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(pub u64);

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "r{}", self.0)
    }
}

impl FromStr for RunId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix('r').unwrap_or(text).parse().map(Self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    /// The goal that the person gave.
    pub objective: Option<String>,
    /// None while the run is active, or if its driver was killed.
    pub end: Option<RunEnd>,
    /// Milliseconds since 1970, like all times here.
    pub started: i64,
}

impl Run {
    pub fn is_complete(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.outcome == RunOutcome::Completed)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    pub outcome: RunOutcome,
    /// The reason, as a sentence for people.
    pub why: String,
    pub time: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    Completed,
    /// A person stopped the run.
    Stopped,
    /// Agents failed, made no progress, or had nothing left to do.
    Failed,
    /// The run reached a limit.
    Limit,
    /// The driver was interrupted, for example with Ctrl-C.
    Interrupted,
}

impl RunOutcome {
    const ALL: [Self; 5] = [Self::Completed, Self::Stopped, Self::Failed, Self::Limit, Self::Interrupted];

    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Limit => "limit",
            Self::Interrupted => "interrupted",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// A topic that was published and accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedTopic {
    pub id: i64,
    pub topic: String,
    pub summary: String,
    /// A JSON object.
    pub payload: Option<String>,
    /// The hat that published the topic; none if the loop itself did.
    pub from: Option<String>,
    /// The number of iterations that handled the topic and succeeded without handing over.
    pub tries: u32,
    /// For the next agent: the note or remark about the last iteration that handled the topic without handing over.
    pub remark: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    pub number: u32,
    pub hat: String,
    /// The topic that started the iteration.
    pub topic: String,
    pub started: i64,
    pub ended: Option<i64>,
    pub outcome: Option<IterationOutcome>,
    /// More about the outcome.
    pub remark: Option<String>,
    pub tokens: Option<i64>,
    pub cost_usd: Option<f64>,
    /// The topic with which the iteration handed over.
    pub handed_over: Option<String>,
    /// The summary that was published with that topic.
    pub summary: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IterationOutcome {
    /// The agent published a topic.
    HandedOver,
    /// The hat's default topic was published, because the agent published none.
    DefaultTopic,
    /// The agent succeeded, and its hat publishes no topics.
    Done,
    /// The agent succeeded, but published no topic, although its hat should publish one.
    NoTopic,
    /// The agent failed.
    Failed,
    /// The driver was killed, a person or a signal stopped the run, or the run's time limit was reached.
    Aborted,
}

impl IterationOutcome {
    const ALL: [Self; 6] =
        [Self::HandedOver, Self::DefaultTopic, Self::Done, Self::NoTopic, Self::Failed, Self::Aborted];

    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            Self::HandedOver => "handed_over",
            Self::DefaultTopic => "default",
            Self::Done => "done",
            Self::NoTopic => "nothing",
            Self::Failed => "failed",
            Self::Aborted => "cut_off",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

impl RunUsage {
    /// Returns the usage with the addition of an iteration that has ended.
    #[must_use]
    pub fn with_iteration(self, ended: &Iteration) -> Self {
        let is_aborted = ended.outcome == Some(IterationOutcome::Aborted);
        let failures = match ended.outcome {
            Some(IterationOutcome::Failed) => self.failures + 1,
            Some(IterationOutcome::Aborted) => self.failures,
            _ => 0,
        };
        let sum = |one: Option<i64>, other: Option<i64>| one.into_iter().chain(other).reduce(|one, other| one + other);
        let costs = self.cost_usd.into_iter().chain(ended.cost_usd);
        Self {
            iterations: self.iterations + u32::from(!is_aborted),
            time: self.time + ended.ended.unwrap_or(ended.started) - ended.started,
            tokens: sum(self.tokens, ended.tokens),
            cost_usd: costs.reduce(|one, other| one + other),
            failures,
        }
    }
}

/// The resources that a run has used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunUsage {
    /// Without aborted iterations.
    pub iterations: u32,
    /// Milliseconds during which an agent was running.
    pub time: i64,
    /// None if no agent reported its tokens.
    pub tokens: Option<i64>,
    pub cost_usd: Option<f64>,
    /// The number of consecutive failed iterations.
    pub failures: u32,
}
