//! The state of a run while this process drives it.

use guard::workflow::GateFiles;
use work::{Run, RunUsage, WorkDatabase};

use crate::run_event::RunEvent;
use crate::signals::Signals;

pub(crate) struct ActiveRun<'a> {
    pub run: Run,
    pub work: &'a WorkDatabase,
    pub signals: &'a Signals,
    pub report: &'a mut dyn FnMut(RunEvent<'_>),
    /// The number of the last progress message that was reported.
    pub reported_progress: i64,
    /// The run's usage so far. Updated after each iteration, because computing the usage from all iterations takes
    /// longer after each one.
    pub spent: RunUsage,
    /// The files that gates refer to, as they were when the run began.
    pub gate_files: GateFiles,
    /// True if this is a resumed run that has not published [`engine::hats::Loop::TASK_RESUME`] yet. A run publishes
    /// this topic at most once, when no other topic waits.
    pub may_publish_resume: bool,
}
