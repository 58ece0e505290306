//! A run while this process drives it.

use guard::workflow::GateFiles;
use work::{Run, RunUsage, Work};

use crate::run_event::RunEvent;
use crate::signals::Signals;

pub(crate) struct ActiveRun<'a> {
    pub run: Run,
    pub work: &'a Work,
    pub signals: &'a Signals,
    pub report: &'a mut dyn FnMut(RunEvent<'_>),
    /// The number of the last progress message that was reported.
    pub reported_progress: i64,
    /// By the run so far. Counted once: to count very many iterations after each of them would take ever longer.
    pub spent: RunUsage,
    /// The files that gates name, as they were when the run began.
    pub gate_files: GateFiles,
    /// It was resumed: where no topic waits, [`engine::hats::Loop::TASK_RESUME`] is published once.
    pub may_go_on: bool,
}
