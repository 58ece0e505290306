//! A run, from its first topic to its end.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::hats::Loop;
use engine::pace::shown_times;
use guard::facts::Position;
use guard::session::Stage;
use guard::workflow::{GateFiles, Outside, Refusal, gate_files_of_run};
use guard::{Environment, Project};
use policy::Compiled;
use serde_json::json;
use store::{LOOP, Note, NoteKind, StateChanges, Store};
use tree::Tree;
use work::{Ending, Run, RunId, RunUsage, Work, WorkError};

use crate::attention::Cut;
use crate::iteration::{Came, first_line};
use crate::leftovers::end;
use crate::limit;
use crate::lock::{RunLock, running};
use crate::news::News;
use crate::signals::Signals;

/// An agent that hands nothing over is started again so often.
const RESUMES: u32 = 3;
/// Git may take so long to say what is in the tree.
const GIT_LIMIT: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(5);

/// Everything that a run needs.
pub struct Driver<'a> {
    pub project: &'a Project,
    pub environment: &'a Environment,
    pub policy: Arc<Compiled>,
    pub outside: Outside,
    /// As it is now; a person has accepted it.
    pub the_loop: Loop,
    pub signals: &'a Signals,
    /// Milliseconds since 1970.
    pub clock: fn() -> i64,
    /// This binary, for agents.
    pub binary: OsString,
}

/// Why a run was not begun, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum NotDriven {
    #[error("{} is being driven in this tree", run.map_or_else(|| "another run".to_owned(), |run| format!("run {run}")))]
    Running { run: Option<RunId> },
    #[error("the workflow `{workflow}` is active here, at `{node}`")]
    WorkflowActive { workflow: String, node: String },
    #[error("no run is called `{0}`")]
    Unknown(RunId),
    #[error("no run was begun here")]
    None,
    #[error("run {0} is complete: there is nothing to go on with")]
    Complete(RunId),
    #[error("the run cannot be driven: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Refusal(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] store::StoreError),
}

/// One process that drives a run.
pub(crate) struct Sitting<'a> {
    pub work: &'a Work,
    pub signals: &'a Signals,
    pub tell: &'a mut dyn FnMut(News<'_>),
    /// The last thing that an agent said on purpose.
    pub told: i64,
    /// By the run so far. Counted once: to count very many iterations after each of them would take ever longer.
    pub spent: RunUsage,
    /// How the files were that gates name when the run began.
    pub gate_files: GateFiles,
    /// It was resumed: where nothing waits, [`Loop::GO_ON`] is published once.
    pub may_go_on: bool,
}

impl Driver<'_> {
    /// Begins a run and drives it to its end.
    pub fn begin(&self, objective: Option<&str>, tell: &mut dyn FnMut(News<'_>)) -> Result<Ending, NotDriven> {
        let mut lock = self.lock()?;
        let work = self.work()?;
        if let Some(last) = work.runs(1)?.pop().filter(|last| last.end.is_none()) {
            self.end_leftovers(last.id, tell);
        }
        let run = work.begin_run(objective, &self.the_loop.start, (self.clock)())?;
        lock.name(run)?;
        tell(News::Began { run, is_resumed: false });
        self.note(run, "began");
        self.drive(run, &work, false, tell)
    }

    /// Goes on with a run: the one that is named, or the last.
    pub fn resume(&self, run: Option<RunId>, tell: &mut dyn FnMut(News<'_>)) -> Result<Ending, NotDriven> {
        let mut lock = self.lock()?;
        let work = self.work()?;
        let found = match run {
            Some(run) => work.run(run)?.ok_or(NotDriven::Unknown(run))?,
            None => work.runs(1)?.pop().ok_or(NotDriven::None)?,
        };
        let run = found.id;
        if found.is_complete() {
            return Err(NotDriven::Complete(run));
        }
        self.end_leftovers(run, tell);
        // What an iteration used up that was cut off is counted all the same.
        if let Some(stage) = Stage::of_run(run, self.project, self.environment) {
            work.note_tokens(run, stage.iteration, self.moves(&stage).tokens_of_iteration())?;
        }
        work.resume_run(run, &self.the_loop.completion.topic, (self.clock)())?;
        lock.name(run)?;
        tell(News::Began { run, is_resumed: true });
        self.note(run, "went on");
        // What was complete when it was cut off is complete.
        if work.ended_by(run, &self.the_loop.completion.topic)? {
            return self.end(run, &work, Ending::Completed, &self.completed(), tell);
        }
        self.drive(run, &work, true, tell)
    }

    /// Ends every process that is left of a run: it could still write into the tree.
    fn end_leftovers(&self, run: RunId, tell: &mut dyn FnMut(News<'_>)) {
        let count = end(run, &self.project.root, self.environment);
        if count > 0 {
            tell(News::Leftovers { run, count });
            let plural = if count == 1 { "" } else { "es" };
            self.note(run, &format!("ended {count} process{plural} that it left behind"));
        }
    }

    fn drive(
        &self,
        id: RunId,
        work: &Work,
        is_resumed: bool,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<Ending, NotDriven> {
        let Some(run) = work.run(id)? else { return Err(NotDriven::Unknown(id)) };
        let gate_files = gate_files_of_run(&self.the_loop, id, self.project, self.environment)?;
        let told = work.told_since(id, 0)?.last().map_or(0, |(number, _)| *number);
        let mut sitting = Sitting {
            work,
            signals: self.signals,
            tell,
            told,
            spent: work.spent(id)?,
            gate_files,
            may_go_on: is_resumed,
        };
        loop {
            match self.step(&run, &mut sitting) {
                Ok(None) => {}
                Ok(Some((how, why))) => return self.end(id, work, how, &why, sitting.tell),
                Err(problem) => {
                    // It says how to go on, as every end does; why, the caller.
                    let _ = self.end(id, work, Ending::Failed, &problem.to_string(), sitting.tell);
                    return Err(problem);
                }
            }
        }
    }

    /// The next iteration, or why there is none.
    fn step(&self, run: &Run, sitting: &mut Sitting<'_>) -> Result<Option<(Ending, String)>, NotDriven> {
        let (id, work) = (run.id, sitting.work);
        if !self.project.work(self.environment).exists() {
            let gone = io::Error::other("what is kept of runs, tasks and memories was deleted while it went on");
            return Err(gone.into());
        }
        if sitting.signals.came() {
            return Ok(Some((Ending::Interrupted, "somebody interrupted it".to_owned())));
        }
        if work.run_is_to_stop(id)?.is_some() {
            return Ok(Some((Ending::Stopped, "a person stopped it".to_owned())));
        }
        let Some(published) = work.waiting(id)? else {
            if std::mem::take(&mut sitting.may_go_on) && self.the_loop.taker(Loop::GO_ON).is_some() {
                work.publish_for_run(id, Loop::GO_ON, run.objective.as_deref().unwrap_or_default())?;
                return Ok(None);
            }
            return Ok(Some((Ending::Failed, self.nothing_left(id, work)?)));
        };
        let Some(hat) = self.the_loop.taker(&published.topic) else {
            work.pass_over(published.id)?;
            (sitting.tell)(News::PassedOver { topic: &published.topic });
            return Ok(None);
        };
        let spent = sitting.spent;
        let reached = limit::reached(&self.the_loop.limits, &spent);
        let reached = match reached {
            // Who has no limit is not counted.
            None if hat.max_activations.is_some() => limit::reached_by(hat, work.activations(id, &hat.id)?),
            reached => reached,
        };
        if let Some(why) = reached {
            return Ok(Some((Ending::Limit, why)));
        }
        let came = self.iteration(run, &published, hat, spent, sitting)?;
        if let Some(ended) = work.iterations(id, 1)?.pop() {
            sitting.spent = spent.with(&ended);
        }
        Ok(match came {
            Came::To(topic) if topic == self.the_loop.completion.topic => Some((Ending::Completed, self.completed())),
            Came::To(topic) => self.stale(run, &topic, work)?,
            Came::ToItsEnd => {
                (sitting.tell)(News::Done { hat: &hat.id });
                None
            }
            Came::ToNothing => {
                let times = published.tries + 1;
                let last = work.iterations(id, 1)?.pop().and_then(|last| last.remark);
                let refused = last.as_deref().and_then(first_line);
                let why = refused.map_or_else(String::new, |why| format!("; {why}"));
                (sitting.tell)(News::Nothing { hat: &hat.id, why: &format!("handed nothing over{why}") });
                if let Some(end) = waits_for_a_person(id, work)? {
                    return Ok(Some(end));
                }
                if times <= RESUMES {
                    return Ok(None);
                }
                let attempt = last.map_or_else(String::new, |why| format!("; its last attempt: {why}"));
                let why = format!(
                    "the hat `{}` ended {} without handing anything over{attempt}",
                    hat.id,
                    shown_times(times.into())
                );
                Some((Ending::Failed, why))
            }
            Came::ToFailure(failure) => {
                let why = format!("its agent {}", first_line(&failure).unwrap_or_default());
                (sitting.tell)(News::Nothing { hat: &hat.id, why: &why });
                if let Some(end) = waits_for_a_person(id, work)? {
                    return Ok(Some(end));
                }
                let failures = sitting.spent.failures;
                let is_enough = self.the_loop.limits.failures.is_some_and(|limit| failures >= limit);
                is_enough.then(|| (Ending::Failed, failed_in_a_row(failures, &failure)))
            }
            Came::ToTrouble(why) => Some((Ending::Failed, why)),
            Came::TimeOver => {
                let limit = self.the_loop.limits.runtime.map(limit::shown).unwrap_or_default();
                Some((Ending::Limit, format!("the limit of {limit} is reached")))
            }
            Came::Cut(Cut::Interrupted) => Some((Ending::Interrupted, "somebody interrupted it".to_owned())),
            Came::Cut(Cut::Stopped) => Some((Ending::Stopped, "a person stopped it".to_owned())),
        })
    }

    /// Whether it goes in circles.
    fn stale(&self, run: &Run, topic: &str, work: &Work) -> Result<Option<(Ending, String)>, NotDriven> {
        let Some(limit) = self.the_loop.limits.stale else { return Ok(None) };
        let last = work.iterations(run.id, 1)?.pop();
        let times = last.map(|last| work.repetitions(run.id, last.number)).transpose()?.unwrap_or(0);
        if times < limit {
            return Ok(None);
        }
        let why = format!(
            "`{topic}` was handed over {} with the same words, and nothing in the tree changed",
            shown_times(times.into())
        );
        let cause = match (work.last_waits_for(run.id)?, work.last_refusal(run.id)?) {
            (Some(gate), _) => format!("; the gate `{gate}` waits for a person: `linchpin approve {gate}`"),
            (None, Some((iteration, refused))) => {
                format!("; in iteration {iteration}, {}", first_line(&refused).unwrap_or_default())
            }
            (None, None) => String::new(),
        };
        Ok(Some((Ending::Failed, format!("{why}{cause}"))))
    }

    /// Why nothing waits, where nothing said that the work is done.
    fn nothing_left(&self, run: RunId, work: &Work) -> Result<String, NotDriven> {
        let last = work.iterations(run, 1)?.pop().map(|last| last.hat);
        let silent = last.and_then(|id| self.the_loop.hat(&id)).filter(|hat| hat.publishes.is_empty());
        let why = silent.map_or_else(String::new, |hat| format!("; the hat `{}` publishes nothing", hat.id));
        Ok(format!("nothing is left to do, and nothing said that the work is done{why}"))
    }

    fn completed(&self) -> String {
        format!("`{}` was accepted", self.the_loop.completion.topic)
    }

    fn end(
        &self,
        run: RunId,
        work: &Work,
        how: Ending,
        why: &str,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<Ending, NotDriven> {
        self.end_leftovers(run, tell);
        work.end_run(run, how, why, (self.clock)())?;
        self.note(run, &format!("{}: {why}", how.name()));
        let can_go_on = how != Ending::Completed && can_go_on(run, work, &self.the_loop)?;
        tell(News::Ended { how, why, spent: work.spent(run)?, can_go_on });
        Ok(how)
    }

    fn lock(&self) -> Result<RunLock, NotDriven> {
        let Some(lock) = RunLock::take(&self.project.root, self.environment)? else {
            return Err(NotDriven::Running { run: running(&self.project.root, self.environment) });
        };
        let store = Store::open(&self.project.store(self.environment), self.store_options())?;
        self.project.had_journal(self.environment);
        if let Some(position) = Position::of(&store.workflow()?.variables) {
            let node = position.node().to_owned();
            return Err(NotDriven::WorkflowActive { workflow: position.workflow, node });
        }
        Ok(lock)
    }

    fn work(&self) -> Result<Work, NotDriven> {
        Ok(Work::open(&self.project.work(self.environment))?)
    }

    pub(crate) fn tree(&self) -> Option<String> {
        Tree::of(&self.project.root, GIT_LIMIT).and_then(|tree| tree.digest().ok())
    }

    pub(crate) fn log(&self, run: &Run, iteration: u32) -> PathBuf {
        let folder = self.environment.project_state(&self.project.root).join("runs").join(run.id.to_string());
        folder.join(format!("{iteration}.log"))
    }

    fn note(&self, run: RunId, what: &str) {
        let fields = [("run", json!(run.to_string())), ("what", json!(what))];
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let (root, changes) = (self.project.root.to_string_lossy().into_owned(), StateChanges::default());
        let note = Note {
            kind: NoteKind::Run,
            session: LOOP,
            time: (self.clock)(),
            root: &root,
            cwd: &root,
            fields: &fields,
            changes: &changes,
        };
        // The run itself is kept in the work.
        let _ =
            Store::open(&self.project.store(self.environment), self.store_options()).map(|mut store| store.note(&note));
    }

    fn store_options(&self) -> store::Options {
        store::Options { busy: PATIENCE, now: (self.clock)(), run: None }
    }
}

/// Whether a run that is resumed has something to do: a topic waits, an iteration was cut off, or a hat takes [`Loop::GO_ON`].
pub fn can_go_on(run: RunId, work: &Work, the_loop: &Loop) -> Result<bool, WorkError> {
    let is_cut_off = work.iterations(run, 1)?.pop().is_some_and(|last| last.outcome.is_none());
    Ok(is_cut_off || work.waiting(run)?.is_some() || the_loop.taker(Loop::GO_ON).is_some())
}

/// Where only a person can open the gate that the last iteration stood before, another one would stand there too.
fn waits_for_a_person(run: RunId, work: &Work) -> Result<Option<(Ending, String)>, NotDriven> {
    let last = work.iterations(run, 1)?.pop().map_or(0, |last| last.number);
    let gate = work.waits_for(run, last)?;
    Ok(gate.map(|gate| (Ending::Failed, format!("a person has to say yes first: `linchpin approve {gate}`"))))
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
