//! A run of a loop, and the parts of it.

use std::fmt;
use std::str::FromStr;

/// People write it `r7`.
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
    /// What it is for.
    pub objective: Option<String>,
    /// How it ended; none: it goes on, or whoever drove it is gone.
    pub end: Option<RunEnd>,
    /// Milliseconds since 1970, as all times here.
    pub started: i64,
}

impl Run {
    pub fn is_complete(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.how == Ending::Completed)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    pub how: Ending,
    pub why: String,
    pub time: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Completed,
    /// By a person.
    Stopped,
    /// Agents failed, nothing moved any more, or nothing was left to do.
    Failed,
    /// A limit was reached.
    Limit,
    Interrupted,
}

impl Ending {
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
        Self::ALL.into_iter().find(|ending| ending.name() == name)
    }
}

/// Something that was published and accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    pub id: i64,
    pub topic: String,
    pub summary: String,
    /// A JSON object.
    pub payload: Option<String>,
    /// The hat that published it; none: whoever started the run.
    pub from: Option<String>,
    /// How often it was put back because nothing came of it.
    pub tries: u32,
    /// What was said the last time.
    pub remark: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    pub number: u32,
    pub hat: String,
    /// The topic that put it on.
    pub topic: String,
    pub started: i64,
    pub ended: Option<i64>,
    pub outcome: Option<IterationOutcome>,
    /// More about the outcome.
    pub remark: Option<String>,
    pub tokens: Option<i64>,
    pub cost_usd: Option<f64>,
    /// What it handed over.
    pub handed_over: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IterationOutcome {
    HandedOver,
    /// The hat's default topic was published in the agent's place.
    Default,
    /// The hat publishes nothing, and its agent ended well.
    Done,
    /// The agent ended well and published nothing.
    Nothing,
    /// The agent did not end well.
    Failed,
    /// It was ended from outside: whoever drove the run was gone, somebody interrupted, or the time was over.
    CutOff,
}

impl IterationOutcome {
    const ALL: [Self; 6] = [Self::HandedOver, Self::Default, Self::Done, Self::Nothing, Self::Failed, Self::CutOff];

    pub fn name(self) -> &'static str {
        match self {
            Self::HandedOver => "handed_over",
            Self::Default => "default",
            Self::Done => "done",
            Self::Nothing => "nothing",
            Self::Failed => "failed",
            Self::CutOff => "cut_off",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

impl RunUsage {
    /// With one more iteration that has ended.
    #[must_use]
    pub fn with(self, ended: &Iteration) -> Self {
        let is_cut_off = ended.outcome == Some(IterationOutcome::CutOff);
        let failures = match ended.outcome {
            Some(IterationOutcome::Failed) => self.failures + 1,
            Some(IterationOutcome::CutOff) => self.failures,
            _ => 0,
        };
        let both = |one: Option<i64>, other: Option<i64>| one.into_iter().chain(other).reduce(|one, other| one + other);
        let costs = self.cost_usd.into_iter().chain(ended.cost_usd);
        Self {
            iterations: self.iterations + u32::from(!is_cut_off),
            time: self.time + ended.ended.unwrap_or(ended.started) - ended.started,
            tokens: both(self.tokens, ended.tokens),
            cost_usd: costs.reduce(|one, other| one + other),
            failures,
        }
    }
}

/// What a run has used up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunUsage {
    /// But for those that were cut off.
    pub iterations: u32,
    /// Milliseconds in which an agent was at work.
    pub time: i64,
    /// None where no agent said.
    pub tokens: Option<i64>,
    pub cost_usd: Option<f64>,
    /// The iterations that failed since one did not.
    pub failures: u32,
}
