//! `set`: a person or an agent sets a variable.

use engine::expr::check_variable_name;
use engine::suggest;
use engine::workflow::Workflow;
use guard::session::AgentSession;
use guard::workflow::VariableOwner;
use policy::Config;
use serde_json::{Value, json};

use super::refused;
use crate::arguments::SetArguments;
use crate::commands::Context;
use crate::commands::caller::{Caller, Verb};
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

const ONE_VALUE: &str = "`linchpin set` takes a single value; an observer can change a list or a mapping";

pub fn set(arguments: &SetArguments, context: &Context) -> CommandOutcome {
    let SetArguments { name, value, session } = arguments;
    let caller = Caller::with_session(Verb::Set, &[name], session.as_deref(), context)?;
    let (commands, config) = (caller.workflow_commands(context), &caller.policy.config);
    let workflow = commands.active_workflow().map_err(refused::problem)?;
    let declaring = workflow.as_ref().filter(|workflow| workflow.variables.contains_key(name));
    commands.require_permission_to_set(name, declaring).map_err(refused::problem)?;
    check_variable_name(name).map_err(|why| Problem::new("InvalidValue", why))?;
    if declaring.is_none() && !is_known(name, config, workflow.as_ref()) {
        return Err(undeclared(name, config, workflow.as_ref()));
    }
    let value = policy::parse_scalar(value).map_err(|why| {
        Problem::new("InvalidValue", why)
            .help("give `true`, `false`, `null`, a number or a string; quotes make any value a string")
    })?;
    if let Some(declared) =
        declaring.map_or_else(|| config.initial_value(name), |workflow| workflow.initial_value(name))
    {
        check_type(name, &value, &declared)?;
    }
    let owner = match (declaring, &caller.session) {
        (Some(workflow), _) => VariableOwner::Workflow(workflow.name.clone()),
        (None, Some(session)) => VariableOwner::Session(session.clone()),
        (None, None) if caller.is_by_agent => {
            let problem = Problem::new(
                "NotFound",
                format!("`{name}` is a variable of a session, and the session that runs this command is unknown"),
            );
            return Err(problem.help("add your own session as `--session ID`, or ask a person to run the command"));
        }
        (None, None) => {
            let problem = Problem::new("NotFound", "the journal has no session yet");
            return Err(problem.help("an agent's first event starts one"));
        }
    };
    commands.set(name, &value, &owner).map_err(refused::problem)?;
    let (place, json) = match &owner {
        VariableOwner::Workflow(workflow) => {
            (format!("workflow `{workflow}`"), json!({ "workflow": workflow, "set": name, "value": value }))
        }
        VariableOwner::Session(AgentSession { agent, id }) => {
            (format!("session {id} of {agent}"), json!({ "agent": agent, "session": id, "set": name, "value": value }))
        }
    };
    context.output.line_or(format!("Set `{name}` to {value} in {place}."), &json);
    Ok(ExitCode::Done)
}

/// Checks the type of a value. A string such as "no" is true in a condition, so it must not replace `false`. A variable
/// that is declared as a string or null accepts every type.
fn check_type(name: &str, value: &Value, declared: &Value) -> Result<(), Problem> {
    let (kind, help) = match declared {
        Value::Bool(_) if !value.is_boolean() => {
            ("`true` or `false`", format!("give `true` or `false`: `linchpin set {name} true`"))
        }
        Value::Number(_) if !value.is_number() => {
            ("a number", format!("give a number: `linchpin set {name} {declared}`"))
        }
        Value::Array(_) => ("a list", ONE_VALUE.to_owned()),
        Value::Object(_) => ("a mapping", ONE_VALUE.to_owned()),
        _ => return Ok(()),
    };
    let given = match value {
        Value::Null | Value::Bool(_) => format!("`{value}`"),
        Value::Number(_) => format!("the number {value}"),
        _ => format!("the string {value}"),
    };
    let message = format!("`{name}` is declared as {kind}, and {given} is not; nothing was set");
    Err(Problem::new("InvalidValue", message).help(help))
}

fn is_known(name: &str, config: &Config, workflow: Option<&Workflow>) -> bool {
    let mut observers = workflow.into_iter().flat_map(|workflow| &workflow.observers);
    config.knows_variable(name) || observers.any(|observer| observer.variables().contains(&name))
}

fn undeclared(name: &str, config: &Config, workflow: Option<&Workflow>) -> Problem {
    let of_workflow = workflow.into_iter().flat_map(|workflow| workflow.variables.keys().map(String::as_str));
    let observers = config.observers.iter().chain(workflow.into_iter().flat_map(|workflow| &workflow.observers));
    let set = observers.flat_map(|observer| observer.variables());
    let mut known: Vec<&str> = config.variable_names().chain(of_workflow).chain(set).collect();
    known.sort_unstable();
    known.dedup();
    let place =
        if workflow.is_some() { "the active workflow or `.linchpin/config.yml`" } else { "`.linchpin/config.yml`" };
    let declare = format!("declare it in {place}: `variables: {{{name}: false}}`");
    let help = match (suggest::closest(name, known.iter().copied()), known.as_slice()) {
        (Some(close), _) => suggest::did_you_mean(close),
        (None, []) => format!("none is declared; {declare}"),
        (None, known) => format!("the declared variables are {}; {declare}", known.join(", ")),
    };
    Problem::new("NotFound", format!("variable `{name}` is not declared")).help(help)
}
