//! Chooses the next topic and its hat, or ends the run.

use engine::hats::{Hat, Loop};
use work::{PublishedTopic, RunId, WorkDatabase, WorkError};

use crate::active_run::ActiveRun;
use crate::agent_watch::StopReason;
use crate::driver::{DriveError, Driver};
use crate::limit;
use crate::run_conclusion::RunConclusion;
use crate::run_event::RunEvent;

pub(crate) enum NextStep<'a> {
    Iteration(PublishedTopic, &'a Hat),
    /// The waiting topics have changed, so the caller must choose again.
    TryAgain,
    End(RunConclusion),
}

impl Driver<'_> {
    pub(crate) fn next_step(&self, active: &mut ActiveRun<'_>) -> Result<NextStep<'_>, DriveError> {
        let (id, work) = (active.run.id, active.work);
        if active.signals.arrived() {
            return Ok(NextStep::End(RunConclusion::stopped(StopReason::Interrupted)));
        }
        if work.run_stop_request(id)?.is_some() {
            return Ok(NextStep::End(RunConclusion::stopped(StopReason::StoppedByPerson)));
        }
        let Some(published) = work.oldest_waiting_topic(id)? else {
            if std::mem::take(&mut active.may_publish_resume) && self.the_loop.hat_for(Loop::TASK_RESUME).is_some() {
                work.publish_for_run(id, Loop::TASK_RESUME, active.run.objective.as_deref().unwrap_or_default())?;
                return Ok(NextStep::TryAgain);
            }
            return Ok(NextStep::End(RunConclusion::failed(self.why_no_topic_waits(id, work)?)));
        };
        let Some(hat) = self.the_loop.hat_for(&published.topic) else {
            work.skip_topic(published.id)?;
            (active.report)(RunEvent::TopicSkipped { topic: &published.topic });
            return Ok(NextStep::TryAgain);
        };
        let reached = match limit::run_limit_reached(&self.the_loop.limits, &active.spent) {
            // The activations are counted only for a hat with a limit.
            None if hat.max_activations.is_some() => {
                limit::hat_limit_reached(hat, work.count_activations(id, &hat.id)?)
            }
            reached => reached,
        };
        Ok(reached.map_or(NextStep::Iteration(published, hat), |why| NextStep::End(RunConclusion::limit_reached(why))))
    }

    /// Explains why a run ends although no hat published the completion topic.
    fn why_no_topic_waits(&self, run: RunId, work: &WorkDatabase) -> Result<String, DriveError> {
        let last = work.iterations(run, 1)?.pop().map(|last| last.hat);
        let final_hat = last.and_then(|id| self.the_loop.hat(&id)).filter(|hat| hat.publishes.is_empty());
        let why = final_hat.map_or_else(String::new, |hat| format!("; the hat `{}` publishes nothing", hat.id));
        Ok(format!("no topic is left to handle, and no hat published the completion topic{why}"))
    }
}

/// True if the run would have something to do after `run --resume`: a topic waits, the last iteration was aborted, or a
/// hat handles [`Loop::TASK_RESUME`].
pub fn can_resume(run: RunId, work: &WorkDatabase, the_loop: &Loop) -> Result<bool, WorkError> {
    let is_aborted = work.iterations(run, 1)?.pop().is_some_and(|last| last.outcome.is_none());
    Ok(is_aborted || work.oldest_waiting_topic(run)?.is_some() || the_loop.hat_for(Loop::TASK_RESUME).is_some())
}
