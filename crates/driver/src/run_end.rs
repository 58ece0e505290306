//! Why a run ends, and whether the result of an iteration ends it.

use engine::hats::{Hat, Loop};
use engine::pace::format_times;
use work::{Ending, Published, RunId, Work};

use crate::active_run::ActiveRun;
use crate::agent_watch::StopReason;
use crate::conclusion::{IterationResult, first_line};
use crate::driver::{DriveError, Driver};
use crate::limit;
use crate::run_event::RunEvent;

/// An agent that hands nothing over is started again so often.
const RETRIES: u32 = 3;

#[derive(Debug)]
pub(crate) struct RunEnd {
    pub how: Ending,
    pub why: String,
}

impl RunEnd {
    pub fn completed(the_loop: &Loop) -> Self {
        Self { how: Ending::Completed, why: format!("`{}` was accepted", the_loop.completion.topic) }
    }

    pub fn failed(why: String) -> Self {
        Self { how: Ending::Failed, why }
    }

    pub fn limit(why: String) -> Self {
        Self { how: Ending::Limit, why }
    }

    pub fn stopped(reason: StopReason) -> Self {
        let (how, why) = match reason {
            StopReason::Interrupted => (Ending::Interrupted, "somebody interrupted it"),
            StopReason::StoppedByPerson => (Ending::Stopped, "a person stopped it"),
        };
        Self { how, why: why.to_owned() }
    }
}

impl Driver<'_> {
    /// The end of the run, where this result of an iteration is its end.
    pub(crate) fn end_after(
        &self,
        result: IterationResult,
        published: &Published,
        hat: &Hat,
        active: &mut ActiveRun<'_>,
    ) -> Result<Option<RunEnd>, DriveError> {
        Ok(match result {
            IterationResult::HandedOver(topic) if topic == self.the_loop.completion.topic => {
                Some(RunEnd::completed(&self.the_loop))
            }
            IterationResult::HandedOver(topic) => self.end_if_stale(active.run.id, &topic, active.work)?,
            IterationResult::Done => {
                (active.report)(RunEvent::Done { hat: &hat.id });
                None
            }
            IterationResult::Nothing => end_after_nothing(published.tries + 1, hat, active)?,
            IterationResult::AgentFailed(failure) => self.end_after_failure(&failure, hat, active)?,
            IterationResult::AgentUnusable(why) => Some(RunEnd::failed(why)),
            IterationResult::OutOfTime => {
                let limit = self.the_loop.limits.runtime.map(limit::shown).unwrap_or_default();
                Some(RunEnd::limit(format!("the limit of {limit} is reached")))
            }
            IterationResult::Stopped(reason) => Some(RunEnd::stopped(reason)),
        })
    }

    fn end_after_failure(
        &self,
        failure: &str,
        hat: &Hat,
        active: &mut ActiveRun<'_>,
    ) -> Result<Option<RunEnd>, DriveError> {
        let why = format!("its agent {}", first_line(failure).unwrap_or_default());
        (active.report)(RunEvent::Nothing { hat: &hat.id, why: &why });
        if let Some(end) = waits_for_a_person(active.run.id, active.work)? {
            return Ok(Some(end));
        }
        let failures = active.spent.failures;
        let is_enough = self.the_loop.limits.failures.is_some_and(|limit| failures >= limit);
        Ok(is_enough.then(|| RunEnd::failed(failed_in_a_row(failures, failure))))
    }

    /// The end of a run that goes in circles.
    fn end_if_stale(&self, run: RunId, topic: &str, work: &Work) -> Result<Option<RunEnd>, DriveError> {
        let Some(limit) = self.the_loop.limits.stale else { return Ok(None) };
        let last = work.iterations(run, 1)?.pop();
        let times = last.map(|last| work.repetitions(run, last.number)).transpose()?.unwrap_or(0);
        if times < limit {
            return Ok(None);
        }
        let why = format!(
            "`{topic}` was handed over {} with the same words, and nothing in the tree changed",
            format_times(times.into())
        );
        let cause = match (work.last_waits_for(run)?, work.last_refusal(run)?) {
            (Some(gate), _) => format!("; the gate `{gate}` waits for a person: `linchpin approve {gate}`"),
            (None, Some((iteration, refused))) => {
                format!("; in iteration {iteration}, {}", first_line(&refused).unwrap_or_default())
            }
            (None, None) => String::new(),
        };
        Ok(Some(RunEnd::failed(format!("{why}{cause}"))))
    }
}

/// The end of a run whose hat handed nothing over too often.
fn end_after_nothing(times: u32, hat: &Hat, active: &mut ActiveRun<'_>) -> Result<Option<RunEnd>, DriveError> {
    let (id, work) = (active.run.id, active.work);
    let remark = work.iterations(id, 1)?.pop().and_then(|last| last.remark);
    let refused = remark.as_deref().and_then(first_line);
    let why = refused.map_or_else(String::new, |why| format!("; {why}"));
    (active.report)(RunEvent::Nothing { hat: &hat.id, why: &format!("handed nothing over{why}") });
    if let Some(end) = waits_for_a_person(id, work)? {
        return Ok(Some(end));
    }
    if times <= RETRIES {
        return Ok(None);
    }
    let attempt = remark.map_or_else(String::new, |why| format!("; its last attempt: {why}"));
    Ok(Some(RunEnd::failed(format!(
        "the hat `{}` ended {} without handing anything over{attempt}",
        hat.id,
        format_times(times.into())
    ))))
}

/// The end of a run whose last iteration met a gate that only a person can open: the next one would meet it too.
fn waits_for_a_person(run: RunId, work: &Work) -> Result<Option<RunEnd>, DriveError> {
    let last = work.iterations(run, 1)?.pop().map_or(0, |last| last.number);
    let gate = work.waits_for(run, last)?;
    Ok(gate.map(|gate| RunEnd::failed(format!("a person has to say yes first: `linchpin approve {gate}`"))))
}

/// Why a run ends after so many failures.
fn failed_in_a_row(failures: u32, last: &str) -> String {
    if failures == 1 {
        format!("an agent {last}")
    } else {
        format!("agents failed {failures} times in a row; the last one {last}")
    }
}

#[cfg(test)]
mod tests {
    use super::failed_in_a_row;

    #[test]
    fn one_failure_is_told_in_the_singular() {
        assert_eq!(failed_in_a_row(1, "ended with exit code 1"), "an agent ended with exit code 1");
        assert_eq!(failed_in_a_row(3, "timed out"), "agents failed 3 times in a row; the last one timed out");
    }
}
