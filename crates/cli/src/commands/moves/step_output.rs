//! Prints a step of a workflow: where the workflow is now, and why it did not move.

use engine::pace::Violation;
use guard::workflow::{FailedGate, Step, StepOutcome, WorkflowError};
use serde_json::{Map, Value, json};

use super::refused;
use crate::commands::Context;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::CommandOutcome;

/// Prints the step, and returns its exit code.
pub fn print_step(step: Result<Step, WorkflowError>, context: &Context) -> CommandOutcome {
    let step = step.map_err(refused::problem)?;
    print(&step, context);
    Ok(exit_code(&step))
}

pub fn exit_code(step: &Step) -> ExitCode {
    match step.outcome {
        StepOutcome::Prompt(_) | StepOutcome::Ended | StepOutcome::LimitsRestarted(_) => ExitCode::Done,
        StepOutcome::GatesFailed(_) | StepOutcome::NoTransition { .. } => ExitCode::No,
        StepOutcome::PaceInterrupt { .. } => ExitCode::Interrupt,
    }
}

pub fn print(step: &Step, context: &Context) {
    let output = &context.output;
    if output.json {
        output.value(&to_json(step));
        return;
    }
    for notice in &step.notices {
        output.line(notice);
    }
    for text in &step.texts {
        output.line(text.trim_end());
        output.blank();
    }
    let Step { workflow_name: workflow, node, .. } = step;
    match &step.outcome {
        StepOutcome::Prompt(prompt) => {
            output.line(prompt.trim_end());
            if step.has_moved {
                output.aside(format!("now at `{node}` of `{workflow}`"));
            }
        }
        StepOutcome::PaceInterrupt { text, rule, .. } => {
            output.line(text);
            let may_force = person::agent_marker(&context.environment).is_none();
            let ways_on = if may_force {
                format!(". `linchpin continue` starts its count again; `linchpin next --force {rule}` skips it once")
            } else {
                String::new()
            };
            output.aside(format!("still at `{node}`: pace rule `{rule}` has fired{ways_on}"));
        }
        StepOutcome::Ended => output.line(format!("Workflow `{workflow}` is {node}. No workflow is active now.")),
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

fn to_json(step: &Step) -> Value {
    let Step { workflow_name: workflow, node, has_moved, outcome, .. } = step;
    let (mut interrupt, mut prompt) = (Value::Null, Value::Null);
    let mut more = Map::new();
    for (name, lines) in [("texts", &step.texts), ("notices", &step.notices)] {
        if !lines.is_empty() {
            more.insert(name.to_owned(), json!(lines));
        }
    }
    match outcome {
        StepOutcome::Prompt(text) => prompt = json!(text),
        StepOutcome::PaceInterrupt { rule, text, violation } => {
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
