//! Events of an active run, reported to the caller.

use work::{RunId, RunOutcome, RunUsage};

#[derive(Debug)]
pub enum RunEvent<'a> {
    Began {
        run: RunId,
        is_resumed: bool,
    },
    /// Leftover processes of the run were ended.
    Leftovers {
        run: RunId,
        count: usize,
    },
    /// An iteration began.
    Iteration {
        number: u32,
        hat: &'a str,
        topic: &'a str,
        spent: RunUsage,
    },
    /// Output of the agent for people to read.
    Output(&'a str),
    /// A progress message of the agent.
    Progress(&'a str),
    /// The iteration handed over with this topic.
    HandedOver {
        hat: &'a str,
        topic: &'a str,
        summary: &'a str,
        is_default: bool,
        /// The reason why the agent's own attempt was refused, if the default topic was published instead.
        refusal: Option<&'a str>,
    },
    /// The agent succeeded, and its hat has no topic to publish.
    Done {
        hat: &'a str,
    },
    /// The iteration handed nothing over.
    NoHandOver {
        hat: &'a str,
        why: &'a str,
    },
    /// No hat handles this topic.
    TopicSkipped {
        topic: &'a str,
    },
    Ended {
        outcome: RunOutcome,
        why: &'a str,
        spent: RunUsage,
        /// True if `run --resume` would have something to do.
        can_resume: bool,
    },
}
