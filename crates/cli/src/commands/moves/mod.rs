//! The commands that move a workflow. `guard` implements the moves; this module prints them.

mod approve;
mod approve_task;
pub mod refused;
mod report;
mod set;

use driver::Signals;
use engine::pace::Violation;
use guard::workflow::{ExpressionNames, FailedGate, Force, Step, StepOutcome, WorkflowError};
use serde_json::{Map, Value, json};

pub use approve::run as approve;
pub use report::{report, report_json, show_report};
pub use set::set;

use super::caller::Caller;
use super::{Context, workflow_path};
use crate::arguments::{NextArguments, StartArguments};
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

pub fn start(arguments: &StartArguments, context: &Context) -> CommandOutcome {
    let caller = Caller::of("start", context);
    if let Some(run) = driver::active_run_id(&caller.project.root, &context.environment) {
        let message = format!("run {run} of the loop is running here");
        return Err(Problem::new("Running", message).help(
            "wait for it, or stop it with `linchpin runs stop`: a loop and a workflow cannot both decide the next step",
        ));
    }
    let workflow = workflow_path::name_of(&arguments.workflow, &caller.project, context)?;
    print_step(caller.workflow_commands(context).start(&workflow, arguments.node.as_deref()), context)
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
    let interrupt = Signals::watch_ctrl_c()?;
    let mut commands = caller.workflow_commands(context);
    commands.gate_runners.command.is_cancelled = Some(interrupt.flag());
    let code = print_step(commands.next(&arguments.claims, &force), context)?;
    Ok(if interrupt.arrived() { ExitCode::Interrupted } else { code })
}

pub fn go_on(context: &Context) -> CommandOutcome {
    let caller = Caller::of("continue", context).or_of_last_run(context);
    print_step(caller.workflow_commands(context).continue_past_rules(), context)
}

pub fn repeat(context: &Context) -> CommandOutcome {
    print_step(Caller::of("repeat", context).workflow_commands(context).repeat(), context)
}

pub fn prev(context: &Context) -> CommandOutcome {
    print_step(Caller::of("prev", context).workflow_commands(context).prev(), context)
}

pub fn restart(context: &Context) -> CommandOutcome {
    print_step(Caller::of("restart", context).workflow_commands(context).restart(), context)
}

pub fn abort(context: &Context) -> CommandOutcome {
    print_step(Caller::of("abort", context).workflow_commands(context).abort(), context)
}

/// Returns the names that expressions can use in the current state.
pub fn known_names(context: &Context) -> ExpressionNames {
    Caller::of("explain", context).workflow_commands(context).expression_names()
}

fn print_step(step: Result<Step, WorkflowError>, context: &Context) -> CommandOutcome {
    let step = step.map_err(refused::problem)?;
    print(&step, context);
    Ok(match step.outcome {
        StepOutcome::Prompt(_) | StepOutcome::Ended | StepOutcome::LimitsRestarted(_) => ExitCode::Done,
        StepOutcome::GatesFailed(_) | StepOutcome::NoTransition { .. } => ExitCode::No,
        StepOutcome::Interrupt { .. } => ExitCode::Interrupt,
    })
}

fn print(step: &Step, context: &Context) {
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
            if step.has_moved {
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
        StepOutcome::LimitsRestarted(rules) => {
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
            let claims: Vec<String> = claimed.iter().map(|claim| format!("`{claim}`")).collect();
            let why = match claims.len() {
                0 => "without a claim, no transition applies".to_owned(),
                1 => format!("the claim {} leads to no other node", claims.join("")),
                _ => format!("the claims {} lead to no other node", claims.join(", ")),
            };
            output.line(format!("Still at `{node}`: {why}."));
            output.line(match leading_claims.as_slice() {
                [] => "No single claim leads to another node now.".to_owned(),
                claims => format!("These would: {}", claims.join(", ")),
            });
        }
    }
}

fn as_json(step: &Step) -> Value {
    let Step { workflow, node, has_moved, outcome, .. } = step;
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
        StepOutcome::LimitsRestarted(rules) => {
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
    let fields =
        json!({ "workflow": workflow, "node": node, "moved": has_moved, "interrupt": interrupt, "prompt": prompt });
    let fields = fields.as_object().cloned().unwrap_or_default();
    Value::Object(fields.into_iter().chain(more).collect())
}
