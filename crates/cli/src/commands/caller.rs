//! Finds out who runs a command on a workflow or a run: a person or an agent, and in which session and run.

use std::sync::Arc;

use guard::session::{AgentSession, CommandRun, HatPhase, project_of_command};
use guard::workflow::{GateRunOptions, GateRunners, WorkflowCommands};
use guard::{Position, Project};
use policy::CompiledPolicy;
use store::Store;
use work::WorkDatabase;

use super::{Context, gate_progress, journal, webhook};
use crate::problem::Problem;
use crate::{ancestry, person};

/// Who runs a command, and the state that the command applies to.
pub struct Caller {
    pub project: Project,
    pub policy: Arc<CompiledPolicy>,
    now: i64,
    /// The session whose variables the command uses.
    pub session: Option<AgentSession>,
    /// The agents' sessions in whose shells the command possibly runs.
    candidate_sessions: Vec<AgentSession>,
    hat_phase: Option<Arc<HatPhase>>,
    pub is_by_agent: bool,
    /// The command that the caller is told to repeat if a gate takes too long.
    repeat_with: &'static str,
}

/// A command whose effect depends on who runs it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Abort,
    Approve,
    Continue,
    Emit,
    Explain,
    Next,
    Prev,
    Repeat,
    Restart,
    Set,
    Start,
    Task,
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Self::Abort => "abort",
            Self::Approve => "approve",
            Self::Continue => "continue",
            Self::Emit => "emit",
            Self::Explain => "explain",
            Self::Next => "next",
            Self::Prev => "prev",
            Self::Repeat => "repeat",
            Self::Restart => "restart",
            Self::Set => "set",
            Self::Start => "start",
            Self::Task => "task",
        }
    }

    /// The command to run again after a gate took too long.
    fn command_to_repeat(self) -> &'static str {
        match self {
            Self::Emit => "linchpin emit",
            Self::Task => "linchpin task close",
            _ => "linchpin next",
        }
    }
}

impl Caller {
    pub fn of(verb: Verb, context: &Context) -> Self {
        Self::new(verb, &[], None, context)
    }

    /// Like [`Self::of`], for a command that may name a session. `arguments`: arguments that the command line certainly
    /// contains. Fails if the journal has no session with the name, or if an agent names another session than its own.
    pub fn with_session(
        verb: Verb,
        arguments: &[&str],
        named: Option<&str>,
        context: &Context,
    ) -> Result<Self, Problem> {
        let caller = Self::new(verb, arguments, named, context);
        let Some(named) = named else { return Ok(caller) };
        match &caller.session {
            None => Err(journal::unknown_session(named)),
            Some(_) if caller.is_by_agent && !caller.candidate_sessions.iter().any(|own| own.id == named) => {
                Err(Problem::new("NotAPerson", format!("this command runs in another session than `{named}`"))
                    .help("leave out `--session`: the variables of your own session are used"))
            }
            Some(_) => Ok(caller),
        }
    }

    fn new(verb: Verb, arguments: &[&str], named: Option<&str>, context: &Context) -> Self {
        let project = project_of_command(&context.environment);
        // Read-only, so that the next hook still sees new rules as new and records them.
        let policy = Arc::new(project.compiled_policy_read_only(&context.environment));
        let now = super::now();
        let words: Vec<&str> = [verb.name()].into_iter().chain(arguments.iter().copied()).chain(named).collect();
        let command = CommandRun { words: &words, session: named, environment: &context.environment, now };
        let journal = journal::open(&project, context).ok();
        let candidate_sessions =
            journal.as_ref().and_then(|journal| command.candidate_sessions(journal).ok()).unwrap_or_default();
        let has_agent_marker = person::agent_marker(&context.environment).is_some();
        let is_by_agent = has_agent_marker || !candidate_sessions.is_empty();
        let choice = SessionChoice::of(verb, has_agent_marker, is_by_agent);
        let session = journal.and_then(|journal| choice.session(&command, &journal));
        let hat_phase = HatPhase::of_process(&project, &context.environment).map(Arc::new);
        let repeat_with = verb.command_to_repeat();
        Self { project, policy, now, session, candidate_sessions, hat_phase, is_by_agent, repeat_with }
    }

    /// Fails if this process may be a call of an agent that runs the same command and has not ended. For commands of
    /// people, after [`person::required`].
    pub fn require_no_open_call(&self, command: &str) -> Result<(), Problem> {
        let Some(AgentSession { agent, id }) = self.candidate_sessions.first() else { return Ok(()) };
        let message = format!(
            "only people may run `linchpin {command}`, and this may be a call of an agent: session `{id}` of {agent} has \
             begun a call of the command, and its end was not reported"
        );
        Err(Problem::new("NotAPerson", message).help("run it again after that call or that session has ended"))
    }

    /// Returns a caller for commands that only show the state of `session`.
    pub fn viewer(project: &Project, policy: &Arc<CompiledPolicy>, now: i64, session: Option<AgentSession>) -> Self {
        Self {
            project: project.clone(),
            policy: Arc::clone(policy),
            now,
            session,
            candidate_sessions: Vec::new(),
            hat_phase: None,
            is_by_agent: false,
            repeat_with: "",
        }
    }

    /// Applies the command to the last run if no workflow is active and that run has not completed: the run may wait
    /// for a person.
    pub fn or_of_last_run(self, context: &Context) -> Self {
        let journal = journal::open(&self.project, context).ok();
        let workflow = journal.and_then(|journal| journal.workflow_state().ok());
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

    /// Applies the command to the run that this process belongs to, even if the process's environment variables no
    /// longer name the run. Returns `None` outside of runs.
    pub fn in_enclosing_run(self, context: &Context) -> Option<Self> {
        if self.hat_phase.is_some() {
            return Some(self);
        }
        let is_in_run = ancestry::marker_of_ancestors() == Some(HatPhase::RUN);
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
            agent_session: self.session.clone(),
            hat_phase: self.hat_phase.clone(),
            is_by_agent: self.is_by_agent,
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
    /// The session in which the command runs, or else the latest session.
    OwnOrLatest,
    /// Only the session in which the command runs. `search_calls`: if no environment variable names that session, it is
    /// searched for among the sessions with unfinished calls.
    OnlyOwn { search_calls: bool },
}

impl SessionChoice {
    /// A move of a workflow must not use a session that is only guessed, and an agent must not set a variable of one.
    fn of(verb: Verb, has_agent_marker: bool, is_by_agent: bool) -> Self {
        match verb {
            Verb::Continue | Verb::Explain => Self::OwnOrLatest,
            Verb::Set if !is_by_agent => Self::OwnOrLatest,
            Verb::Set => Self::OnlyOwn { search_calls: true },
            _ => Self::OnlyOwn { search_calls: has_agent_marker },
        }
    }

    fn session(&self, command: &CommandRun<'_>, journal: &Store) -> Option<AgentSession> {
        let found = match self {
            Self::OwnOrLatest => command.target_session(journal),
            Self::OnlyOwn { search_calls } => command.certain_session(journal, *search_calls),
        };
        found.ok().flatten()
    }
}
