//! A run, from its first topic to its end.

use std::io;

use guard::session::Stage;
use guard::workflow::gate_files_of_run;
use work::{Ending, RunId, Work};

use crate::active_run::ActiveRun;
use crate::driver::{DriveError, Driver};
use crate::leftovers::end;
use crate::next_topic::{Next, can_go_on};
use crate::run_end::RunEnd;
use crate::run_event::RunEvent;

impl Driver<'_> {
    /// Begins a run and drives it to its end.
    pub fn begin(&self, objective: Option<&str>, report: &mut dyn FnMut(RunEvent<'_>)) -> Result<Ending, DriveError> {
        let mut lock = self.lock()?;
        let work = self.work()?;
        if let Some(last) = work.runs(1)?.pop().filter(|last| last.end.is_none()) {
            self.end_leftovers(last.id, report);
        }
        let run = work.begin_run(objective, &self.the_loop.start, (self.clock)())?;
        lock.name(run)?;
        report(RunEvent::Began { run, is_resumed: false });
        self.note(run, "began");
        self.drive(run, &work, false, report)
    }

    /// Goes on with a run: the one that is named, or the last.
    pub fn resume(&self, run: Option<RunId>, report: &mut dyn FnMut(RunEvent<'_>)) -> Result<Ending, DriveError> {
        let mut lock = self.lock()?;
        let work = self.work()?;
        let found = match run {
            Some(run) => work.run(run)?.ok_or(DriveError::Unknown(run))?,
            None => work.runs(1)?.pop().ok_or(DriveError::None)?,
        };
        let run = found.id;
        if found.is_complete() {
            return Err(DriveError::Complete(run));
        }
        self.end_leftovers(run, report);
        // The tokens of an iteration that was cut off count all the same.
        if let Some(stage) = Stage::of_run(run, self.project, self.environment) {
            work.note_tokens(run, stage.iteration, self.moves(&stage).tokens_of_iteration())?;
        }
        work.resume_run(run, &self.the_loop.completion.topic, (self.clock)())?;
        lock.name(run)?;
        report(RunEvent::Began { run, is_resumed: true });
        self.note(run, "went on");
        // A run that was complete when it was cut off is complete.
        if work.ended_by(run, &self.the_loop.completion.topic)? {
            return self.end(run, &work, &RunEnd::completed(&self.the_loop), report);
        }
        self.drive(run, &work, true, report)
    }

    fn drive(
        &self,
        id: RunId,
        work: &Work,
        is_resumed: bool,
        report: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<Ending, DriveError> {
        let Some(run) = work.run(id)? else { return Err(DriveError::Unknown(id)) };
        let gate_files = gate_files_of_run(&self.the_loop, id, self.project, self.environment)?;
        let reported_progress = work.told_since(id, 0)?.last().map_or(0, |(number, _)| *number);
        let mut active = ActiveRun {
            run,
            work,
            signals: self.signals,
            report,
            reported_progress,
            spent: work.spent(id)?,
            gate_files,
            may_go_on: is_resumed,
        };
        loop {
            match self.step(&mut active) {
                Ok(None) => {}
                Ok(Some(end)) => return self.end(id, work, &end, active.report),
                Err(error) => {
                    // The end is reported as every end is; the error says why.
                    let _ = self.end(id, work, &RunEnd::failed(error.to_string()), active.report);
                    return Err(error);
                }
            }
        }
    }

    /// The next iteration, or why there is none.
    fn step(&self, active: &mut ActiveRun<'_>) -> Result<Option<RunEnd>, DriveError> {
        if !self.project.work(self.environment).exists() {
            let gone = io::Error::other("what is kept of runs, tasks and memories was deleted while it went on");
            return Err(gone.into());
        }
        let (published, hat) = match self.next(active)? {
            Next::Iteration(published, hat) => (published, hat),
            Next::LookAgain => return Ok(None),
            Next::End(end) => return Ok(Some(end)),
        };
        let result = self.iteration(&published, hat, active)?;
        if let Some(ended) = active.work.iterations(active.run.id, 1)?.pop() {
            active.spent = active.spent.with(&ended);
        }
        self.end_after(result, &published, hat, active)
    }

    fn end(
        &self,
        run: RunId,
        work: &Work,
        end: &RunEnd,
        report: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<Ending, DriveError> {
        let RunEnd { how, why } = end;
        self.end_leftovers(run, report);
        work.end_run(run, *how, why, (self.clock)())?;
        self.note(run, &format!("{}: {why}", how.name()));
        let can_go_on = *how != Ending::Completed && can_go_on(run, work, &self.the_loop)?;
        report(RunEvent::Ended { how: *how, why, spent: work.spent(run)?, can_go_on });
        Ok(*how)
    }

    /// Ends every process that is left of a run: it could still write into the tree.
    fn end_leftovers(&self, run: RunId, report: &mut dyn FnMut(RunEvent<'_>)) {
        let count = end(run, &self.project.root, self.environment);
        if count > 0 {
            report(RunEvent::Leftovers { run, count });
            let plural = if count == 1 { "" } else { "es" };
            self.note(run, &format!("ended {count} process{plural} that it left behind"));
        }
    }
}
