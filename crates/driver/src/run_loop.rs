//! Drives a run from its first topic to its end.

use std::io;

use guard::session::HatPhase;
use guard::workflow::gate_files_of_run;
use work::{RunId, RunOutcome, WorkDatabase};

use crate::active_run::ActiveRun;
use crate::driver::{DriveError, Driver};
use crate::leftovers::end_leftovers_locked;
use crate::next_topic::{NextStep, can_resume};
use crate::run_conclusion::RunConclusion;
use crate::run_event::RunEvent;

impl Driver<'_> {
    /// Begins a run and drives it until it ends.
    pub fn begin(
        &self,
        objective: Option<&str>,
        report: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunOutcome, DriveError> {
        let mut lock = self.lock()?;
        let work = self.open_work_database()?;
        if let Some(last) = work.runs(1)?.pop().filter(|last| last.end.is_none()) {
            self.end_and_report_leftovers(last.id, report);
        }
        let run = work.begin_run(objective, &self.the_loop.start, (self.clock)())?;
        lock.write_run_id(run)?;
        report(RunEvent::Began { run, is_resumed: false });
        self.note(run, "began");
        self.drive(run, &work, false, report)
    }

    /// Resumes the given run, or the last one.
    pub fn resume(&self, run: Option<RunId>, report: &mut dyn FnMut(RunEvent<'_>)) -> Result<RunOutcome, DriveError> {
        let mut lock = self.lock()?;
        let work = self.open_work_database()?;
        let resumed = match run {
            Some(run) => work.run(run)?.ok_or(DriveError::UnknownRun(run))?,
            None => work.runs(1)?.pop().ok_or(DriveError::NoRun)?,
        };
        let run = resumed.id;
        if resumed.is_complete() {
            return Err(DriveError::Complete(run));
        }
        self.end_and_report_leftovers(run, report);
        // The tokens of an aborted iteration count too.
        if let Some(hat_phase) = HatPhase::of_run(run, self.project, self.environment) {
            work.record_tokens(run, hat_phase.iteration, self.workflow_commands(&hat_phase).tokens_of_iteration())?;
        }
        work.resume_run(run, &self.the_loop.completion.topic, (self.clock)())?;
        lock.write_run_id(run)?;
        report(RunEvent::Began { run, is_resumed: true });
        self.note(run, "went on");
        // The driver may have been killed after the run was completed, but before the driver stored that.
        if work.was_completed_by(run, &self.the_loop.completion.topic)? {
            return self.end(run, &work, &RunConclusion::completed(&self.the_loop), report);
        }
        self.drive(run, &work, true, report)
    }

    fn drive(
        &self,
        id: RunId,
        work: &WorkDatabase,
        is_resumed: bool,
        report: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunOutcome, DriveError> {
        let Some(run) = work.run(id)? else { return Err(DriveError::UnknownRun(id)) };
        let gate_files = gate_files_of_run(&self.the_loop, id, self.project, self.environment)?;
        let reported_progress = work.progress_since(id, 0)?.last().map_or(0, |(number, _)| *number);
        let mut active = ActiveRun {
            run,
            work,
            signals: self.signals,
            report,
            reported_progress,
            spent: work.usage(id)?,
            gate_files,
            may_publish_resume: is_resumed,
        };
        loop {
            match self.step(&mut active) {
                Ok(None) => {}
                Ok(Some(end)) => return self.end(id, work, &end, active.report),
                Err(error) => {
                    // The end is stored and reported like any other. The caller also gets the error.
                    let _ = self.end(id, work, &RunConclusion::failed(error.to_string()), active.report);
                    return Err(error);
                }
            }
        }
    }

    /// Runs the next iteration. Returns the conclusion if the run ends.
    fn step(&self, active: &mut ActiveRun<'_>) -> Result<Option<RunConclusion>, DriveError> {
        if !self.project.work_database_path(self.environment).exists() {
            let error = io::Error::other("the database of runs, tasks and memories was deleted during the run");
            return Err(error.into());
        }
        let (published, hat) = match self.next_step(active)? {
            NextStep::Iteration(published, hat) => (published, hat),
            NextStep::TryAgain => return Ok(None),
            NextStep::End(end) => return Ok(Some(end)),
        };
        let result = self.run_iteration(&published, hat, active)?;
        if let Some(ended) = active.work.iterations(active.run.id, 1)?.pop() {
            active.spent = active.spent.with_iteration(&ended);
        }
        self.conclusion_after(result, &published, hat, active)
    }

    fn end(
        &self,
        run: RunId,
        work: &WorkDatabase,
        end: &RunConclusion,
        report: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunOutcome, DriveError> {
        let RunConclusion { outcome, why } = end;
        self.end_and_report_leftovers(run, report);
        work.end_run(run, *outcome, why, (self.clock)())?;
        self.note(run, &format!("{}: {why}", outcome.name()));
        let can_resume = *outcome != RunOutcome::Completed && can_resume(run, work, &self.the_loop)?;
        report(RunEvent::Ended { outcome: *outcome, why, spent: work.usage(run)?, can_resume });
        Ok(*outcome)
    }

    /// Ends leftover processes of a run. The caller holds the lock.
    fn end_and_report_leftovers(&self, run: RunId, report: &mut dyn FnMut(RunEvent<'_>)) {
        let count = end_leftovers_locked(run, &self.project.root, self.environment);
        if count > 0 {
            report(RunEvent::Leftovers { run, count });
            let plural = if count == 1 { "" } else { "es" };
            self.note(run, &format!("ended {count} leftover process{plural} of the run"));
        }
    }
}
