//! `runs`: lists the runs of this project, and shows one.

use driver::active_run_id;
use guard::Project;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use work::{Iteration, Run, RunId, RunUsage, WorkDatabase};

use super::run::{published_text, spent_text};
use crate::arguments::{RunsAction, RunsArguments};
use crate::commands::Context;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

/// The maximum number of runs to list.
const MAX_RUNS: u32 = 50;
/// The maximum number of a run's last iterations to show.
const MAX_ITERATIONS: u32 = 200;

pub fn run(arguments: &RunsArguments, context: &Context) -> CommandOutcome {
    match &arguments.action {
        None | Some(RunsAction::List) => list(context),
        Some(RunsAction::Show { run }) => show(run.as_deref(), context),
        Some(RunsAction::Stop { run }) => {
            person::required("runs stop", &context.environment)?;
            super::stop::stop_run(run.as_deref(), true, context)
        }
    }
}

fn list(context: &Context) -> CommandOutcome {
    let project = Project::of_sessions(&context.environment);
    let work = super::open_work_database(&project, context)?;
    let active_run = active_run_id(&project.root, &context.environment);
    let runs = work.runs(MAX_RUNS)?;
    if context.output.json {
        let runs: Result<Vec<Value>, Problem> =
            runs.iter().map(|run| Ok(to_json(run, &work.usage(run.id)?, active_run))).collect();
        context.output.value(&json!({ "runs": runs? }));
        return Ok(ExitCode::Done);
    }
    if runs.is_empty() {
        context.output.line("There is no run here yet. `linchpin run -p \"…\"` starts one.");
    }
    for run in &runs {
        let spent = work.usage(run.id)?;
        let about = run.objective.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
        let line = format!(
            "{:<4} {}  {}, {}  {about}",
            run.id.to_string(),
            time(run.started),
            state(run, active_run),
            spent_text(&spent)
        );
        context.output.line(line.trim_end());
    }
    Ok(ExitCode::Done)
}

fn show(named: Option<&str>, context: &Context) -> CommandOutcome {
    let project = Project::of_sessions(&context.environment);
    let work = super::open_work_database(&project, context)?;
    let run = match named {
        Some(named) => {
            let id = super::parse_run_id(named)?;
            let missing =
                || Problem::new("NotFound", format!("there is no run `{id}`")).help("`linchpin runs` lists them");
            work.run(id)?.ok_or_else(missing)?
        }
        None => work.runs(1)?.pop().ok_or_else(|| {
            Problem::new("NotFound", "there is no run in this project yet").help("`linchpin run -p \"…\"` starts one")
        })?,
    };
    let (active_run, spent) = (active_run_id(&project.root, &context.environment), work.usage(run.id)?);
    let limit = if context.output.json { u32::MAX } else { MAX_ITERATIONS };
    let iterations = work.iterations(run.id, limit)?;
    if context.output.json {
        let mut value = to_json(&run, &spent, active_run);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("processes_left".to_owned(), json!(leftover_processes(&run, active_run, &project, context)));
            fields.insert("iterations".to_owned(), iterations.iter().map(iteration_json).collect());
        }
        context.output.value(&value);
        return Ok(ExitCode::Done);
    }
    print_run(&run, &spent, &iterations, active_run, &work, &project, context)
}

fn print_run(
    run: &Run,
    spent: &RunUsage,
    iterations: &[Iteration],
    active_run: Option<RunId>,
    work: &WorkDatabase,
    project: &Project,
    context: &Context,
) -> CommandOutcome {
    let output = &context.output;
    output.line(format!(
        "{} {}, {}",
        output.bold(&format!("Run {}", run.id)),
        state(run, active_run),
        spent_text(spent)
    ));
    if let Some(objective) = &run.objective {
        output.line(format!("  for {}", objective.trim_end().replace('\n', "\n      ")));
    }
    if let Some(end) = &run.end {
        output.line(format!("  {}", end.why.trim_end().replace('\n', "\n    ")));
    }
    if let count @ 1.. = leftover_processes(run, active_run, project, context) {
        let (id, processes) = (run.id, super::processes(count));
        output.line(format!("  {processes} left over; `linchpin runs stop {id}` ends them"));
    }
    for Iteration { number, hat, topic, outcome, handed_over, summary, remark, .. } in iterations {
        let result = match (handed_over, outcome) {
            (Some(topic), outcome) => {
                let is_default = *outcome == Some(work::IterationOutcome::DefaultTopic);
                format!(" {}", published_text(topic, summary.as_deref().unwrap_or_default(), is_default))
            }
            (None, Some(outcome)) => {
                let why = remark.as_deref().and_then(|remark| remark.lines().next());
                let (text, separator) = match outcome {
                    work::IterationOutcome::NoTopic => (" published no topic".to_owned(), "; "),
                    outcome => (format!(": {}", outcome.name().replace('_', " ")), ": "),
                };
                format!("{text}{}", why.map_or_else(String::new, |why| format!("{separator}{why}")))
            }
            (None, None) if active_run == Some(run.id) => " is at work".to_owned(),
            (None, None) => " was cut off".to_owned(),
        };
        output.line(format!("  {number:>3} hat `{hat}` on `{topic}`{result}"));
    }
    if let Some(waiting) = work.oldest_waiting_topic(run.id)? {
        output.line(format!("  next: {}", waiting.topic));
    }
    let logs = super::logs(project, context).join(run.id.to_string());
    output.line(format!("  output of the agents: {}", logs.display()));
    Ok(ExitCode::Done)
}

/// If the run's driver was killed, returns how many processes of the run are still alive; otherwise 0.
pub(super) fn leftover_processes(run: &Run, active_run: Option<RunId>, project: &Project, context: &Context) -> usize {
    let was_driver_killed = run.end.is_none() && active_run != Some(run.id);
    if was_driver_killed { driver::find_leftovers(run.id, &project.root, &context.environment).count() } else { 0 }
}

pub(super) fn state(run: &Run, active_run: Option<RunId>) -> String {
    match &run.end {
        Some(end) => end.outcome.name().to_owned(),
        None if active_run == Some(run.id) => "going on".to_owned(),
        None => "cut off".to_owned(),
    }
}

pub(super) fn to_json(run: &Run, spent: &RunUsage, active_run: Option<RunId>) -> Value {
    json!({
        "id": run.id.to_string(),
        "objective": run.objective,
        "state": state(run, active_run),
        "why": run.end.as_ref().map(|end| &end.why),
        "started": run.started,
        "ended": run.end.as_ref().map(|end| end.time),
        "iterations_done": spent.iterations,
        "seconds": spent.time.max(0) / 1000,
        "tokens": spent.tokens,
        "cost_usd": spent.cost_usd,
    })
}

fn iteration_json(iteration: &Iteration) -> Value {
    let Iteration { number, hat, topic, started, ended, outcome, remark, tokens, cost_usd, handed_over, summary } =
        iteration;
    json!({
        "number": number, "hat": hat, "topic": topic, "started": started, "ended": ended,
        "outcome": outcome.map(work::IterationOutcome::name), "remark": remark, "tokens": tokens, "cost_usd": cost_usd,
        "handed_over": handed_over, "summary": summary,
    })
}

fn time(time: i64) -> String {
    let time = Timestamp::from_millisecond(time).map(|time| time.to_zoned(TimeZone::system()));
    time.map(|time| time.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default()
}
