//! Polls for requests to stop, signs of life and progress messages while an agent runs.

use std::time::{Duration, Instant, SystemTime};

use work::{RunId, WorkDatabase};

use crate::signals::Signals;

/// How often the work database is read.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

/// The reason why the driver stops an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    Interrupted,
    /// A person ran `runs stop`.
    StoppedByPerson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchResult {
    Nothing,
    /// The agent, or a process that it started, called Linchpin.
    SignOfLife,
    Stop(StopReason),
}

pub struct AgentWatch<'a> {
    work: &'a WorkDatabase,
    signals: &'a Signals,
    run: RunId,
    iteration: u32,
    clock: fn() -> i64,
    /// The number of the last progress message that was reported.
    pub reported_progress: i64,
    /// The time of the agent's last call of Linchpin, as of the last poll.
    last_activity: Option<SystemTime>,
    last_poll: Instant,
    last_heartbeat: Instant,
}

impl<'a> AgentWatch<'a> {
    pub fn new(
        work: &'a WorkDatabase,
        signals: &'a Signals,
        (run, iteration): (RunId, u32),
        clock: fn() -> i64,
        reported_progress: i64,
    ) -> Self {
        let now = Instant::now();
        Self {
            work,
            signals,
            run,
            iteration,
            clock,
            reported_progress,
            last_activity: None,
            last_poll: now,
            last_heartbeat: now,
        }
    }

    /// Polls at most once per [`POLL_INTERVAL`]. `report_progress` gets the agent's progress messages. `last_call`
    /// returns the time of the agent's last call of Linchpin.
    pub fn poll(
        &mut self,
        report_progress: impl FnMut(&str),
        last_call: impl FnOnce() -> Option<SystemTime>,
    ) -> WatchResult {
        if self.signals.arrived() {
            return WatchResult::Stop(StopReason::Interrupted);
        }
        if self.last_poll.elapsed() < POLL_INTERVAL {
            return WatchResult::Nothing;
        }
        self.last_poll = Instant::now();
        self.report_new_progress(report_progress);
        if self.last_heartbeat.elapsed() >= HEARTBEAT_INTERVAL {
            self.last_heartbeat = Instant::now();
            // An error is ignored, because the next heartbeat replaces this one.
            let _ = self.work.record_heartbeat(self.run, self.iteration, (self.clock)());
        }
        if self.work.run_stop_request(self.run).ok().flatten() == Some(true) {
            return WatchResult::Stop(StopReason::StoppedByPerson);
        }
        let activity = last_call();
        let is_new = activity.is_some() && self.last_activity.is_some() && activity != self.last_activity;
        self.last_activity = activity;
        if is_new { WatchResult::SignOfLife } else { WatchResult::Nothing }
    }

    pub fn report_new_progress(&mut self, mut report_progress: impl FnMut(&str)) {
        for (number, text) in self.work.progress_since(self.run, self.reported_progress).unwrap_or_default() {
            self.reported_progress = number;
            report_progress(&text);
        }
    }
}
