//! Runs one agent, from its start to its end.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use engine::hats::Hat;
use guard::session::HatPhase;
use runner::{NotStarted, ProcessEnd, StreamedProcess, WatchAction, shim};

use crate::agent_command::agent_command;
use crate::agent_output::AgentOutput;
use crate::agent_watch::{AgentWatch, StopReason, WatchResult};
use crate::driver::Driver;
use crate::leftovers::AgentGroupFile;
use crate::run_event::RunEvent;

/// Everything that is needed to start an agent for one iteration.
pub struct AgentStart<'a> {
    pub hat_phase: &'a HatPhase,
    pub hat: &'a Hat,
    pub prompt: &'a str,
    /// The log file for the agent's output.
    pub log: &'a Path,
    /// `None` if the agent may run without a limit.
    pub timeout: Option<Duration>,
}

pub struct FinishedAgent {
    pub end: ProcessEnd,
    pub output: AgentOutput,
    stop_reason: Option<StopReason>,
}

impl FinishedAgent {
    /// Returns the reason why the driver stopped the agent; `None` if the agent ended for another reason.
    pub fn stopped_by(&self) -> Option<StopReason> {
        self.stop_reason.filter(|_| self.end == ProcessEnd::Stopped)
    }
}

impl Driver<'_> {
    pub(crate) fn run_agent(
        &self,
        agent_start: &AgentStart<'_>,
        watch: &mut AgentWatch<'_>,
        report: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<FinishedAgent, NotStarted> {
        let AgentStart { hat_phase, hat, prompt, log, timeout } = *agent_start;
        let command = agent_command(self.the_loop.agent_of(hat), prompt, &log.with_extension("prompt.md"));
        let command = command.map_err(|error| NotStarted { why: error.to_string() })?;
        let mut output = AgentOutput::new(command.output_format, log);
        let get_variable = |name: &str| self.environment.get(name).map(OsString::from);
        let started = (self.clock)();
        let group_file = AgentGroupFile::new(hat_phase.run_id(), &self.project.root, self.environment);
        let process = StreamedProcess {
            argv: command.argv,
            working_directory: self.project.root.clone(),
            variables: vec![
                (HatPhase::RUN, hat_phase.run_id().to_string().into()),
                (HatPhase::ITERATION, hat_phase.iteration.to_string().into()),
                (HatPhase::SECRET, hat_phase.secret.clone().into()),
                (HatPhase::ROOT, self.project.root.clone().into()),
                (runner::STARTED_BY, HatPhase::started_by(hat_phase.run_id(), &self.project.root).into()),
                (HatPhase::HAT, hat.id.clone().into()),
                (HatPhase::BINARY, self.binary.clone()),
            ],
            stdin: command.stdin,
            get_variable: &get_variable,
            idle_timeout: self.the_loop.limits.idle,
            is_busy: &|| self.has_open_call(started) || self.has_called_within_idle_time(hat_phase),
            timeout,
            shim: shim::shim_command(),
            on_start: &|pid| group_file.store(pid),
        };
        let mut stop_reason = None;
        // Both closures call `report`: one for output, one for progress messages.
        let report = RefCell::new(report);
        let end = process.run(
            |stream, piece| output.receive(stream, piece, |text| (report.borrow_mut())(RunEvent::Output(text))),
            || {
                let last_call = || hat_phase.last_activity(self.project, self.environment);
                match watch.poll(|text| self.report_progress(text, &mut **report.borrow_mut()), last_call) {
                    WatchResult::Stop(reason) => {
                        stop_reason = Some(reason);
                        WatchAction::Stop
                    }
                    WatchResult::SignOfLife => WatchAction::KeepAlive,
                    WatchResult::Nothing => WatchAction::Continue,
                }
            },
        )?;
        output.finish(|text| (report.borrow_mut())(RunEvent::Output(text)));
        Ok(FinishedAgent { end, output, stop_reason })
    }

    /// True if the agent called Linchpin within the idle time. The watch may not have seen the call yet, for example if
    /// the call was the end of a long tool call.
    fn has_called_within_idle_time(&self, hat_phase: &HatPhase) -> bool {
        let last_call = hat_phase.last_activity(self.project, self.environment);
        let since = last_call.and_then(|time| time.elapsed().ok());
        since.zip(self.the_loop.limits.idle).is_some_and(|(since, idle)| since < idle)
    }
}
