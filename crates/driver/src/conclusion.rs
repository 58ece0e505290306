//! The conclusion of an iteration, drawn from how its agent ended and from what was handed over.

use engine::hats::{Hat, Loop};
use guard::loops::Emission;
use guard::session::Stage;
use runner::AttendedEnd;
use work::{IterationOutcome, Work};

use crate::agent_output::AgentOutput;
use crate::agent_watch::StopReason;
use crate::driver::{DriveError, Driver};
use crate::limit::shown;
use crate::prompt::retry_note;
use crate::turn::FinishedTurn;
use crate::unusable_agent::{quoted_line, why_unusable};

/// What an iteration means for the run.
#[derive(Debug)]
pub(crate) enum IterationResult {
    /// A topic was accepted.
    HandedOver(String),
    /// The hat publishes nothing, and its agent ended well.
    Done,
    /// The agent ended well and handed nothing over.
    Nothing,
    AgentFailed(String),
    /// The agent cannot work at all, or cannot be started.
    AgentUnusable(String),
    /// The time of the run is over.
    OutOfTime,
    Stopped(StopReason),
}

/// What is written down of an iteration, and what it means for the run.
pub(crate) struct Conclusion {
    pub outcome: IterationOutcome,
    pub remark: Option<String>,
    /// What the next agent is told of this one.
    pub for_the_next: Option<String>,
    pub result: IterationResult,
}

impl Driver<'_> {
    pub(crate) fn conclude(
        &self,
        stage: &Stage,
        hat: &Hat,
        finished: &FinishedTurn,
        work: &Work,
    ) -> Result<Conclusion, DriveError> {
        let (run, number) = (stage.id(), stage.iteration);
        let handed_over = work.handed_over(run, number)?;
        let failure = failure(finished.end, &self.the_loop);
        if let Some(topic) = handed_over {
            let is_interrupted = finished.stopped_by() == Some(StopReason::Interrupted);
            let result = if is_interrupted {
                IterationResult::Stopped(StopReason::Interrupted)
            } else {
                IterationResult::HandedOver(topic)
            };
            let remark = failure.map(|failure| format!("its agent {failure}"));
            return Ok(Conclusion { outcome: IterationOutcome::HandedOver, remark, for_the_next: None, result });
        }
        let refused = work.refusal(run, number)?;
        match failure {
            Some(failure) => Ok(self.failed(hat, failure, refused.as_deref(), finished)),
            None if hat.publishes.is_empty() => Ok(Conclusion {
                outcome: IterationOutcome::Done,
                remark: None,
                for_the_next: None,
                result: IterationResult::Done,
            }),
            None => self.nothing_handed_over(stage, hat, refused, work),
        }
    }

    /// The agent ended well without handing anything over: the hat's default is published in its place, if that is accepted.
    fn nothing_handed_over(
        &self,
        stage: &Stage,
        hat: &Hat,
        refused: Option<String>,
        work: &Work,
    ) -> Result<Conclusion, DriveError> {
        let (run, number) = (stage.id(), stage.iteration);
        // A default would hide that a person is asked for something.
        if work.waits_for(run, number)?.is_none() {
            self.publish_default(stage, hat, refused.as_deref());
        }
        if let Some(topic) = work.handed_over(run, number)? {
            let result = IterationResult::HandedOver(topic);
            return Ok(Conclusion { outcome: IterationOutcome::Default, remark: refused, for_the_next: None, result });
        }
        // The agent's own attempt says more than the default that was tried in its place.
        let remark = refused.map_or_else(|| work.refusal(run, number), |refused| Ok(Some(refused)))?;
        let for_the_next = Some(retry_note(hat, remark.as_deref()));
        Ok(Conclusion { outcome: IterationOutcome::Nothing, remark, for_the_next, result: IterationResult::Nothing })
    }

    /// Publishes the hat's default topic. `refused`: the answer to the agent's own attempt.
    fn publish_default(&self, stage: &Stage, hat: &Hat, refused: Option<&str>) {
        let Some(topic) = hat.default_publishes.as_deref() else { return };
        let summary = match refused.and_then(first_line) {
            // The same hat would begin again without a word of what was refused.
            Some(_) if self.the_loop.hat_for(topic).is_some_and(|next| next.id == hat.id) => return,
            Some(refused) => format!("(the hat `{}` ended without handing anything over; {refused})", hat.id),
            None => format!("(the hat `{}` ended without a word of its own)", hat.id),
        };
        // A refusal is kept with the iteration.
        let _ = self.moves(stage).emit(stage, Emission { topic, summary: &summary, payload: None });
    }

    fn failed(&self, hat: &Hat, failure: String, refused: Option<&str>, finished: &FinishedTurn) -> Conclusion {
        // A script that ends with a refused `emit` has its exit code: what was refused says more than the code.
        let failure = match refused {
            Some(refused) => format!("{failure}; its last attempt: {refused}"),
            None => failure,
        };
        let remark = Some(format!("its agent {failure}"));
        let (outcome, result) = match (finished.end, finished.stopped_by()) {
            (AttendedEnd::Told, Some(reason)) => (IterationOutcome::CutOff, IterationResult::Stopped(reason)),
            (AttendedEnd::TimeOver, _) => (IterationOutcome::CutOff, IterationResult::OutOfTime),
            (AttendedEnd::Exited(_), _) => (IterationOutcome::Failed, self.exited(hat, failure, &finished.output)),
            _ => (IterationOutcome::Failed, IterationResult::AgentFailed(failure)),
        };
        Conclusion { outcome, remark, for_the_next: None, result }
    }

    /// An agent that ended with an exit code other than 0: it failed, or it says that it cannot work at all.
    fn exited(&self, hat: &Hat, failure: String, output: &AgentOutput) -> IterationResult {
        let last_lines = output.last_lines();
        match why_unusable(&last_lines) {
            Some(why) => {
                let (agent, quoted) = (self.agent_of(hat), quoted_line(&last_lines));
                IterationResult::AgentUnusable(format!("{agent} cannot go on: {why} ({quoted})"))
            }
            None => IterationResult::AgentFailed(failure),
        }
    }
}

/// A refusal in one line.
pub(crate) fn first_line(refused: &str) -> Option<&str> {
    refused.lines().next()
}

/// How an agent ended, in words, where it did not end well.
fn failure(end: AttendedEnd, the_loop: &Loop) -> Option<String> {
    match end {
        AttendedEnd::Exited(0) => None,
        AttendedEnd::Exited(code) => Some(format!("ended with exit code {code}")),
        AttendedEnd::Signal(signal) => Some(format!("was ended by signal {signal}")),
        AttendedEnd::Silent => {
            let idle = the_loop.limits.idle.map(shown).unwrap_or_default();
            Some(format!("neither printed anything nor called Linchpin for {idle}, and was ended"))
        }
        AttendedEnd::TimeOver | AttendedEnd::Told => Some("was ended".to_owned()),
    }
}
