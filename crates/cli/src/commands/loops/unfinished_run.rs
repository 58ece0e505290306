//! The part of `status` about the last run, if that run has not completed.

use driver::active_run_id;
use guard::Project;
use guard::session::HatPhase;
use guard::workflow::RunningCommand;
use serde_json::{Value, json};
use work::{Iteration, Run, RunId, WorkDatabase};

use super::processes;
use super::runs::{leftover_processes, state, to_json};
use crate::commands::gate_progress;
use crate::commands::{Context, loop_file, now};

/// Returns the last run as text for people and as JSON, or `None` if there is none or it has completed.
pub fn unfinished_run(project: &Project, context: &Context) -> Option<(String, Value)> {
    let work = WorkDatabase::open_existing(&project.work_database_path(&context.environment)).ok()??;
    let run = work.runs(1).ok()?.pop().filter(|run| !run.is_complete())?;
    let (active_run, spent) = (active_run_id(&project.root, &context.environment), work.usage(run.id).ok()?);
    let mut value = to_json(&run, &spent, active_run);
    if active_run != Some(run.id) {
        return Some((describe_ended_run(&run, active_run, &work, project, context), value));
    }
    let mut text = format!("{} {}", run.id, state(&run, active_run));
    if let Some(Iteration { number, hat, topic, .. }) = work.iterations(run.id, 1).ok()?.pop() {
        text = format!("{text}, #{number} hat `{hat}` on `{topic}`");
    }
    let gates = HatPhase::of_run(run.id, project, &context.environment)
        .map(|hat_phase| hat_phase.running_gates(project, &context.environment))
        .unwrap_or_default();
    let lines = gates.iter().map(|(gate, running)| format!("\n      {gate}, {}", gate_progress::line(running, now())));
    let text = std::iter::once(text).chain(lines).collect();
    if let Some(fields) = value.as_object_mut() {
        let gate = |(id, running): &(String, RunningCommand)| json!({ "id": id, "running": { "started": running.started, "last_line": running.last_line } });
        fields.insert("gates".to_owned(), gates.iter().map(gate).collect());
    }
    Some((text, value))
}

/// Describes a run that no process drives now.
fn describe_ended_run(
    run: &Run,
    active_run: Option<RunId>,
    work: &WorkDatabase,
    project: &Project,
    context: &Context,
) -> String {
    let end = run.end.as_ref();
    let why = end.map_or_else(String::new, |end| format!(": {}", end.why.lines().next().unwrap_or_default()));
    let left = match leftover_processes(run, active_run, project, context) {
        0 => String::new(),
        count => format!(", {} left behind (`linchpin runs stop {}` ends them)", processes(count), run.id),
    };
    // Resuming is suggested even if the loop file has errors, because they may be fixed first.
    let is_over = loop_file::valid_loop(project, context)
        .is_ok_and(|the_loop| driver::can_resume(run.id, work, &the_loop).is_ok_and(|can_resume| !can_resume));
    let go_on = if is_over { "" } else { "; `linchpin run --resume` resumes it" };
    format!("{} {}{left}{why}{go_on}", run.id, state(run, active_run))
}
