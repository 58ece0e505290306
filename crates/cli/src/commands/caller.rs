//! Finds out who runs a command about a workflow or a run: a person or an agent, in which session and which run.

use std::sync::Arc;

use guard::session::{CommandRun, HatPhase, SessionOwner, project_of_command};
use guard::workflow::{GateRunOptions, GateRunners, WorkflowCommands};
use guard::{Position, Project};
use policy::CompiledPolicy;
use store::Store;
use work::WorkDatabase;

use super::{Context, log};
use super::{gate_progress, webhook};
use crate::problem::Problem;
use crate::{ancestry, person};

/// Who runs the command, and the state that it applies to.
pub struct Caller {
    pub project: Project,
    pub policy: Arc<CompiledPolicy>,
    now: i64,
    /// The session whose variables the command uses.
    pub session: Option<SessionOwner>,
    /// The agents' sessions in whose shell the command may run.
    candidate_sessions: Vec<SessionOwner>,
    hat_phase: Option<Arc<HatPhase>>,
    pub is_agents: bool,
    /// The command to repeat if a gate takes too long.
    repeat_with: &'static str,
}

impl Caller {
    pub fn of(verb: &str, context: &Context) -> Self {
        Self::about(&[verb], None, context)
    }

    /// Like [`Self::of`], for a session from the arguments.
    pub fn with_session(words: &[&str], named: Option<&str>, context: &Context) -> Result<Self, Problem> {
        let caller = Self::about(words, named, context);
        let Some(named) = named else { return Ok(caller) };
        match &caller.session {
            None => Err(Problem::new("NotFound", format!("the journal has no session `{named}`"))
                .help("`linchpin log --json` lists the sessions")),
            Some(_) if caller.is_agents && !caller.candidate_sessions.iter().any(|own| own.id == named) => {
                Err(Problem::new("NotAPerson", format!("this command runs in another session than `{named}`"))
                    .help("leave out `--session`: the variables of your own session are used"))
            }
            Some(_) => Ok(caller),
        }
    }

    /// `words`: the verb, and other words that the command line certainly contains.
    fn about(words: &[&str], named: Option<&str>, context: &Context) -> Self {
        let verb = words.first().copied().unwrap_or_default();
        let project = project_of_command(&context.environment);
        // Read-only, so that the next hook still sees new rules as new and records them.
        let policy = Arc::new(project.compile_read_only(&context.environment));
        let now = super::now();
        let words: Vec<&str> = words.iter().copied().chain(named).collect();
        let command = CommandRun { words: &words, session: named, environment: &context.environment, now };
        let journal = log::open(&project, context).ok();
        let candidate_sessions =
            journal.as_ref().and_then(|journal| command.candidate_sessions(journal).ok()).unwrap_or_default();
        let has_agent_marker = person::required(verb, &context.environment).is_err();
        let is_agents = has_agent_marker || !candidate_sessions.is_empty();
        let choice = SessionChoice::of(verb, has_agent_marker, is_agents);
        let session = journal.and_then(|journal| choice.session(&command, &journal));
        let hat_phase = HatPhase::of_process(&project, &context.environment).map(Arc::new);
        let repeat_with = repeat_with(verb);
        Self { project, policy, now, session, candidate_sessions, hat_phase, is_agents, repeat_with }
    }

    /// A person who looks at the state of `session`.
    pub fn viewer(project: &Project, policy: &Arc<CompiledPolicy>, now: i64, session: Option<SessionOwner>) -> Self {
        Self {
            project: project.clone(),
            policy: Arc::clone(policy),
            now,
            session,
            candidate_sessions: Vec::new(),
            hat_phase: None,
            is_agents: false,
            repeat_with: "",
        }
    }

    /// Applies the command to the last run, if no workflow is active and the run has not completed: it may wait for a
    /// person.
    pub fn or_of_last_run(self, context: &Context) -> Self {
        let journal = log::open(&self.project, context).ok();
        let workflow = journal.and_then(|journal| journal.workflow().ok());
        let is_active = workflow.is_some_and(|state| Position::of(&state.variables).is_some());
        if self.hat_phase.is_some() || is_active {
            return self;
        }
        let environment = &context.environment;
        let work = WorkDatabase::open_existing(&self.project.work_database_path(environment)).ok().flatten();
        let last = work.and_then(|work| work.runs(1).ok()?.pop());
        let last = last.filter(|run| !run.is_complete());
        let hat_phase = last.and_then(|run| HatPhase::of_run(run.id, &self.project, environment)).map(Arc::new);
        Self { hat_phase, ..self }
    }

    /// Applies the command to the run that this process belongs to, even if its own environment does not show that any
    /// more. None outside of runs.
    pub fn of_run_around(self, context: &Context) -> Option<Self> {
        if self.hat_phase.is_some() {
            return Some(self);
        }
        let is_in_run = ancestry::agent_marker() == Some(HatPhase::RUN);
        let run = driver::active_run_id(&self.project.root, &context.environment).filter(|_| is_in_run)?;
        let hat_phase = HatPhase::of_run(run, &self.project, &context.environment).map(Arc::new)?;
        Some(Self { hat_phase: Some(hat_phase), ..self })
    }

    pub fn workflow_commands<'a>(&'a self, context: &'a Context) -> WorkflowCommands<'a> {
        WorkflowCommands {
            project: &self.project,
            environment: &context.environment,
            policy: Arc::clone(&self.policy),
            now: self.now,
            session_owner: self.session.clone(),
            hat_phase: self.hat_phase.clone(),
            is_by_agent: self.is_agents,
            gate_runners: GateRunners {
                command: GateRunOptions {
                    show: if context.output.json { |_| {} } else { gate_progress::show },
                    ..GateRunOptions::by_this_binary(self.repeat_with)
                },
                webhook: webhook::ask,
            },
        }
    }
}

/// Which session a command uses if its arguments name none.
enum SessionChoice {
    /// The session in which the command runs, else the latest session.
    OrLatest,
    /// Only the session in which the command runs. `search_calls`: also look for it among the unfinished calls of all
    /// sessions.
    OnlyOwn { search_calls: bool },
}

impl SessionChoice {
    /// A move of a workflow, and a variable that an agent sets, must not apply to a session that is only guessed.
    fn of(verb: &str, has_agent_marker: bool, is_agents: bool) -> Self {
        match verb {
            "continue" | "explain" => Self::OrLatest,
            "set" if !is_agents => Self::OrLatest,
            "set" => Self::OnlyOwn { search_calls: true },
            _ => Self::OnlyOwn { search_calls: has_agent_marker },
        }
    }

    fn session(&self, command: &CommandRun<'_>, journal: &Store) -> Option<SessionOwner> {
        let found = match self {
            Self::OrLatest => command.target_session(journal),
            Self::OnlyOwn { search_calls } => command.certain_session(journal, *search_calls),
        };
        found.ok().flatten()
    }
}

/// The command to run again after a gate took too long.
fn repeat_with(verb: &str) -> &'static str {
    match verb {
        "emit" => "linchpin emit",
        "task" => "linchpin task close",
        _ => "linchpin next",
    }
}
