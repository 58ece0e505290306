//! `run`: drives the loop of this project.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use driver::{DriveError, Driver, RunEvent, Signals};
use engine::hats::Loop;
use guard::Project;
use guard::grants::Trust;
use guard::session::HatPhase;
use guard::workflow::{GateRunOptions, GateRunners};
use serde_json::{Value, json};
use work::{RunId, RunOutcome, RunUsage};

use crate::arguments::RunArguments;
use crate::commands::moves::refused;
use crate::commands::webhook;
use crate::commands::{Context, loop_file, now};
use crate::exit_code::ExitCode;
use crate::plural::counted;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &RunArguments, context: &Context) -> CommandOutcome {
    if context.environment.get(HatPhase::RUN).is_some() {
        return Err(Problem::new("InRun", "this process is part of a run, and a run cannot start another run")
            .help("hand over the work with `linchpin emit`"));
    }
    let project = Project::of_sessions(&context.environment);
    let the_loop = loop_file::valid_loop(&project, context)?;
    let objective = objective(arguments)?;
    if arguments.dry_run {
        return show_first_prompt(&project, &the_loop, objective.as_deref(), context);
    }
    if !Trust::of(&project.root, &context.environment).accepts_loop(&the_loop) {
        let message = format!("`{}` starts programs, and its current version is not trusted", the_loop.source);
        return Err(Problem::new("Untrusted", message).help("read it, then accept it with `linchpin trust`"));
    }
    for agent in super::unguarded_agents(&the_loop, &project, context) {
        match agent.refusal() {
            Some(refusal) => return Err(refusal),
            None if agent.is_warning() => context.output.aside(format!("warning: {}", agent.message())),
            None => {}
        }
    }
    if objective.is_none() && arguments.resume.is_none() {
        require_work(&the_loop, &project, context)?;
    }
    let policy = Arc::new(project.compiled_policy(&context.environment));
    let signals = Signals::watch_all()?;
    // Gates of default topics run in this process, with a long time limit, because no agent waits for them.
    let gate_options = GateRunOptions {
        wait_limit: Duration::from_hours(24),
        cancel_flag: Some(signals.flag()),
        ..GateRunOptions::by_this_binary("linchpin run --resume")
    };
    let driver = Driver {
        project: &project,
        environment: &context.environment,
        policy,
        gate_runners: GateRunners { command: gate_options, webhook: webhook::ask },
        the_loop,
        signals: &signals,
        clock: now,
        binary: std::env::current_exe().map_or_else(|_| OsString::from("linchpin"), Into::into),
    };
    let mut reporter = RunReporter { context, run: None, ended: None, logs: super::logs(&project, context) };
    let mut report = |event: RunEvent<'_>| reporter.report(&event);
    let ended = match &arguments.resume {
        None => driver.begin(objective.as_deref(), &mut report),
        Some(named) if named.is_empty() => driver.resume(None, &mut report),
        Some(named) => driver.resume(Some(super::parse_run_id(named)?), &mut report),
    };
    let outcome = ended.map_err(problem)?;
    reporter.print_end_as_json();
    Ok(match outcome {
        RunOutcome::Completed | RunOutcome::Stopped => ExitCode::Done,
        RunOutcome::Failed => ExitCode::No,
        RunOutcome::Limit => ExitCode::Limit,
        RunOutcome::Interrupted => ExitCode::Interrupted,
    })
}

fn objective(arguments: &RunArguments) -> Result<Option<String>, Problem> {
    let objective = match &arguments.prompt_file {
        None => arguments.prompt.clone(),
        Some(file) => Some(
            read(file).map_err(|error| Problem::new("Io", format!("`{}` cannot be read: {error}", file.display())))?,
        ),
    };
    if objective.as_ref().is_some_and(|objective| objective.trim().is_empty()) {
        return Err(Problem::new("InvalidValue", "the objective is empty").help("give the objective with `-p \"…\"`"));
    }
    Ok(objective)
}

/// For a run without an objective: fails if nothing else tells the first agent what to do, because no task is ready,
/// and the loop's first topic has no prompt text.
fn require_work(the_loop: &Loop, project: &Project, context: &Context) -> Result<(), Problem> {
    let has_prompt = the_loop.topics.get(&the_loop.start).is_some_and(|topic| !topic.on_trigger.trim().is_empty());
    if has_prompt || super::open_work_database(project, context)?.tasks().ready(1)?.1 > 0 {
        return Ok(());
    }
    Err(Problem::new("Usage", "the run has no objective, and no task is ready")
        .help("give an objective: `linchpin run -p \"…\"`; `linchpin run --resume` resumes the last run"))
}

/// The maximum length of an objective. Longer texts belong in files that the agents read.
const MAX_OBJECTIVE_BYTES: u64 = 256 * 1024;

fn read(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(file)?.take(MAX_OBJECTIVE_BYTES + 1).read_to_string(&mut text)?;
    let is_too_long = u64::try_from(length).is_ok_and(|length| length > MAX_OBJECTIVE_BYTES);
    if is_too_long { Err(io::Error::other(format!("it has more than {MAX_OBJECTIVE_BYTES} bytes"))) } else { Ok(text) }
}

/// Prints the prompt of the first agent.
fn show_first_prompt(project: &Project, the_loop: &Loop, objective: Option<&str>, context: &Context) -> CommandOutcome {
    let work = super::open_work_database(project, context)?;
    // A valid loop has a hat for its first topic.
    let Some((hat, prompt)) = driver::first_prompt(the_loop, objective, &work, &project.root)? else {
        return Err(Problem::new("NotFound", format!("no hat is triggered by `{}`", the_loop.start)));
    };
    context.output.line_or(prompt.trim_end(), &json!({ "hat": hat, "prompt": prompt }));
    Ok(ExitCode::Done)
}

/// Prints events of the run for people or, for programs, the end of the run as JSON.
struct RunReporter<'a> {
    context: &'a Context,
    run: Option<RunId>,
    /// The end of the run as JSON.
    ended: Option<Value>,
    /// The directory with the output of the agents of each run.
    logs: PathBuf,
}

impl RunReporter<'_> {
    fn report(&mut self, event: &RunEvent<'_>) {
        let output = &self.context.output;
        let run = self.run.map(|run| run.to_string()).unwrap_or_default();
        match event {
            RunEvent::Began { run, is_resumed } => {
                self.run = Some(*run);
                let what = if *is_resumed { "resumes" } else { "starts" };
                output.aside(format!("[{run}] {what}; `linchpin runs show {run}` shows its progress"));
            }
            RunEvent::Leftovers { run, count } => {
                output.aside(format!("[{run}] ended {} left over from the run", super::processes(*count)));
            }
            RunEvent::Iteration { number, hat, topic, spent } => {
                output
                    .aside(format!("[{run} #{number}] hat `{hat}` starts on `{topic}`; {} so far", spent_text(spent)));
            }
            RunEvent::Output(text) => {
                if !output.json {
                    output.write(&agents::without_control_characters(text));
                }
            }
            RunEvent::Progress(text) => output.aside(format!("[{run}] {}", text.replace('\n', " "))),
            RunEvent::HandedOver { hat, topic, summary, is_default, refusal } => {
                let published = published_text(topic, summary, *is_default);
                let refusal = refusal.map_or_else(String::new, |refusal| format!("; {refusal}"));
                output.aside(format!("[{run}] hat `{hat}` {published}{refusal}"));
            }
            RunEvent::Done { hat } => output.aside(format!("[{run}] hat `{hat}` is done; it publishes no topic")),
            RunEvent::NoHandOver { hat, why } => output.aside(format!("[{run}] hat `{hat}`: {why}")),
            RunEvent::TopicSkipped { topic } => output.aside(format!(
                "[{run}] no hat is triggered by `{topic}`: add it to the `triggers` of a hat in `.linchpin/loop.yml`"
            )),
            RunEvent::Ended { outcome, why, spent, can_resume } => self.report_end(*outcome, why, spent, *can_resume),
        }
    }

    fn report_end(&mut self, outcome: RunOutcome, why: &str, spent: &RunUsage, can_resume: bool) {
        let run = self.run.map(|run| run.to_string()).unwrap_or_default();
        let output = &self.context.output;
        // The name of the outcome is not printed for a limit, because the line would read "limit: the limit of …".
        let outcome_text = if outcome == RunOutcome::Limit { "ended" } else { outcome.name() };
        output.aside(format!("[{run}] {outcome_text}: {}", why.trim_end().replace('\n', "\n    ")));
        output.aside(format!("[{run}] spent {}", spent_text(spent)));
        match outcome {
            _ if !can_resume => {}
            RunOutcome::Limit => output.aside(format!(
                "[{run}] to continue, raise the limit in `.linchpin/loop.yml`, accept it with `linchpin trust`, then run `linchpin run --resume {run}`"
            )),
            _ => output.aside(format!("[{run}] `linchpin run --resume {run}` resumes it")),
        }
        if outcome == RunOutcome::Failed {
            output.aside(format!("[{run}] output of the agents: {}", self.logs.join(&run).display()));
        }
        self.ended = Some(json!({
            "run": run, "ending": outcome.name(), "why": why, "iterations": spent.iterations, "seconds": spent.time.max(0) / 1000,
            "tokens": spent.tokens, "cost_usd": spent.cost_usd,
        }));
    }

    fn print_end_as_json(&self) {
        if let Some(ended) = self.ended.as_ref().filter(|_| self.context.output.json) {
            self.context.output.value(ended);
        }
    }
}

/// Describes how a hat published a topic, with the first line of the agent's summary.
pub fn published_text(topic: &str, summary: &str, is_default: bool) -> String {
    match summary.trim().lines().next() {
        _ if is_default => format!("published no topic, so its default topic `{topic}` was published"),
        Some(summary) => format!("published `{topic}`: {summary}"),
        None => format!("published `{topic}`"),
    }
}

/// Returns, for example, `3 iterations, 20s, 1200 tokens, $0.10`.
pub fn spent_text(spent: &RunUsage) -> String {
    let RunUsage { iterations, time, tokens, cost_usd, .. } = spent;
    let mut parts = vec![counted(usize::try_from(*iterations).unwrap_or(0), "iteration")];
    parts.push(format!("{}s", time.max(&0) / 1000));
    parts.extend(tokens.map(|tokens| format!("{tokens} tokens")));
    parts.extend(cost_usd.map(|cost| format!("${cost:.2}")));
    parts.join(", ")
}

fn problem(why: DriveError) -> Problem {
    let message = why.to_string();
    match why {
        DriveError::Running { .. } => {
            Problem::new("Running", message).help("wait for it, or stop it with `linchpin runs stop`")
        }
        DriveError::WorkflowActive { .. } => Problem::new("WorkflowActive", message).help(
            "finish it, or leave it with `linchpin abort`: a loop and a workflow cannot both decide the next step",
        ),
        DriveError::UnknownRun(_) | DriveError::NoRun | DriveError::Complete(_) => {
            Problem::new("NotFound", message).help("`linchpin runs` lists them; `linchpin run -p \"…\"` starts one")
        }
        DriveError::Io(_) => Problem::new("Io", message),
        DriveError::Work(error) => error.into(),
        DriveError::WorkflowError(refusal) => refused::problem(refusal),
        DriveError::Store(error) => error.into(),
    }
}
