//! `emit`: an agent hands the work over.

use guard::loops::{Emission, EmitRefused};
use guard::workflow::FailedGate;
use serde_json::{Value, json};

use crate::arguments::EmitArguments;
use crate::commands::Context;
use crate::commands::work::{Mover, refused};
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

/// What is longer belongs into a file.
const LONGEST: usize = 64 * 1024;

pub fn run(arguments: &EmitArguments, context: &Context) -> CommandOutcome {
    let mover = Mover::of("emit", context);
    let stage = super::stage(&mover.project, context)?;
    let (summary, payload) = parts(arguments)?;
    let emission = Emission { topic: &arguments.topic, summary, payload };
    match mover.moves(context).emit(&stage, emission) {
        Ok(()) => {
            let text = format!("`{}` is accepted. Stop now: what comes next is another iteration's.", arguments.topic);
            context.output.line_or(text, &json!({ "accepted": true, "topic": arguments.topic }));
            Ok(ExitCode::Done)
        }
        Err(EmitRefused::GatesFailed { topic, failed_gates }) => {
            held(&format!("`{topic}` is not accepted yet: what has to hold for it does not."), &failed_gates, context);
            Ok(ExitCode::No)
        }
        Err(refused) => Err(problem(refused)),
    }
}

/// What does not hold, for whoever has to mend it.
pub fn held(message: &str, failed_gates: &[FailedGate], context: &Context) {
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

/// An object where a summary would be is no summary.
fn parts(arguments: &EmitArguments) -> Result<(&str, Option<&str>), Problem> {
    let is_object = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
    let (summary, payload) = match &arguments.payload {
        None if is_object(&arguments.summary) => ("", Some(arguments.summary.as_str())),
        payload => (arguments.summary.as_str(), payload.as_deref()),
    };
    if payload.is_some_and(|payload| !is_object(payload)) {
        return Err(Problem::new("InvalidValue", "what comes after the summary is no JSON object")
            .help("put the summary into quotes, or give one object: '{\"files\": 3}'")
            .refused());
    }
    let length = summary.len() + payload.map_or(0, str::len);
    if length > LONGEST {
        let message = format!("{length} bytes are more than the {LONGEST} that may be handed over");
        return Err(Problem::new("InvalidValue", message).help("write it into a file, and name that").refused());
    }
    Ok((summary, payload))
}

fn problem(why: EmitRefused) -> Problem {
    let message = why.to_string();
    match why {
        EmitRefused::NotItsTopic { close, known, .. } => {
            let known = known.iter().map(|topic| format!("`{topic}`")).collect::<Vec<_>>().join(", ");
            let known =
                if known.is_empty() { "it publishes nothing".to_owned() } else { format!("it publishes {known}") };
            let help = close.map_or(known, |close| engine::suggest::did_you_mean(&close));
            Problem::new("NotItsTopic", message).help(help).refused()
        }
        EmitRefused::Already(_) => Problem::new("HandedOver", message).help("stop now").refused(),
        EmitRefused::Over => Problem::new("Over", message).refused(),
        EmitRefused::TooEarly { .. } => Problem::new("TooEarly", message)
            .help("publish what leads there; the loop says what has to come first")
            .refused(),
        EmitRefused::Interrupted { .. } => Problem::new("Interrupted", message).refused(),
        EmitRefused::GatesFailed { .. } => Problem::new("Held", message).refused(),
        EmitRefused::Work(error) => error.into(),
        EmitRefused::WorkflowError(refusal) => refused::problem(refusal),
    }
}
