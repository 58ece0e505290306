//! `status`: what is in force, and where the session stands.

use std::collections::BTreeMap;

use guard::{Environment, Project, session_policy};
use serde_json::{Value, json};
use store::{Filter, SessionKey, SessionState, Store};

use super::Context;
use super::validate::counted;
use crate::arguments::Status;
use crate::exit_code::ExitCode;
use crate::problem::{Outcome, Problem};

pub fn run(arguments: &Status, context: &Context) -> Outcome {
    let project = Project::of_person(&context.environment);
    let compiled = project.compiled(&context.environment);
    let rules = if project.has_policy() {
        compiled.rules.all().map_err(|error| Problem::new("Unreadable", error.to_string()))?
    } else {
        Vec::new()
    };
    let store = super::log::open(&project, context).ok();
    let session = store.as_ref().and_then(|store| which(arguments, &context.environment, store));
    let state = session
        .as_ref()
        .zip(store.as_ref())
        .and_then(|((agent, session), store)| store.session(SessionKey { agent, session }).ok());
    let holds = state.as_ref().map(holds).unwrap_or_default();
    let kept = session
        .as_ref()
        .map_or_else(Vec::new, |(agent, session)| session_policy::kept(&project, agent, session, &context.environment));
    if context.output.json {
        let in_force: Vec<Value> = rules
            .iter()
            .map(|rule| json!({ "rule": rule.id, "tier": rule.tier.name(), "action": rule.action.name(), "source": rule.source }))
            .collect();
        let (agent, id) = session.unzip();
        context.output.value(&json!({
            "workflow": null,
            "root": project.root,
            "session": {
                "agent": agent,
                "id": id,
                "rules": in_force,
                "queue": {},
                "acknowledgements": [],
                "holds": holds,
                "kept": kept.iter().map(|change| &change.rule).collect::<Vec<_>>(),
                "variables": state.map(|state| state.variables).unwrap_or_default(),
                "broken": compiled.broken.iter().map(|file| &file.problem).collect::<Vec<_>>(),
            },
        }));
        return Ok(ExitCode::Done);
    }
    let output = &context.output;
    output.line(format!("{} {}", output.bold("Project"), project.root.display()));
    match &session {
        Some((agent, id)) => output.line(format!("{} {agent} {id}", output.bold("Session"))),
        None => output.line(format!("{} none yet", output.bold("Session"))),
    }
    if !project.has_policy() {
        output.line(format!("{} none: there is no policy, so every event is allowed", output.bold("Rules  ")));
        return Ok(ExitCode::Done);
    }
    output.line(format!("{} {} in force", output.bold("Rules  "), counted(rules.len(), "rule")));
    for rule in &rules {
        output.line(format!("  {:<28} {:<6} {}", rule.id, rule.action.name(), rule.tier.name()));
    }
    for change in &kept {
        let (rule, what) = (&change.rule, change.what());
        output.line(format!(
            "{} {rule} {what}, and counts for this session until `linchpin trust`",
            output.bold("Kept   ")
        ));
    }
    for (rule, count) in &holds {
        output.line(format!("{} {rule} held this session's stop {}", output.bold("Holds  "), counted(*count, "time")));
    }
    for file in &compiled.broken {
        output.line(format!("{} {}: {}", output.bold("Broken "), file.consequence(), file.problem));
    }
    Ok(ExitCode::Done)
}

/// The session that was asked for, the one this command runs in, or the one that was heard of last.
fn which(arguments: &Status, environment: &Environment, store: &Store) -> Option<(String, String)> {
    let running = agents::environment::session(|name| environment.get(name));
    let filter = match (&arguments.session, running) {
        (None, Some((agent, session))) => return Some((agent.name().to_owned(), session)),
        (session, _) => Filter { session: session.clone(), limit: 1, ..Filter::default() },
    };
    let entry = store.entries(&filter).ok()?.pop()?;
    Some((entry.agent, entry.session))
}

fn holds(state: &SessionState) -> BTreeMap<String, usize> {
    let holds = state.counters.iter().filter_map(|(name, count)| {
        let rule = guard::held_rule(name)?;
        Some((rule.to_owned(), usize::try_from(*count).ok().filter(|count| *count > 0)?))
    });
    holds.collect()
}
