//! The commands around a run of the loop: one file each.

mod emit;
mod progress;
mod run;
mod runs;
mod stop;
mod unfinished;
mod unguarded;

pub use emit::{held, run as emit};
pub use progress::run as progress;
pub use run::run;
pub use runs::run as runs;
pub use stop::{let_go_on, run as stop};
pub use unfinished::unfinished;
pub use unguarded::{Unguarded, unguarded};

use guard::Project;
use guard::session::HatPhase;
use work::{RunId, WorkDatabase};

use super::Context;
use crate::problem::Problem;

/// The run that this command belongs to.
fn stage(project: &Project, context: &Context) -> Result<HatPhase, Problem> {
    HatPhase::of_process(project, &context.environment).ok_or_else(|| {
        Problem::new("NoRun", "this is no part of a run of the loop")
            .help("agents that `linchpin run` starts can say that; `linchpin runs` lists the runs")
    })
}

fn work(project: &Project, context: &Context) -> Result<WorkDatabase, Problem> {
    Ok(WorkDatabase::open(&project.work_database_path(&context.environment))?)
}

fn run_id(text: &str) -> Result<RunId, Problem> {
    text.parse().map_err(|_| {
        Problem::new("NotFound", format!("`{text}` names no run"))
            .help("runs are called `r1`, `r2` and so on: `linchpin runs`")
    })
}

/// `1 process`, `2 processes`.
fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}
