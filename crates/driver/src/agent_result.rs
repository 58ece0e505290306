//! Decides the result of an iteration from how the agent's process ended and whether the agent handed something over.

use engine::hats::{Hat, Loop};
use guard::loops::Emission;
use guard::session::HatPhase;
use runner::ProcessEnd;
use work::{IterationEnd, IterationOutcome, WorkDatabase};

use crate::agent_output::AgentOutput;
use crate::agent_process::FinishedAgent;
use crate::agent_watch::StopReason;
use crate::driver::{DriveError, Driver};
use crate::limit::format_duration;
use crate::prompt::retry_note;
use crate::unusable_agent::{quoted_line, why_unusable};

/// The result of an agent's work in an iteration. It decides how the run goes on.
#[derive(Debug)]
pub(crate) enum AgentResult {
    /// The agent handed over with this topic.
    HandedOver(String),
    /// The agent succeeded, and its hat has no topic to publish.
    Done,
    /// The agent succeeded, but handed nothing over.
    NoHandOver,
    Failed(String),
    /// The agent cannot be started, or cannot work: no quota left, or not signed in.
    Unusable(String),
    /// The run's time limit was reached.
    OutOfTime,
    Stopped(StopReason),
}

impl Driver<'_> {
    /// Returns the agent's result, and the end of the iteration as it is stored, but without its usage and its tree.
    pub(crate) fn conclude_iteration(
        &self,
        hat_phase: &HatPhase,
        hat: &Hat,
        finished: &FinishedAgent,
        work: &WorkDatabase,
    ) -> Result<(AgentResult, IterationEnd), DriveError> {
        let (run, number) = (hat_phase.run_id(), hat_phase.iteration);
        let handed_over = work.handed_over_topic(run, number)?;
        let failure = describe_failure(finished.end, &self.the_loop);
        if let Some(topic) = handed_over {
            let is_interrupted = finished.stopped_by() == Some(StopReason::Interrupted);
            let result = if is_interrupted {
                AgentResult::Stopped(StopReason::Interrupted)
            } else {
                AgentResult::HandedOver(topic)
            };
            let remark = failure.map(|failure| format!("its agent {failure}"));
            return Ok((result, iteration_end(IterationOutcome::HandedOver, remark)));
        }
        let refusal = work.refusal(run, number)?;
        match failure {
            Some(failure) => Ok(self.conclude_failure(hat, failure, refusal.as_deref(), finished)),
            None if hat.publishes.is_empty() => Ok((AgentResult::Done, iteration_end(IterationOutcome::Done, None))),
            None => self.conclude_without_hand_over(hat_phase, hat, refusal, work),
        }
    }

    /// Concludes an iteration in which the agent succeeded without handing anything over: publishes the hat's default
    /// topic, if it has one.
    fn conclude_without_hand_over(
        &self,
        hat_phase: &HatPhase,
        hat: &Hat,
        refusal: Option<String>,
        work: &WorkDatabase,
    ) -> Result<(AgentResult, IterationEnd), DriveError> {
        let (run, number) = (hat_phase.run_id(), hat_phase.iteration);
        // If a gate waits for a person, publishing the default topic would hide that.
        if work.awaited_gate(run, number)?.is_none() {
            self.publish_default(hat_phase, hat, refusal.as_deref());
        }
        if let Some(topic) = work.handed_over_topic(run, number)? {
            return Ok((AgentResult::HandedOver(topic), iteration_end(IterationOutcome::DefaultTopic, refusal)));
        }
        // The refusal of the agent's own topic is more informative than that of the default topic.
        let remark = refusal.map_or_else(|| work.refusal(run, number), |refusal| Ok(Some(refusal)))?;
        let note_for_retry = Some(retry_note(hat, remark.as_deref()));
        let end = IterationEnd { note_for_retry, ..iteration_end(IterationOutcome::NoTopic, remark) };
        Ok((AgentResult::NoHandOver, end))
    }

    /// Publishes the hat's default topic. `refusal`: the reason why the agent's own topic was not accepted.
    fn publish_default(&self, hat_phase: &HatPhase, hat: &Hat, refusal: Option<&str>) {
        let Some(topic) = hat.default_publishes.as_deref() else { return };
        let summary = match refusal.and_then(first_line) {
            // The default topic would only start the same hat again. If it is not published, the hat is started again
            // too, but with a note that contains the whole refusal.
            Some(_) if self.the_loop.hat_for(topic).is_some_and(|next| next.id == hat.id) => return,
            Some(refusal) => format!("(the hat `{}` ended without publishing a topic; {refusal})", hat.id),
            None => format!("(the hat `{}` ended without publishing a topic)", hat.id),
        };
        // The result is ignored: if the topic is refused, `emit` stores the reason in the iteration.
        let _ = self.workflow_commands(hat_phase).emit(hat_phase, Emission { topic, summary: &summary, payload: None });
    }

    fn conclude_failure(
        &self,
        hat: &Hat,
        failure: String,
        refusal: Option<&str>,
        finished: &FinishedAgent,
    ) -> (AgentResult, IterationEnd) {
        // A script that ends with a refused `emit` has the exit code of `emit`. The refusal is more informative than
        // the code.
        let failure = match refusal {
            Some(refusal) => format!("{failure}; its last attempt: {refusal}"),
            None => failure,
        };
        let remark = Some(format!("its agent {failure}"));
        let (outcome, result) = match (finished.end, finished.stopped_by()) {
            (ProcessEnd::Stopped, Some(reason)) => (IterationOutcome::Aborted, AgentResult::Stopped(reason)),
            (ProcessEnd::Timeout, _) => (IterationOutcome::Aborted, AgentResult::OutOfTime),
            (ProcessEnd::Exited(_), _) => {
                (IterationOutcome::Failed, self.result_for_exit_code(hat, failure, &finished.output))
            }
            _ => (IterationOutcome::Failed, AgentResult::Failed(failure)),
        };
        (result, iteration_end(outcome, remark))
    }

    /// The result for a non-zero exit code: the agent failed, or its output says that it cannot work at all.
    fn result_for_exit_code(&self, hat: &Hat, failure: String, output: &AgentOutput) -> AgentResult {
        let last_lines = output.last_lines();
        match why_unusable(&last_lines) {
            Some(why) => {
                let (agent, quoted) = (self.the_loop.agent_of(hat), quoted_line(&last_lines));
                AgentResult::Unusable(format!("{agent} cannot continue: {why} ({quoted})"))
            }
            None => AgentResult::Failed(failure),
        }
    }
}

/// Returns the end of an iteration with only its outcome and a remark.
fn iteration_end(outcome: IterationOutcome, remark: Option<String>) -> IterationEnd {
    IterationEnd { outcome: Some(outcome), remark, ..IterationEnd::default() }
}

pub(crate) fn first_line(refusal: &str) -> Option<&str> {
    refusal.lines().next()
}

/// Describes how an agent failed; `None` if it succeeded.
fn describe_failure(end: ProcessEnd, the_loop: &Loop) -> Option<String> {
    match end {
        ProcessEnd::Exited(0) => None,
        ProcessEnd::Exited(code) => Some(format!("ended with exit code {code}")),
        ProcessEnd::Signal(signal) => Some(format!("was killed by signal {signal}")),
        ProcessEnd::IdleTimeout => {
            let idle = the_loop.limits.idle.map(format_duration).unwrap_or_default();
            Some(format!("printed nothing and did not call Linchpin for {idle}, so it was killed"))
        }
        ProcessEnd::Timeout | ProcessEnd::Stopped => Some("was ended".to_owned()),
    }
}
