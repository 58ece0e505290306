//! What whoever drives a run is told while it goes on.

use work::{Ending, RunId, RunUsage};

#[derive(Debug)]
pub enum News<'a> {
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
    /// Something that its agent says, to people.
    Said(&'a str),
    /// Something that its agent says on purpose.
    Progress(&'a str),
    /// It handed something over.
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
    /// It did not.
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
