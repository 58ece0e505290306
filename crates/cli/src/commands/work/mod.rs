//! The commands that move a workflow. What each does is `guard`'s; how it is told is here.

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
use guard::Project;
use guard::facts::Position;
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
    let mover = Mover::of("start", context);
    if let Some(run) = driver::running(&mover.project.root, &context.environment) {
        let message = format!("run {run} of the loop is going on here");
        return Err(Problem::new("Running", message).help(
            "wait for it, or end it with `linchpin runs stop`: a loop and a workflow would each say what comes next",
        ));
    }
    let workflow = workflow_path::name_of(&arguments.workflow, &mover.project, context)?;
    told(mover.moves(context).start(&workflow, arguments.node.as_deref()), context)
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
    let mover = Mover::with_session(&["next"], arguments.session.as_deref(), context)?;
    // Only Ctrl-C ends a gate's command. It outlives an agent whose shell ends `next` after a while.
    let interrupt = Signals::interrupt()?;
    let mut attempt = mover.moves(context);
    attempt.gate_runners.command.is_interrupted = Some(interrupt.flag());
    let code = told(attempt.next(&arguments.claims, &force), context)?;
    Ok(if interrupt.arrived() { ExitCode::Interrupted } else { code })
}

pub fn go_on(context: &Context) -> CommandOutcome {
    told(Mover::of("continue", context).or_of_last_run(context).moves(context).continue_past_rules(), context)
}

pub fn repeat(context: &Context) -> CommandOutcome {
    told(Mover::of("repeat", context).moves(context).repeat(), context)
}

pub fn prev(context: &Context) -> CommandOutcome {
    told(Mover::of("prev", context).moves(context).prev(), context)
}

pub fn restart(context: &Context) -> CommandOutcome {
    told(Mover::of("restart", context).moves(context).restart(), context)
}

pub fn abort(context: &Context) -> CommandOutcome {
    told(Mover::of("abort", context).moves(context).abort(), context)
}

/// What expressions know here and now.
pub fn known_names(context: &Context) -> KnownNames {
    Mover::of("explain", context).moves(context).known_names()
}

/// Whoever runs the command.
pub struct Mover {
    pub project: Project,
    policy: Arc<CompiledPolicy>,
    now: i64,
    /// Whose variables count.
    session: Option<SessionOwner>,
    /// The sessions of agents in whose shell it may run.
    runs_in: Vec<SessionOwner>,
    stage: Option<Arc<HatPhase>>,
    is_agents: bool,
    /// What is said to be repeated where a gate takes its time.
    again: &'static str,
}

impl Mover {
    pub fn of(verb: &str, context: &Context) -> Self {
        Self::about(&[verb], None, context)
    }

    /// The same, where it is said whose variables count.
    fn with_session(words: &[&str], named: Option<&str>, context: &Context) -> Result<Self, Problem> {
        let mover = Self::about(words, named, context);
        let Some(named) = named else { return Ok(mover) };
        match &mover.session {
            None => Err(Problem::new("NotFound", format!("the journal has no session `{named}`"))
                .help("`linchpin log --json` names the sessions")),
            Some(_) if mover.is_agents && !mover.runs_in.iter().any(|own| own.session == named) => {
                Err(Problem::new("NotAPerson", format!("this runs in another session than `{named}`"))
                    .help("leave `--session` out: the variables of your own session count"))
            }
            Some(_) => Ok(mover),
        }
    }

    /// `words`: the verb, and what else its command line is sure to have.
    fn about(words: &[&str], named: Option<&str>, context: &Context) -> Self {
        let verb = words.first().copied().unwrap_or_default();
        let project = project_of_command(&context.environment);
        // Nothing is kept of it: the next hook has to learn that a rule is new, and writes it down.
        let policy = project.compiled_read_only(&context.environment);
        let now = super::now();
        let words: Vec<&str> = words.iter().copied().chain(named).collect();
        let command = CommandRun { words: &words, session: named, environment: &context.environment, now };
        let store = super::log::open(&project, context).ok();
        let runs_in = store.as_ref().and_then(|store| command.agents(store).ok()).unwrap_or_default();
        let is_marked = person::required(verb, &context.environment).is_err();
        let is_agents = is_marked || !runs_in.is_empty();
        // A person goes on for the session that was last heard of. Whose variables decide a move is not guessed, nor whose an
        // agent sets.
        let is_for_last = ["continue", "explain"].contains(&verb) || (verb == "set" && !is_agents);
        let session = store.as_ref().and_then(|store| {
            let found = if is_for_last {
                command.session(store)
            } else {
                command.known_session(store, is_marked || verb == "set")
            };
            found.ok().flatten()
        });
        let stage = HatPhase::of_process(&project, &context.environment).map(Arc::new);
        let again = match verb {
            "emit" => "linchpin emit",
            "task" => "linchpin task close",
            _ => "linchpin next",
        };
        Self { project, policy: Arc::new(policy), now, session, runs_in, stage, is_agents, again }
    }

    /// About the last run, where no workflow is active and the run is not done: it may wait for a person.
    fn or_of_last_run(self, context: &Context) -> Self {
        let store = super::log::open(&self.project, context).ok();
        let workflow = store.and_then(|store| store.workflow().ok());
        let is_active = workflow.is_some_and(|state| Position::of(&state.variables).is_some());
        if self.stage.is_some() || is_active {
            return self;
        }
        let environment = &context.environment;
        let work = WorkDatabase::open_existing(&self.project.work_database_path(environment)).ok().flatten();
        let last = work.and_then(|work| work.runs(1).ok()?.pop());
        let last = last.filter(|run| !run.is_complete());
        let stage = last.and_then(|run| HatPhase::of_run(run.id, &self.project, environment)).map(Arc::new);
        Self { stage, ..self }
    }

    /// About the run that this is part of, though its environment may not say so any more; none outside of runs.
    pub fn of_run_around(self, context: &Context) -> Option<Self> {
        if self.stage.is_some() {
            return Some(self);
        }
        let is_in_run = ancestry::mark() == Some(HatPhase::RUN);
        let run = driver::running(&self.project.root, &context.environment).filter(|_| is_in_run)?;
        let stage = HatPhase::of_run(run, &self.project, &context.environment).map(Arc::new)?;
        Some(Self { stage: Some(stage), ..self })
    }

    pub fn moves<'a>(&'a self, context: &'a Context) -> WorkflowCommands<'a> {
        WorkflowCommands {
            project: &self.project,
            environment: &context.environment,
            policy: Arc::clone(&self.policy),
            now: self.now,
            session: self.session.clone(),
            hat_phase: self.stage.clone(),
            is_by_agent: self.is_agents,
            gate_runners: GateRunners {
                command: GateRunOptions {
                    show: if context.output.json { |_| {} } else { gate_progress::show },
                    ..GateRunOptions::by_this_binary(self.again)
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
                if may_force { format!("; `linchpin next --force {rule}` passes over it once") } else { String::new() };
            output.aside(format!("still at `{node}`, by rule `{rule}`{force}"));
        }
        StepOutcome::Ended => output.line(format!("Workflow `{workflow}` is {node}. Nothing is active now.")),
        StepOutcome::Counting(rules) => {
            output.line(format!("Noted. What these rules count begins again: {}.", rules.join(", ")));
        }
        StepOutcome::GatesFailed(failed_gates) => {
            output.line(format!("Still at `{node}`: what has to hold before it can be left does not."));
            for FailedGate { gate, why, .. } in failed_gates {
                output.blank();
                output.line(format!("- {gate}: {why}"));
            }
        }
        StepOutcome::NoTransition { claimed, leading_claims } => {
            let claimed = claimed.iter().map(|claim| format!("`{claim}`")).collect::<Vec<_>>().join(", ");
            let claimed = if claimed.is_empty() { "without a claim".to_owned() } else { format!("by {claimed}") };
            output.line(format!("Still at `{node}`: no way leads on from here {claimed}."));
            output.line(match leading_claims.as_slice() {
                [] => "No single claim would lead on as things are.".to_owned(),
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
