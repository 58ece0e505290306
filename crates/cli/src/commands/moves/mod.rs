//! The commands that move a workflow. `guard` implements the moves; this module prints them.

mod approve;
mod approve_task;
mod gate_progress;
pub mod refused;
mod report;
mod set;
pub mod webhook;

use std::sync::Arc;

use driver::Signals;
use engine::pace::Violation;
use guard::Position;
use guard::Project;
use guard::session::{CommandRun, HatPhase, SessionOwner, project_of_command};
use guard::workflow::{
    FailedGate, Force, GateRunOptions, GateRunners, KnownNames, Step, StepOutcome, WorkflowCommands, WorkflowError,
};
use policy::CompiledPolicy;
use serde_json::{Map, Value, json};
use work::WorkDatabase;

pub use approve::run as approve;
pub use gate_progress::line as gate_line;

pub use report::{report, report_json, show_report};
pub use set::set;

use super::{Context, workflow_path};
use crate::ancestry;
use crate::arguments::{NextArguments, StartArguments};
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

pub fn start(arguments: &StartArguments, context: &Context) -> CommandOutcome {
    let caller = Caller::of("start", context);
    if let Some(run) = driver::running(&caller.project.root, &context.environment) {
        let message = format!("run {run} of the loop is running here");
        return Err(Problem::new("Running", message).help(
            "wait for it, or stop it with `linchpin runs stop`: a loop and a workflow cannot both decide the next step",
        ));
    }
    let workflow = workflow_path::name_of(&arguments.workflow, &caller.project, context)?;
    told(caller.workflow_commands(context).start(&workflow, arguments.node.as_deref()), context)
}

pub fn next(arguments: &NextArguments, context: &Context) -> CommandOutcome {
    let force = match &arguments.force {
        _ if arguments.force_all => Force::All,
        Some(rule) => Force::One(rule.clone()),
        None => Force::None,
    };
    if force != Force::None {
        person::required("next --force", &context.environment)?;
    }
    let caller = Caller::with_session(&["next"], arguments.session.as_deref(), context)?;
    // Ctrl-C ends the gate's command. If the agent's shell kills `next`, the command keeps running.
    let interrupt = Signals::interrupt()?;
    let mut attempt = caller.workflow_commands(context);
    attempt.gate_runners.command.is_cancelled = Some(interrupt.flag());
    let code = told(attempt.next(&arguments.claims, &force), context)?;
    Ok(if interrupt.arrived() { ExitCode::Interrupted } else { code })
}

pub fn go_on(context: &Context) -> CommandOutcome {
    told(
        Caller::of("continue", context).or_of_last_run(context).workflow_commands(context).continue_past_rules(),
        context,
    )
}

pub fn repeat(context: &Context) -> CommandOutcome {
    told(Caller::of("repeat", context).workflow_commands(context).repeat(), context)
}

pub fn prev(context: &Context) -> CommandOutcome {
    told(Caller::of("prev", context).workflow_commands(context).prev(), context)
}

pub fn restart(context: &Context) -> CommandOutcome {
    told(Caller::of("restart", context).workflow_commands(context).restart(), context)
}

pub fn abort(context: &Context) -> CommandOutcome {
    told(Caller::of("abort", context).workflow_commands(context).abort(), context)
}

/// Returns the names that expressions can use in the current state.
pub fn known_names(context: &Context) -> KnownNames {
    Caller::of("explain", context).workflow_commands(context).known_names()
}

/// Who runs the command, and the state that it applies to.
pub struct Caller {
    pub project: Project,
    policy: Arc<CompiledPolicy>,
    now: i64,
    /// The session whose variables the command uses.
    session: Option<SessionOwner>,
    /// The agents' sessions in whose shell the command may run.
    candidate_sessions: Vec<SessionOwner>,
    hat_phase: Option<Arc<HatPhase>>,
    is_agents: bool,
    /// The command to repeat if a gate takes too long.
    repeat_with: &'static str,
}

impl Caller {
    pub fn of(verb: &str, context: &Context) -> Self {
        Self::about(&[verb], None, context)
    }

    /// Like [`Self::of`], for a session from the arguments.
    fn with_session(words: &[&str], named: Option<&str>, context: &Context) -> Result<Self, Problem> {
        let caller = Self::about(words, named, context);
        let Some(named) = named else { return Ok(caller) };
        match &caller.session {
            None => Err(Problem::new("NotFound", format!("the journal has no session `{named}`"))
                .help("`linchpin log --json` lists the sessions")),
            Some(_) if caller.is_agents && !caller.candidate_sessions.iter().any(|own| own.session == named) => {
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
        let policy = project.compiled_read_only(&context.environment);
        let now = super::now();
        let words: Vec<&str> = words.iter().copied().chain(named).collect();
        let command = CommandRun { words: &words, session: named, environment: &context.environment, now };
        let store = super::log::open(&project, context).ok();
        let runs_in = store.as_ref().and_then(|store| command.agents(store).ok()).unwrap_or_default();
        let is_marked = person::required(verb, &context.environment).is_err();
        let is_agents = is_marked || !runs_in.is_empty();
        // `continue`, `explain` and a person's `set` use the latest session. A move, and an agent's `set`, never guess
        // one.
        let is_for_last = ["continue", "explain"].contains(&verb) || (verb == "set" && !is_agents);
        let session = store.as_ref().and_then(|store| {
            let found = if is_for_last {
                command.session(store)
            } else {
                command.known_session(store, is_marked || verb == "set")
            };
            found.ok().flatten()
        });
        let hat_phase = HatPhase::of_process(&project, &context.environment).map(Arc::new);
        let again = match verb {
            "emit" => "linchpin emit",
            "task" => "linchpin task close",
            _ => "linchpin next",
        };
        Self {
            project,
            policy: Arc::new(policy),
            now,
            session,
            candidate_sessions: runs_in,
            hat_phase,
            is_agents,
            repeat_with: again,
        }
    }

    /// Applies the command to the last run, if no workflow is active and the run has not completed: it may wait for a
    /// person.
    fn or_of_last_run(self, context: &Context) -> Self {
        let store = super::log::open(&self.project, context).ok();
        let workflow = store.and_then(|store| store.workflow().ok());
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
        let run = driver::running(&self.project.root, &context.environment).filter(|_| is_in_run)?;
        let hat_phase = HatPhase::of_run(run, &self.project, &context.environment).map(Arc::new)?;
        Some(Self { hat_phase: Some(hat_phase), ..self })
    }

    pub fn workflow_commands<'a>(&'a self, context: &'a Context) -> WorkflowCommands<'a> {
        WorkflowCommands {
            project: &self.project,
            environment: &context.environment,
            policy: Arc::clone(&self.policy),
            now: self.now,
            session: self.session.clone(),
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

fn told(step: Result<Step, WorkflowError>, context: &Context) -> CommandOutcome {
    let step = step.map_err(refused::problem)?;
    tell(&step, context);
    Ok(match step.outcome {
        StepOutcome::Prompt(_) | StepOutcome::Ended | StepOutcome::Counting(_) => ExitCode::Done,
        StepOutcome::GatesFailed(_) | StepOutcome::NoTransition { .. } => ExitCode::No,
        StepOutcome::Interrupt { .. } => ExitCode::Interrupt,
    })
}

fn tell(step: &Step, context: &Context) {
    let output = &context.output;
    if output.json {
        output.value(&as_json(step));
        return;
    }
    for notice in &step.notices {
        output.line(notice);
    }
    for text in &step.texts {
        output.line(text.trim_end());
        output.blank();
    }
    let Step { workflow, node, .. } = step;
    match &step.outcome {
        StepOutcome::Prompt(prompt) => {
            output.line(prompt.trim_end());
            if step.moved {
                output.aside(format!("now at `{node}` of `{workflow}`"));
            }
        }
        StepOutcome::Interrupt { text, rule, .. } => {
            output.line(text);
            let may_force = person::required("next --force", &context.environment).is_ok();
            let force =
                if may_force { format!("; `linchpin next --force {rule}` skips it once") } else { String::new() };
            output.aside(format!("still at `{node}`, by rule `{rule}`{force}"));
        }
        StepOutcome::Ended => output.line(format!("Workflow `{workflow}` is {node}. Nothing is active now.")),
        StepOutcome::Counting(rules) => {
            output.line(format!("The count of these rules starts again from zero: {}.", rules.join(", ")));
        }
        StepOutcome::GatesFailed(failed_gates) => {
            output.line(format!("Still at `{node}`: its gates are not met."));
            for FailedGate { gate, why, .. } in failed_gates {
                output.blank();
                output.line(format!("- {gate}: {why}"));
            }
        }
        StepOutcome::NoTransition { claimed, leading_claims } => {
            let claimed = claimed.iter().map(|claim| format!("`{claim}`")).collect::<Vec<_>>().join(", ");
            let claimed = if claimed.is_empty() { "without a claim".to_owned() } else { format!("by {claimed}") };
            output.line(format!("Still at `{node}`: no transition applies {claimed}."));
            output.line(match leading_claims.as_slice() {
                [] => "At present no single claim would make a transition apply.".to_owned(),
                claims => format!("These would: {}", claims.join(", ")),
            });
        }
    }
}

fn as_json(step: &Step) -> Value {
    let Step { workflow, node, moved, outcome, .. } = step;
    let (mut interrupt, mut prompt) = (Value::Null, Value::Null);
    let mut more = Map::new();
    for (name, lines) in [("texts", &step.texts), ("notices", &step.notices)] {
        if !lines.is_empty() {
            more.insert(name.to_owned(), json!(lines));
        }
    }
    match outcome {
        StepOutcome::Prompt(text) => prompt = json!(text),
        StepOutcome::Interrupt { rule, text, violation } => {
            let Violation { limit, diagnostic, suggestion, recent, snapshot, .. } = &**violation;
            interrupt = json!({
                "rule": rule, "type": limit, "diagnostic": diagnostic, "suggestion": suggestion, "recent": recent,
                "snapshot": snapshot,
            });
            prompt = json!(text);
        }
        StepOutcome::Ended => {}
        StepOutcome::Counting(rules) => {
            more.insert("continued".to_owned(), json!(rules));
        }
        StepOutcome::GatesFailed(failed_gates) => {
            let failed_gates = failed_gates
                .iter()
                .map(|failed_gate| json!({ "gate": failed_gate.gate, "why": failed_gate.why }))
                .collect();
            more.insert("lacks".to_owned(), failed_gates);
        }
        StepOutcome::NoTransition { leading_claims, .. } => {
            more.insert("claims".to_owned(), json!(leading_claims));
        }
    }
    let told = json!({ "workflow": workflow, "node": node, "moved": moved, "interrupt": interrupt, "prompt": prompt });
    let told = told.as_object().cloned().unwrap_or_default();
    Value::Object(told.into_iter().chain(more).collect())
}
