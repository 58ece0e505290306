//! The commands that move a workflow. `guard` implements the moves; this module prints their results.

mod approve;
mod approve_task;
mod next;
pub mod refused;
mod set;
mod step_output;

use guard::workflow::ExpressionNames;

pub use approve::run as approve;
pub use next::next;
pub use set::set;
use step_output::print_step;

use super::caller::{Caller, Verb};
use super::{Context, workflow_path};
use crate::arguments::StartArguments;
use crate::problem::{CommandOutcome, Problem};

pub fn start(arguments: &StartArguments, context: &Context) -> CommandOutcome {
    let caller = Caller::of(Verb::Start, context);
    if let Some(run) = driver::active_run_id(&caller.project.root, &context.environment) {
        let message = format!("run {run} of the loop is running here");
        return Err(Problem::new("Running", message).help(
            "wait for it, or stop it with `linchpin runs stop`: a loop and a workflow cannot both decide the next step",
        ));
    }
    let workflow = workflow_path::name_of(&arguments.workflow, &caller.project, context)?;
    print_step(caller.workflow_commands(context).start(&workflow, arguments.node.as_deref()), context)
}

pub fn go_on(context: &Context) -> CommandOutcome {
    let caller = Caller::of(Verb::Continue, context).or_of_last_run(context);
    print_step(caller.workflow_commands(context).continue_past_rules(), context)
}

pub fn repeat(context: &Context) -> CommandOutcome {
    print_step(Caller::of(Verb::Repeat, context).workflow_commands(context).repeat(), context)
}

pub fn prev(context: &Context) -> CommandOutcome {
    print_step(Caller::of(Verb::Prev, context).workflow_commands(context).prev(), context)
}

pub fn restart(context: &Context) -> CommandOutcome {
    print_step(Caller::of(Verb::Restart, context).workflow_commands(context).restart(), context)
}

pub fn abort(context: &Context) -> CommandOutcome {
    print_step(Caller::of(Verb::Abort, context).workflow_commands(context).abort(), context)
}

/// Returns the names that expressions can use in the current state.
pub fn known_names(context: &Context) -> ExpressionNames {
    Caller::of(Verb::Explain, context).workflow_commands(context).expression_names()
}
