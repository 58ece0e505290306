//! The events of a run, reported to the caller while it goes on.

use work::{Ending, RunId, RunUsage};

#[derive(Debug)]
pub enum RunEvent<'a> {
    Began {
        run: RunId,
        is_resumed: bool,
    },
    /// Processes of the run were still there, and were ended.
    Leftovers {
        run: RunId,
        count: usize,
    },
    /// A hat was put on.
    Iteration {
        number: u32,
        hat: &'a str,
        topic: &'a str,
        spent: RunUsage,
    },
    /// Output of its agent, for people.
    Said(&'a str),
    /// A progress message of its agent.
    Progress(&'a str),
    /// The iteration handed a topic over.
    HandedOver {
        hat: &'a str,
        topic: &'a str,
        is_default: bool,
        /// What its agent tried instead of the default, and why that was refused.
        refused: Option<&'a str>,
    },
    /// Its hat publishes nothing, and its agent ended well.
    Done {
        hat: &'a str,
    },
    /// The iteration handed nothing over.
    Nothing {
        hat: &'a str,
        why: &'a str,
    },
    /// No hat takes a topic.
    PassedOver {
        topic: &'a str,
    },
    Ended {
        how: Ending,
        why: &'a str,
        spent: RunUsage,
        /// Whether `run --resume` would find something to do.
        can_go_on: bool,
    },
}
