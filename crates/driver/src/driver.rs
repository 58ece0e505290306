//! The driver, and the errors that keep it from driving a run.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::hats::Loop;
use guard::Position;
use guard::session::HatPhase;
use guard::workflow::{GateRunners, WorkflowCommands, WorkflowError};
use guard::{Environment, Project};
use policy::CompiledPolicy;
use serde_json::json;
use store::{LOOP_SESSION, Note, NoteKind, StateChanges, Store};
use work::{RunId, WorkDatabase, WorkError};

use crate::progress_command;
use crate::run_event::RunEvent;
use crate::run_lock::{RunLock, active_run_id};
use crate::signals::Signals;

/// How long to wait for another process's lock on the journal.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of latest events that are searched for an open tool call.
const SEARCHED_EVENTS: usize = 256;

/// Everything that is needed to drive the runs of a loop in one project.
pub struct Driver<'a> {
    pub project: &'a Project,
    pub environment: &'a Environment,
    pub policy: Arc<CompiledPolicy>,
    pub gate_runners: GateRunners,
    /// The loop, in the version that a person has accepted.
    pub the_loop: Loop,
    pub signals: &'a Signals,
    /// Milliseconds since 1970.
    pub clock: fn() -> i64,
    /// The path of this binary, for agents to call.
    pub binary: OsString,
}

/// An error that keeps the driver from beginning or continuing a run.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error("{} is already running in this tree", run.map_or_else(|| "another run".to_owned(), |run| format!("run {run}")))]
    Running { run: Option<RunId> },
    #[error("the workflow `{workflow}` is active here, at `{node}`")]
    WorkflowActive { workflow: String, node: String },
    #[error("there is no run `{0}`")]
    UnknownRun(RunId),
    #[error("there is no run in this project yet")]
    NoRun,
    #[error("run {0} is complete and cannot be resumed")]
    Complete(RunId),
    #[error("the run cannot continue: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    WorkflowError(#[from] WorkflowError),
    #[error(transparent)]
    Store(#[from] store::StoreError),
}

impl Driver<'_> {
    /// Locks this tree. Fails if another run or a workflow is active in it.
    pub(crate) fn lock(&self) -> Result<RunLock, DriveError> {
        let Some(lock) = RunLock::acquire(&self.project.root, self.environment)? else {
            return Err(DriveError::Running { run: active_run_id(&self.project.root, self.environment) });
        };
        let store = Store::open(&self.project.journal_path(self.environment), self.store_options())?;
        self.project.mark_has_journal(self.environment);
        if let Some(position) = Position::of(&store.workflow_state()?.variables) {
            let node = position.node().to_owned();
            return Err(DriveError::WorkflowActive { workflow: position.workflow_name, node });
        }
        Ok(lock)
    }

    pub(crate) fn open_work_database(&self) -> Result<WorkDatabase, DriveError> {
        Ok(WorkDatabase::open(&self.project.work_database_path(self.environment))?)
    }

    pub(crate) fn workflow_commands(&self, hat_phase: &HatPhase) -> WorkflowCommands<'_> {
        WorkflowCommands {
            project: self.project,
            environment: self.environment,
            policy: Arc::clone(&self.policy),
            now: (self.clock)(),
            agent_session: None,
            hat_phase: Some(Arc::new(hat_phase.clone())),
            is_by_agent: false,
            gate_runners: self.gate_runners.clone(),
        }
    }

    /// Returns the log file of an iteration's agent.
    pub(crate) fn log_file(&self, run: RunId, iteration: u32) -> PathBuf {
        let directory = self.environment.project_state(&self.project.root).join("runs").join(run.to_string());
        directory.join(format!("{iteration}.log"))
    }

    /// Passes an agent's progress message to the caller and to `progress_command`.
    pub(crate) fn report_progress(&self, text: &str, report: &mut dyn FnMut(RunEvent<'_>)) {
        report(RunEvent::Progress(text));
        if let Some(command) = &self.policy.config.commands.progress {
            progress_command::start(command, text, self.project.root.clone(), self.environment.clone());
        }
    }

    /// Writes a line about the run into the journal.
    pub(crate) fn note(&self, run: RunId, text: &str) {
        let fields = [("run", json!(run.to_string())), ("what", json!(text))];
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let (root, changes) = (self.project.root.to_string_lossy().into_owned(), StateChanges::default());
        let note = Note {
            kind: NoteKind::Run,
            session: LOOP_SESSION,
            time: (self.clock)(),
            root: &root,
            cwd: &root,
            fields: &fields,
            changes: &changes,
        };
        // A lost note does no harm: the run itself is in the work database.
        let _ = Store::open(&self.project.journal_path(self.environment), self.store_options())
            .map(|mut store| store.write_note(&note));
    }

    /// True if the journal has an unfinished tool call that began at `since` or later. An agent may be silent while
    /// such a call runs, for example a build.
    pub(crate) fn has_open_call(&self, since: i64) -> bool {
        let options = self.store_options();
        let now = options.now;
        let calls = Store::open(&self.project.journal_path(self.environment), options)
            .and_then(|store| store.calls(SEARCHED_EVENTS));
        calls.is_ok_and(|recorded| recorded.calls.iter().any(|call| call.started >= since && call.may_still_run(now)))
    }

    fn store_options(&self) -> store::StoreOptions {
        store::StoreOptions { busy_timeout: BUSY_TIMEOUT, now: (self.clock)(), run: None }
    }
}
