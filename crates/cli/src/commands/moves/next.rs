//! `next`: moves the active workflow to the next node.

use driver::Signals;
use guard::workflow::Force;

use super::refused;
use super::step_output::{exit_code, print};
use crate::arguments::NextArguments;
use crate::commands::Context;
use crate::commands::caller::{Caller, Verb};
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::CommandOutcome;

pub fn next(arguments: &NextArguments, context: &Context) -> CommandOutcome {
    let force = match &arguments.force {
        _ if arguments.force_all => Force::All,
        Some(rule) => Force::One(rule.clone()),
        None => Force::None,
    };
    if force != Force::None {
        person::required("next --force", &context.environment)?;
    }
    let caller = Caller::with_session(Verb::Next, &[], arguments.session.as_deref(), context)?;
    if force != Force::None {
        caller.require_no_open_call("next --force")?;
    }
    // Ctrl-C ends the gate's command. If the agent's shell kills `next`, the command keeps running.
    let interrupt = Signals::watch_ctrl_c()?;
    let mut commands = caller.workflow_commands(context);
    commands.gate_runners.command.cancel_flag = Some(interrupt.flag());
    let step = commands.next(&arguments.claims, &force).map_err(refused::problem)?;
    print(&step, context);
    // A move that was recorded is valid, even if the person pressed Ctrl-C right after it.
    let is_interrupted = interrupt.arrived() && !step.has_moved;
    Ok(if is_interrupted { ExitCode::Interrupted } else { exit_code(&step) })
}
