//! Decides whether the result of an iteration ends the run, and with which outcome and reason.

use engine::hats::{Hat, Loop};
use engine::pace::format_times;
use work::{PublishedTopic, RunId, RunOutcome, WorkDatabase};

use crate::active_run::ActiveRun;
use crate::agent_result::{AgentResult, first_line};
use crate::agent_watch::StopReason;
use crate::driver::{DriveError, Driver};
use crate::limit;
use crate::run_event::RunEvent;

/// The maximum number of restarts of an agent that hands nothing over.
const RETRIES: u32 = 3;

#[derive(Debug)]
pub(crate) struct RunConclusion {
    pub outcome: RunOutcome,
    pub why: String,
}

impl RunConclusion {
    pub fn completed(the_loop: &Loop) -> Self {
        Self { outcome: RunOutcome::Completed, why: format!("`{}` was accepted", the_loop.completion.topic) }
    }

    pub fn failed(why: String) -> Self {
        Self { outcome: RunOutcome::Failed, why }
    }

    pub fn limit_reached(why: String) -> Self {
        Self { outcome: RunOutcome::Limit, why }
    }

    pub fn stopped(reason: StopReason) -> Self {
        let (outcome, why) = match reason {
            StopReason::Interrupted => (RunOutcome::Interrupted, "by Ctrl-C or a signal"),
            StopReason::StoppedByPerson => (RunOutcome::Stopped, "a person stopped it"),
        };
        Self { outcome, why: why.to_owned() }
    }
}

impl Driver<'_> {
    /// Returns the conclusion if this result ends the run.
    pub(crate) fn conclusion_after(
        &self,
        result: AgentResult,
        published: &PublishedTopic,
        hat: &Hat,
        active: &mut ActiveRun<'_>,
    ) -> Result<Option<RunConclusion>, DriveError> {
        Ok(match result {
            AgentResult::HandedOver(topic) if topic == self.the_loop.completion.topic => {
                Some(RunConclusion::completed(&self.the_loop))
            }
            AgentResult::HandedOver(topic) => self.conclusion_if_stale(active.run.id, &topic, active.work)?,
            AgentResult::Done => {
                (active.report)(RunEvent::Done { hat: &hat.id });
                None
            }
            AgentResult::NoHandOver => conclusion_without_hand_over(published.tries + 1, hat, active)?,
            AgentResult::Failed(failure) => self.conclusion_after_failure(&failure, hat, active)?,
            AgentResult::Unusable(why) => Some(RunConclusion::failed(why)),
            AgentResult::OutOfTime => {
                let limit = self.the_loop.limits.runtime.map(limit::format_duration).unwrap_or_default();
                Some(RunConclusion::limit_reached(format!("the limit of {limit} is reached")))
            }
            AgentResult::Stopped(reason) => Some(RunConclusion::stopped(reason)),
        })
    }

    fn conclusion_after_failure(
        &self,
        failure: &str,
        hat: &Hat,
        active: &mut ActiveRun<'_>,
    ) -> Result<Option<RunConclusion>, DriveError> {
        let why = format!("its agent {}", first_line(failure).unwrap_or_default());
        (active.report)(RunEvent::NoHandOver { hat: &hat.id, why: &why });
        if let Some(end) = conclusion_if_person_needed(active.run.id, active.work)? {
            return Ok(Some(end));
        }
        let failures = active.spent.failures;
        let is_limit_reached = self.the_loop.limits.failures.is_some_and(|limit| failures >= limit);
        Ok(is_limit_reached.then(|| RunConclusion::failed(failed_in_a_row(failures, failure))))
    }

    /// Returns the conclusion if the run hands over the same topic again and again.
    fn conclusion_if_stale(
        &self,
        run: RunId,
        topic: &str,
        work: &WorkDatabase,
    ) -> Result<Option<RunConclusion>, DriveError> {
        let Some(limit) = self.the_loop.limits.stale else { return Ok(None) };
        let last = work.iterations(run, 1)?.pop();
        let times = last.map(|last| work.count_repetitions(run, last.number)).transpose()?.unwrap_or(0);
        if times < limit {
            return Ok(None);
        }
        let why = format!(
            "`{topic}` was published {} with the same summary, and nothing in the tree changed",
            format_times(times.into())
        );
        let cause = match (work.last_awaited_gate(run)?, work.last_refusal(run)?) {
            (Some(gate), _) => format!("; the gate `{gate}` waits for a person: `linchpin approve {gate}`"),
            (None, Some((iteration, refusal))) => {
                format!("; in iteration {iteration}, {}", first_line(&refusal).unwrap_or_default())
            }
            (None, None) => String::new(),
        };
        Ok(Some(RunConclusion::failed(format!("{why}{cause}"))))
    }
}

/// Returns the conclusion if the hat has ended without a hand-over more than [`RETRIES`] times for the same topic.
fn conclusion_without_hand_over(
    times: u32,
    hat: &Hat,
    active: &mut ActiveRun<'_>,
) -> Result<Option<RunConclusion>, DriveError> {
    let (id, work) = (active.run.id, active.work);
    let remark = work.iterations(id, 1)?.pop().and_then(|last| last.remark);
    let refusal = remark.as_deref().and_then(first_line);
    let why = refusal.map_or_else(String::new, |why| format!("; {why}"));
    (active.report)(RunEvent::NoHandOver { hat: &hat.id, why: &format!("handed nothing over{why}") });
    if let Some(end) = conclusion_if_person_needed(id, work)? {
        return Ok(Some(end));
    }
    if times <= RETRIES {
        return Ok(None);
    }
    let attempt = remark.map_or_else(String::new, |why| format!("; its last attempt: {why}"));
    Ok(Some(RunConclusion::failed(format!(
        "the hat `{}` ended {} without publishing a topic{attempt}",
        hat.id,
        format_times(times.into())
    ))))
}

/// Returns the conclusion if the last iteration failed at a gate that only a person can open: the next one would fail
/// there too.
fn conclusion_if_person_needed(run: RunId, work: &WorkDatabase) -> Result<Option<RunConclusion>, DriveError> {
    let last = work.iterations(run, 1)?.pop().map_or(0, |last| last.number);
    let gate = work.awaited_gate(run, last)?;
    Ok(gate.map(|gate| RunConclusion::failed(format!("a person must approve first: `linchpin approve {gate}`"))))
}

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
    fn a_single_failure_is_reported_in_the_singular() {
        assert_eq!(failed_in_a_row(1, "ended with exit code 1"), "an agent ended with exit code 1");
        assert_eq!(failed_in_a_row(3, "timed out"), "agents failed 3 times in a row; the last one timed out");
    }
}
