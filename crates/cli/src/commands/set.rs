//! `set`: a variable gets a new value, by hand.

use std::time::Duration;

use engine::expr::check_variable_name;
use engine::suggest;
use engine::workflow::Workflow;
use guard::workflow::Position;
use guard::{CommandRun, Project, Whose};
use policy::{Config, Tiers};
use serde_json::{Map, Value, json};
use store::{Changes, Note, NoteKind, PERSON, SessionKey, Store};

use super::Context;
use crate::arguments::Set;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{Outcome, Problem};

/// How often it is tried to come after what others do to the workflow.
const TRIES: usize = 10;

const ONE_VALUE: &str = "`linchpin set` gives one value; an observer can change a list or a mapping";

/// Whose the variable is.
enum Owner {
    Workflow(String),
    Session(Whose),
}

pub fn run(arguments: &Set, context: &Context) -> Outcome {
    let Set { name, value, session } = arguments;
    let project = Project::of_command(&context.environment);
    let policy = project.looked_at(&context.environment);
    let has_journal = project.store(&context.environment).exists();
    let store = has_journal.then(|| super::log::open(&project, context)).transpose()?;
    let command = CommandRun {
        words: &["set", name],
        session: session.as_deref(),
        environment: &context.environment,
        now: super::now(),
    };
    let is_marked = person::required("set", &context.environment).is_err();
    let is_agents = is_marked || store.as_ref().map(|store| command.agent(store)).transpose()?.flatten().is_some();
    if is_agents {
        agents_may(name, &policy.config, &project)?;
    }
    check_variable_name(name).map_err(|why| Problem::new("InvalidValue", why))?;
    let workflow = store.as_ref().and_then(|store| active(store, &project, &policy, context));
    let is_of_workflow = workflow.as_ref().is_some_and(|workflow| workflow.variables.contains_key(name));
    if !is_of_workflow && !is_known(name, &policy.config, workflow.as_ref()) {
        return Err(undeclared(name, &policy.config, workflow.as_ref()));
    }
    let value = policy::scalar(value).map_err(|why| {
        Problem::new("InvalidValue", why)
            .help("give `true`, `false`, `null`, a number or a text; quotes make anything a text")
    })?;
    let of_workflow = workflow.as_ref().and_then(|workflow| workflow.variables.get(name));
    let of_workflow = of_workflow.and_then(|json| serde_json::from_str(json).ok());
    if let Some(declared) = of_workflow.or_else(|| policy.config.variable(name)) {
        check_kind(name, &value, &declared)?;
    }
    let owner = match workflow.filter(|_| is_of_workflow) {
        Some(workflow) => Owner::Workflow(workflow.name),
        None => Owner::Session(whose(&command, store.as_ref(), session.as_deref())?),
    };
    drop(store);
    note(name, &value, &owner, is_agents, &project, context)?;
    let (place, told) = match &owner {
        Owner::Workflow(workflow) => {
            (format!("workflow `{workflow}`"), json!({ "workflow": workflow, "set": name, "value": value }))
        }
        Owner::Session(Whose { agent, session }) => (
            format!("session {session} of {agent}"),
            json!({ "agent": agent, "session": session, "set": name, "value": value }),
        ),
    };
    context.output.line_or(format!("Set `{name}` to {value} in {place}."), &told);
    Ok(ExitCode::Done)
}

/// A text such as "no" is true in a condition, so it cannot stand in for `false`. A variable that is declared as a text or as
/// null takes every kind.
fn check_kind(name: &str, value: &Value, declared: &Value) -> Result<(), Problem> {
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
        _ => format!("the text {value}"),
    };
    let message = format!("`{name}` is declared as {kind}, and {given} is not; nothing was set");
    Err(Problem::new("InvalidValue", message).help(help))
}

/// An agent sets variables where `agent_may` says so; the user's own, where the user's own policy says so.
fn agents_may(name: &str, config: &Config, project: &Project) -> Result<(), Problem> {
    let may = |config: &Config| config.agent_may.iter().any(|verb| verb == "set");
    let users = Tiers { project: None, user: project.tiers.user.clone() };
    let users = policy::load(&users, &policy::Before::default(), |_| false).config;
    let (message, file) = if !may(config) {
        ("`linchpin set` is not among the commands that agents may run here".to_owned(), "config.yml")
    } else if users.knows_variable(name) && !may(&users) {
        let message = format!("`{name}` is a variable of the user's own policy, which lets no agent set it");
        (message, "the user's own config.yml")
    } else {
        return Ok(());
    };
    let help = format!("a person can do it; `agent_may: [set, …]` in {file} lets agents do it too");
    Err(Problem::new("NotAPerson", message).help(help))
}

/// The workflow that is active.
fn active(store: &Store, project: &Project, policy: &policy::Compiled, context: &Context) -> Option<Workflow> {
    let position = Position::of(&store.workflow().ok()?.variables)?;
    Some(project.workflow(&position.workflow, policy, false, &context.environment)?.workflow)
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
    let declare = format!("declare it in `.linchpin/config.yml`: `variables: {{{name}: false}}`");
    let help = match (suggest::closest(name, known.iter().copied()), known.as_slice()) {
        (Some(close), _) => suggest::did_you_mean(close),
        (None, []) => format!("none is declared; {declare}"),
        (None, known) => format!("these are declared: {}; {declare}", known.join(", ")),
    };
    Problem::new("NotFound", format!("no variable `{name}` is declared")).help(help)
}

fn whose(command: &CommandRun, store: Option<&Store>, named: Option<&str>) -> Result<Whose, Problem> {
    let found = store.map(|store| command.session(store)).transpose()?.flatten();
    found.ok_or_else(|| match named {
        Some(session) => Problem::new("NotFound", format!("the journal knows no session `{session}`"))
            .help("`linchpin log --json` names the sessions"),
        None => Problem::new("NotFound", "no session was heard of yet").help("it begins with an agent's first event"),
    })
}

fn note(
    name: &str,
    value: &Value,
    owner: &Owner,
    is_agents: bool,
    project: &Project,
    context: &Context,
) -> Result<(), Problem> {
    let change = [(name.to_owned(), Some(value.clone()))].into();
    let (session, changes, workflow) = match owner {
        Owner::Workflow(workflow) => (PERSON, Changes { workflow: change, ..Changes::default() }, Some(workflow)),
        Owner::Session(Whose { agent, session }) => {
            (SessionKey { agent, session }, Changes { variables: change, ..Changes::default() }, None)
        }
    };
    let by = if is_agents { "agent" } else { "person" };
    let fields = [("name", Some(json!(name))), ("value", Some(value.clone())), ("by", Some(json!(by)))];
    let fields = fields.into_iter().chain([("workflow", workflow.map(|workflow| json!(workflow)))]);
    let fields: Map<String, Value> = fields.filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    let written = Note {
        kind: NoteKind::Set,
        session,
        time: super::now(),
        root: &project.root.to_string_lossy(),
        cwd: &context.environment.cwd.to_string_lossy(),
        fields: &fields,
        changes: &changes,
    };
    match workflow {
        None => super::note(&written, project, context),
        Some(workflow) => note_on_workflow(&written, workflow, project, context),
    }
}

/// Others may move the workflow at the same time; what they did is read anew, and this comes after it.
fn note_on_workflow(note: &Note<'_>, workflow: &str, project: &Project, context: &Context) -> Result<(), Problem> {
    let options = store::Options { busy: Duration::from_secs(5), now: note.time, run: None };
    let mut store = Store::open(&project.store(&context.environment), options)?;
    for _ in 0..TRIES {
        let state = store.workflow()?;
        if Position::of(&state.variables).is_none_or(|position| position.workflow != workflow) {
            break;
        }
        if store.note_on_workflow(note, &state)?.is_some() {
            return Ok(());
        }
    }
    Err(Problem::new("Moved", format!("the workflow `{workflow}` was moved at the same time"))
        .help("nothing was set; `linchpin status` shows where it stands"))
}
