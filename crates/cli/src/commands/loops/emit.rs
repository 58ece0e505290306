//! `emit`: an agent publishes a topic, and so hands its work over to the next hat.

use guard::loops::{Emission, EmitRefused};
use guard::workflow::FailedGate;
use serde_json::{Value, json};

use crate::arguments::EmitArguments;
use crate::commands::Context;
use crate::commands::caller::{Caller, Verb};
use crate::commands::moves::refused;
use crate::exit_code::ExitCode;
use crate::plural::code_list;
use crate::problem::{CommandOutcome, Problem};

/// The maximum length of summary and payload together. Longer texts belong in a file.
const MAX_BYTES: usize = 64 * 1024;

pub fn run(arguments: &EmitArguments, context: &Context) -> CommandOutcome {
    let caller = Caller::of(Verb::Emit, context);
    let hat_phase = super::require_hat_phase(&caller.project, context)?;
    let (summary, payload) = summary_and_payload(arguments)?;
    let emission = Emission { topic: &arguments.topic, summary, payload };
    match caller.workflow_commands(context).emit(&hat_phase, emission) {
        Ok(()) => {
            let next = if arguments.topic == hat_phase.completion.topic {
                "the run is complete"
            } else {
                "the next iteration continues the work"
            };
            let text = format!("`{}` is accepted. Stop now: {next}.", arguments.topic);
            context.output.line_or(text, &json!({ "accepted": true, "topic": arguments.topic }));
            Ok(ExitCode::Done)
        }
        Err(EmitRefused::GatesFailed { topic, failed_gates }) => {
            print_failed_gates(&format!("`{topic}` was refused: its gates are not met."), &failed_gates, context);
            if !context.output.json {
                let command = format!("linchpin emit {topic} \"<summary>\"");
                context.output.blank();
                context.output.line(format!("Once they are met, run `{command}` again."));
            }
            Ok(ExitCode::No)
        }
        Err(refused) => Err(problem(refused)),
    }
}

/// Prints gates that are not met, and why.
pub fn print_failed_gates(message: &str, failed_gates: &[FailedGate], context: &Context) {
    let output = &context.output;
    if output.json {
        let failed_gates: Vec<Value> = failed_gates
            .iter()
            .map(|failed_gate| json!({ "gate": failed_gate.gate, "why": failed_gate.why }))
            .collect();
        output.value(&json!({ "accepted": false, "lacks": failed_gates }));
        return;
    }
    output.line(message);
    for FailedGate { gate, why, .. } in failed_gates {
        output.blank();
        output.line(format!("- {gate}: {why}"));
    }
}

/// Returns the summary and the payload. A JSON object in the place of the summary is the payload.
fn summary_and_payload(arguments: &EmitArguments) -> Result<(&str, Option<&str>), Problem> {
    let is_object = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
    let (summary, payload) = match &arguments.payload {
        None if is_object(&arguments.summary) => ("", Some(arguments.summary.as_str())),
        payload => (arguments.summary.as_str(), payload.as_deref()),
    };
    if payload.is_some_and(|payload| !is_object(payload)) {
        return Err(Problem::new("InvalidValue", "the text after the summary is not a JSON object")
            .help("put the summary into quotes, or give one JSON object: '{\"files\": 3}'")
            .refused());
    }
    let length = summary.len() + payload.map_or(0, str::len);
    if length > MAX_BYTES {
        let message = format!("the summary has {length} bytes; the limit is {MAX_BYTES}");
        return Err(Problem::new("InvalidValue", message)
            .help("write the text into a file, and name the file in the summary")
            .refused());
    }
    Ok((summary, payload))
}

fn problem(why: EmitRefused) -> Problem {
    let message = why.to_string();
    match why {
        EmitRefused::NotItsTopic { close, known, .. } => {
            let topics = match known.as_slice() {
                [] => "the hat publishes no topics".to_owned(),
                known => format!("topics of the hat: {}", code_list(known)),
            };
            let help = close.map_or(topics, |close| engine::suggest::did_you_mean(&close));
            Problem::new("NotItsTopic", message).help(help).refused()
        }
        EmitRefused::Already(_) => Problem::new("HandedOver", message).help("stop now").refused(),
        EmitRefused::Over => Problem::new("Over", message).help("stop now").refused(),
        EmitRefused::TooEarly { missing, .. } => {
            let missing = missing.iter().map(|topic| format!("`{topic}`")).collect::<Vec<_>>().join(" and ");
            Problem::new("TooEarly", message)
                .help(format!(
                    "first publish {missing}; if another hat publishes it, publish a topic that triggers that hat; \
                     `linchpin hats list` shows each hat's topics"
                ))
                .refused()
        }
        EmitRefused::Interrupted { .. } => Problem::new("Interrupted", message).refused(),
        EmitRefused::GatesFailed { .. } => Problem::new("Held", message).refused(),
        EmitRefused::Work(error) => error.into(),
        EmitRefused::WorkflowError(refusal) => refused::problem(refusal),
    }
}
