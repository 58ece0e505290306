//! Decides the outcome of an iteration from how its agent ended and whether it handed something over.

use engine::hats::{Hat, Loop};
use guard::loops::Emission;
use guard::session::HatPhase;
use runner::ProcessEnd;
use work::{IterationOutcome, WorkDatabase};

use crate::agent_output::AgentOutput;
use crate::agent_process::FinishedAgentRun;
use crate::agent_watch::StopReason;
use crate::driver::{DriveError, Driver};
use crate::limit::format_duration;
use crate::prompt::retry_note;
use crate::unusable_agent::{quoted_line, why_unusable};

/// The result of an iteration, which decides how the run goes on.
#[derive(Debug)]
pub(crate) enum IterationResult {
    /// The agent handed over with this topic.
    HandedOver(String),
    /// The agent succeeded, and its hat has no topic to publish.
    Done,
    /// The agent succeeded, but handed nothing over.
    NoHandOver,
    AgentFailed(String),
    /// The agent cannot be started, or cannot work: no quota left, or not signed in.
    AgentUnusable(String),
    /// The run's time limit was reached.
    OutOfTime,
    Stopped(StopReason),
}

/// The result of an iteration, and the record of it that is stored.
pub(crate) struct IterationConclusion {
    pub outcome: IterationOutcome,
    pub remark: Option<String>,
    /// A note for the next agent that handles the same topic.
    pub note_for_retry: Option<String>,
    pub result: IterationResult,
}

impl Driver<'_> {
    pub(crate) fn conclude(
        &self,
        hat_phase: &HatPhase,
        hat: &Hat,
        finished: &FinishedAgentRun,
        work: &WorkDatabase,
    ) -> Result<IterationConclusion, DriveError> {
        let (run, number) = (hat_phase.run_id(), hat_phase.iteration);
        let handed_over = work.handed_over_topic(run, number)?;
        let failure = describe_failure(finished.end, &self.the_loop);
        if let Some(topic) = handed_over {
            let is_interrupted = finished.stopped_by() == Some(StopReason::Interrupted);
            let result = if is_interrupted {
                IterationResult::Stopped(StopReason::Interrupted)
            } else {
                IterationResult::HandedOver(topic)
            };
            let remark = failure.map(|failure| format!("its agent {failure}"));
            return Ok(IterationConclusion {
                outcome: IterationOutcome::HandedOver,
                remark,
                note_for_retry: None,
                result,
            });
        }
        let refusal = work.refusal(run, number)?;
        match failure {
            Some(failure) => Ok(self.conclude_failure(hat, failure, refusal.as_deref(), finished)),
            None if hat.publishes.is_empty() => Ok(IterationConclusion {
                outcome: IterationOutcome::Done,
                remark: None,
                note_for_retry: None,
                result: IterationResult::Done,
            }),
            None => self.conclude_without_hand_over(hat_phase, hat, refusal, work),
        }
    }

    /// Concludes an iteration whose agent succeeded without handing anything over: tries to publish the hat's default
    /// topic.
    fn conclude_without_hand_over(
        &self,
        hat_phase: &HatPhase,
        hat: &Hat,
        refusal: Option<String>,
        work: &WorkDatabase,
    ) -> Result<IterationConclusion, DriveError> {
        let (run, number) = (hat_phase.run_id(), hat_phase.iteration);
        // Publishing the default would hide that a gate waits for a person.
        if work.awaited_gate(run, number)?.is_none() {
            self.publish_default(hat_phase, hat, refusal.as_deref());
        }
        if let Some(topic) = work.handed_over_topic(run, number)? {
            let result = IterationResult::HandedOver(topic);
            return Ok(IterationConclusion {
                outcome: IterationOutcome::DefaultTopic,
                remark: refusal,
                note_for_retry: None,
                result,
            });
        }
        // The refusal of the agent's own attempt is more informative than that of the default.
        let remark = refusal.map_or_else(|| work.refusal(run, number), |refusal| Ok(Some(refusal)))?;
        let note_for_retry = Some(retry_note(hat, remark.as_deref()));
        Ok(IterationConclusion {
            outcome: IterationOutcome::NoTopic,
            remark,
            note_for_retry,
            result: IterationResult::NoHandOver,
        })
    }

    /// Publishes the hat's default topic. `refusal` says why the topic that the agent published was not accepted.
    fn publish_default(&self, hat_phase: &HatPhase, hat: &Hat, refusal: Option<&str>) {
        let Some(topic) = hat.default_publishes.as_deref() else { return };
        let summary = match refusal.and_then(first_line) {
            // The same hat would start again without knowing what was refused.
            Some(_) if self.the_loop.hat_for(topic).is_some_and(|next| next.id == hat.id) => return,
            Some(refusal) => format!("(the hat `{}` ended without publishing a topic; {refusal})", hat.id),
            None => format!("(the hat `{}` ended without publishing a topic)", hat.id),
        };
        // If the default is refused, `emit` stores the reason in the iteration.
        let _ = self.workflow_commands(hat_phase).emit(hat_phase, Emission { topic, summary: &summary, payload: None });
    }

    fn conclude_failure(
        &self,
        hat: &Hat,
        failure: String,
        refusal: Option<&str>,
        finished: &FinishedAgentRun,
    ) -> IterationConclusion {
        // A script that ends with a refused `emit` has the exit code of `emit`. The refusal is more informative than
        // the code.
        let failure = match refusal {
            Some(refusal) => format!("{failure}; its last attempt: {refusal}"),
            None => failure,
        };
        let remark = Some(format!("its agent {failure}"));
        let (outcome, result) = match (finished.end, finished.stopped_by()) {
            (ProcessEnd::Stopped, Some(reason)) => (IterationOutcome::Aborted, IterationResult::Stopped(reason)),
            (ProcessEnd::Timeout, _) => (IterationOutcome::Aborted, IterationResult::OutOfTime),
            (ProcessEnd::Exited(_), _) => {
                (IterationOutcome::Failed, self.result_for_exit_code(hat, failure, &finished.output))
            }
            _ => (IterationOutcome::Failed, IterationResult::AgentFailed(failure)),
        };
        IterationConclusion { outcome, remark, note_for_retry: None, result }
    }

    /// The result for a non-zero exit code: the agent failed, or its output says that it cannot work at all.
    fn result_for_exit_code(&self, hat: &Hat, failure: String, output: &AgentOutput) -> IterationResult {
        let last_lines = output.last_lines();
        match why_unusable(&last_lines) {
            Some(why) => {
                let (agent, quoted) = (self.agent_of(hat), quoted_line(&last_lines));
                IterationResult::AgentUnusable(format!("{agent} cannot continue: {why} ({quoted})"))
            }
            None => IterationResult::AgentFailed(failure),
        }
    }
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
