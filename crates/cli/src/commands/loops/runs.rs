//! `runs`: lists the runs of this project, and shows one.

use driver::active_run_id;
use guard::Project;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use work::{Iteration, Run, RunId, RunUsage, WorkDatabase};

use super::run::spent_text;
use crate::arguments::{RunsAction, RunsArguments};
use crate::commands::Context;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

/// The maximum number of runs in the list.
const LISTED: u32 = 50;
/// The number of a run's last iterations to show.
const SHOWN: u32 = 200;

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
    let work = super::work(&project, context)?;
    let going_on = active_run_id(&project.root, &context.environment);
    let runs = work.runs(LISTED)?;
    if context.output.json {
        let runs: Result<Vec<Value>, Problem> =
            runs.iter().map(|run| Ok(to_json(run, &work.usage(run.id)?, going_on))).collect();
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
            state(run, going_on),
            spent_text(&spent)
        );
        context.output.line(line.trim_end());
    }
    Ok(ExitCode::Done)
}

fn show(named: Option<&str>, context: &Context) -> CommandOutcome {
    let project = Project::of_sessions(&context.environment);
    let work = super::work(&project, context)?;
    let run = match named {
        Some(named) => {
            let id = super::run_id(named)?;
            let missing =
                || Problem::new("NotFound", format!("there is no run `{id}`")).help("`linchpin runs` lists them");
            work.run(id)?.ok_or_else(missing)?
        }
        None => work.runs(1)?.pop().ok_or_else(|| {
            Problem::new("NotFound", "there is no run in this project yet").help("`linchpin run -p \"…\"` starts one")
        })?,
    };
    let (going_on, spent) = (active_run_id(&project.root, &context.environment), work.usage(run.id)?);
    let shown = if context.output.json { u32::MAX } else { SHOWN };
    let iterations = work.iterations(run.id, shown)?;
    if context.output.json {
        let mut value = to_json(&run, &spent, going_on);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("processes_left".to_owned(), json!(leftover_processes(&run, going_on, &project, context)));
            fields.insert("iterations".to_owned(), iterations.iter().map(iteration_json).collect());
        }
        context.output.value(&value);
        return Ok(ExitCode::Done);
    }
    print_run(&run, &spent, &iterations, going_on, &work, &project, context)
}

fn print_run(
    run: &Run,
    spent: &RunUsage,
    iterations: &[Iteration],
    going_on: Option<RunId>,
    work: &WorkDatabase,
    project: &Project,
    context: &Context,
) -> CommandOutcome {
    let output = &context.output;
    output.line(format!("{} {}, {}", output.bold(&format!("Run {}", run.id)), state(run, going_on), spent_text(spent)));
    if let Some(objective) = &run.objective {
        output.line(format!("  for {}", objective.trim_end().replace('\n', "\n      ")));
    }
    if let Some(end) = &run.end {
        output.line(format!("  {}", end.why.trim_end().replace('\n', "\n    ")));
    }
    if let count @ 1.. = leftover_processes(run, going_on, project, context) {
        let (id, processes) = (run.id, super::processes(count));
        output.line(format!("  {processes} left over; `linchpin runs stop {id}` ends them"));
    }
    for Iteration { number, hat, topic, outcome, handed_over, remark, .. } in iterations {
        let came = match (handed_over, outcome) {
            (Some(topic), Some(work::IterationOutcome::DefaultTopic)) => format!(" published `{topic}` by default"),
            (Some(topic), _) => format!(" published `{topic}`"),
            (None, Some(outcome)) => {
                let why = remark.as_deref().and_then(|remark| remark.lines().next());
                let (what, between) = match outcome {
                    work::IterationOutcome::NoTopic => (" published no topic".to_owned(), "; "),
                    outcome => (format!(": {}", outcome.name().replace('_', " ")), ": "),
                };
                format!("{what}{}", why.map_or_else(String::new, |why| format!("{between}{why}")))
            }
            (None, None) if going_on == Some(run.id) => " is at work".to_owned(),
            (None, None) => " was cut off".to_owned(),
        };
        output.line(format!("  {number:>3} hat `{hat}` on `{topic}`{came}"));
    }
    if let Some(waiting) = work.oldest_waiting_topic(run.id)? {
        output.line(format!("  next: {}", waiting.topic));
    }
    let logs = context.environment.project_state(&project.root).join("runs").join(run.id.to_string());
    output.line(format!("  output of the agents: {}", logs.display()));
    Ok(ExitCode::Done)
}

/// Returns how many processes are left of a run whose driver was killed.
pub(super) fn leftover_processes(run: &Run, going_on: Option<RunId>, project: &Project, context: &Context) -> usize {
    let is_cut_off = run.end.is_none() && going_on != Some(run.id);
    if is_cut_off { driver::find_leftovers(run.id, &project.root, &context.environment).count() } else { 0 }
}

pub(super) fn state(run: &Run, going_on: Option<RunId>) -> String {
    match &run.end {
        Some(end) => end.outcome.name().to_owned(),
        None if going_on == Some(run.id) => "going on".to_owned(),
        None => "cut off".to_owned(),
    }
}

pub(super) fn to_json(run: &Run, spent: &RunUsage, going_on: Option<RunId>) -> Value {
    json!({
        "id": run.id.to_string(),
        "objective": run.objective,
        "state": state(run, going_on),
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
    let Iteration { number, hat, topic, started, ended, outcome, remark, tokens, cost_usd, handed_over } = iteration;
    json!({
        "number": number, "hat": hat, "topic": topic, "started": started, "ended": ended,
        "outcome": outcome.map(work::IterationOutcome::name), "remark": remark, "tokens": tokens, "cost_usd": cost_usd,
        "handed_over": handed_over,
    })
}

fn time(time: i64) -> String {
    let time = Timestamp::from_millisecond(time).map(|time| time.to_zoned(TimeZone::system()));
    time.map(|time| time.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default()
}
