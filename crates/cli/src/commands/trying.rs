//! `try`: the verdict that an agent would get now. People and agents may both ask, and nothing is recorded.

use agents::Agent;
use engine::{EventKind, Finding, Level, NotEnforced, Verdict};
use guard::grants::OBSERVING;
use guard::replay::{AttemptedAct, DryRun};
use guard::session::{CommandRun, SessionOwner, project_of_command};
use serde_json::{Value, json};
use store::{SessionKey, Store};

use super::Context;
use super::install::agent_named;
use crate::arguments::TryArguments;
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

/// Tools of Claude Code's that are about a file, and what they call it.
const FILE_TOOLS: [(&str, &str); 5] = [
    ("Read", "file_path"),
    ("Write", "file_path"),
    ("Edit", "file_path"),
    ("MultiEdit", "file_path"),
    ("NotebookEdit", "notebook_path"),
];

pub fn run(arguments: &TryArguments, context: &Context) -> CommandOutcome {
    let environment = &context.environment;
    let project = project_of_command(environment);
    let now = super::now();
    let store = super::log::open(&project, context).ok();
    let heard = store.as_ref().and_then(|store| session(store, now, context));
    let agent = match &arguments.agent {
        Some(name) => agent_named(name)?,
        None => heard.as_ref().and_then(|heard| Agent::from_name(&heard.agent)).unwrap_or(Agent::Claude),
    };
    let session = heard.filter(|heard| heard.agent == agent.name()).map(|heard| heard.session).unwrap_or_default();
    let (attempt, kind) = if let Some(call) = attempt(arguments, context)? {
        (call, EventKind::BeforeTool)
    } else {
        let key = SessionKey { agent: agent.name(), session: &session };
        let held_before = store.is_some_and(|store| store.is_held(key).unwrap_or_default());
        (AttemptedAct::Stop { held_before }, EventKind::Stop)
    };
    let cwd = &environment.cwd;
    let dry_run = DryRun { agent, session: &session, root: &project.root, cwd, attempt, now };
    let verdict = dry_run.verdict(environment);
    let mut notices = verdict.notices.clone();
    if !project.has_policy() {
        notices.push("there is no policy here, so every event is allowed: `linchpin init` writes one".to_owned());
    }
    let (level, _) = agents::outcome(agent, kind, &verdict);
    let told = Verdict { level, ..verdict.as_enforced().into_owned() };
    // Without what lifts it: who asks is to hear what the rules say.
    let said = Verdict { not_enforced: None, ..verdict.clone() };
    let rules = rules(&said);
    let (_, mut reason) = agents::outcome(agent, kind, &said);
    if let Some(lifted) = verdict.not_enforced {
        reason = format!("{}\n\n{reason}", why_lifted(lifted));
    }
    if context.output.json {
        context
            .output
            .value(&json!({ "verdict": told.level.name(), "rules": rules, "reason": reason, "notices": notices }));
    } else {
        show(&told, &rules, &reason, &notices, context);
    }
    Ok(if told.asks_or_blocks() { ExitCode::No } else { ExitCode::Done })
}

/// The session that this runs in, or the one that was heard of last.
fn session(store: &Store, now: i64, context: &Context) -> Option<SessionOwner> {
    let command = CommandRun { words: &["try"], session: None, environment: &context.environment, now };
    command.session(store).ok().flatten()
}

/// The call that is tried; `None` for a stop.
fn attempt(arguments: &TryArguments, context: &Context) -> Result<Option<AttemptedAct>, Problem> {
    if let Some(command) = &arguments.command {
        return Ok(Some(AttemptedAct::Call { tool: "Bash".to_owned(), input: json!({ "command": command }) }));
    }
    let Some(tool) = arguments.tool.clone() else { return Ok(None) };
    if tool == "Bash" {
        return Err(Problem::new("Usage", "what the shell would run is missing").help("`linchpin try 'COMMAND'`"));
    }
    let key = FILE_TOOLS.iter().find(|(name, _)| *name == tool).map(|(_, key)| *key);
    if key.is_some() && arguments.path.is_none() {
        let message = format!("`{tool}` is about a file, and none is named");
        return Err(Problem::new("Usage", message).help(format!("`linchpin try --tool {tool} --path PATH`")));
    }
    let path = arguments.path.as_ref().map(|path| context.environment.cwd.join(path));
    let input: serde_json::Map<String, Value> =
        path.into_iter().map(|path| (key.unwrap_or("path").to_owned(), json!(path.to_string_lossy()))).collect();
    Ok(Some(AttemptedAct::Call { tool, input: Value::Object(input) }))
}

/// The rules that speak; of an approval, those that give it.
fn rules(verdict: &Verdict) -> Vec<String> {
    let is_meant = |finding: &&Finding| finding.level > Level::Allow || verdict.approved;
    let mut rules: Vec<String> = Vec::new();
    for finding in verdict.findings.iter().filter(is_meant) {
        // Two policies may have found the same rule.
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule.clone());
        }
    }
    rules
}

fn why_lifted(lifted: NotEnforced) -> String {
    match lifted {
        NotEnforced::Observe => format!("Let through, because of {OBSERVING}. Else:"),
        NotEnforced::Paused => "Let through, because a person paused the guard. Else:".to_owned(),
        NotEnforced::Allowed { refusal } => {
            format!("Let through, because a person allowed this call (`linchpin allow {refusal}`). Else:")
        }
    }
}

fn show(told: &Verdict, rules: &[String], reason: &str, notices: &[String], context: &Context) {
    let output = &context.output;
    let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    let by = match names.as_slice() {
        [] if told.level == Level::Allow => ": no rule objects".to_owned(),
        // Why it is let through all the same is the first thing that the reason says.
        _ if told.level == Level::Allow && !told.approved => String::new(),
        [] => String::new(),
        [rule] => format!(", by rule {rule}"),
        _ => format!(", by rules {}", names.join(", ")),
    };
    output.line(format!("{}{by}", output.level(told.level)));
    if !reason.is_empty() {
        output.blank();
        output.line(reason);
    }
    for notice in notices {
        output.blank();
        output.line(format!("note: {notice}"));
    }
}
