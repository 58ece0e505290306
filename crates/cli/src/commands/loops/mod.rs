//! The commands for runs of the loop, one file each.

mod emit;
mod progress;
mod run;
mod runs;
mod stop;
mod unfinished_run;
mod unguarded;

pub use emit::{print_failed_gates, run as emit};
pub use progress::run as progress;
pub use run::run;
pub use runs::run as runs;
pub use stop::{resume_session, run as stop};
pub use unfinished_run::unfinished_run;
pub use unguarded::{UnguardedAgent, unguarded_agents};

use std::path::PathBuf;

use guard::Project;
use guard::session::HatPhase;
use work::{RunId, WorkDatabase};

use super::Context;
use crate::problem::Problem;

/// Returns the run and hat that this command belongs to. Fails outside of runs.
fn require_hat_phase(project: &Project, context: &Context) -> Result<HatPhase, Problem> {
    HatPhase::of_process(project, &context.environment).ok_or_else(|| {
        Problem::new("NoRun", "this process is not part of a run of the loop")
            .help("only agents that `linchpin run` starts can run this command; `linchpin runs` lists the runs")
    })
}

fn open_work_database(project: &Project, context: &Context) -> Result<WorkDatabase, Problem> {
    Ok(WorkDatabase::open(&project.work_database_path(&context.environment))?)
}

/// Returns the directory with the output of the agents, a directory for each run.
fn logs(project: &Project, context: &Context) -> PathBuf {
    context.environment.project_state(&project.root).join("runs")
}

fn parse_run_id(text: &str) -> Result<RunId, Problem> {
    text.parse().map_err(|_| {
        Problem::new("NotFound", format!("invalid run `{text}`"))
            .help("runs are named `r1`, `r2` and so on: `linchpin runs` lists them")
    })
}

/// Returns a count with its noun: `1 process`, `2 processes`.
fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}
