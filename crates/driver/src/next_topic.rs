//! Which topic a run handles next, and under which hat; or why it ends here.

use engine::hats::{Hat, Loop};
use work::{Published, RunId, Work, WorkError};

use crate::active_run::ActiveRun;
use crate::agent_watch::StopReason;
use crate::driver::{DriveError, Driver};
use crate::limit;
use crate::run_end::RunEnd;
use crate::run_event::RunEvent;

pub(crate) enum Next<'a> {
    Iteration(Published, &'a Hat),
    /// What waits has changed.
    LookAgain,
    End(RunEnd),
}

impl Driver<'_> {
    pub(crate) fn next(&self, active: &mut ActiveRun<'_>) -> Result<Next<'_>, DriveError> {
        let (id, work) = (active.run.id, active.work);
        if active.signals.came() {
            return Ok(Next::End(RunEnd::stopped(StopReason::Interrupted)));
        }
        if work.run_is_to_stop(id)?.is_some() {
            return Ok(Next::End(RunEnd::stopped(StopReason::StoppedByPerson)));
        }
        let Some(published) = work.waiting(id)? else {
            if std::mem::take(&mut active.may_go_on) && self.the_loop.hat_for(Loop::TASK_RESUME).is_some() {
                work.publish_for_run(id, Loop::TASK_RESUME, active.run.objective.as_deref().unwrap_or_default())?;
                return Ok(Next::LookAgain);
            }
            return Ok(Next::End(RunEnd::failed(self.why_nothing_waits(id, work)?)));
        };
        let Some(hat) = self.the_loop.hat_for(&published.topic) else {
            work.pass_over(published.id)?;
            (active.report)(RunEvent::PassedOver { topic: &published.topic });
            return Ok(Next::LookAgain);
        };
        let reached = match limit::reached(&self.the_loop.limits, &active.spent) {
            // Activations of a hat without a limit are not counted.
            None if hat.max_activations.is_some() => limit::reached_by(hat, work.activations(id, &hat.id)?),
            reached => reached,
        };
        Ok(reached.map_or(Next::Iteration(published, hat), |why| Next::End(RunEnd::limit(why))))
    }

    /// Why no topic waits although no topic completed the run.
    fn why_nothing_waits(&self, run: RunId, work: &Work) -> Result<String, DriveError> {
        let last = work.iterations(run, 1)?.pop().map(|last| last.hat);
        let silent = last.and_then(|id| self.the_loop.hat(&id)).filter(|hat| hat.publishes.is_empty());
        let why = silent.map_or_else(String::new, |hat| format!("; the hat `{}` publishes nothing", hat.id));
        Ok(format!("nothing is left to do, and nothing said that the work is done{why}"))
    }
}

/// Whether a run that is resumed has something to do: a topic waits, an iteration was cut off, or a hat takes [`Loop::TASK_RESUME`].
pub fn can_go_on(run: RunId, work: &Work, the_loop: &Loop) -> Result<bool, WorkError> {
    let is_cut_off = work.iterations(run, 1)?.pop().is_some_and(|last| last.outcome.is_none());
    Ok(is_cut_off || work.waiting(run)?.is_some() || the_loop.hat_for(Loop::TASK_RESUME).is_some())
}
