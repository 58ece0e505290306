//! `try`: the verdict that an agent would get now. People and agents may both ask, and nothing is recorded.

use agents::Agent;
use agents::attempt::{self, ToolSubject};
use engine::{EventKind, Finding, Level, NotEnforced, Verdict};
use guard::grants::OBSERVING;
use guard::replay::{AttemptedAct, DryRun};
use guard::session::{CommandRun, SessionOwner, project_of_command};
use serde_json::json;
use store::{SessionKey, Store};

use super::Context;
use super::install::agent_named;
use crate::arguments::TryArguments;
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

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
    let (attempt, kind) = if let Some(call) = attempted_call(arguments, agent, context)? {
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

/// The call that is tried, as the agent would make it; `None` for a stop.
fn attempted_call(arguments: &TryArguments, agent: Agent, context: &Context) -> Result<Option<AttemptedAct>, Problem> {
    if let Some(command) = &arguments.command {
        let tool = attempt::shell_tool(agent).to_owned();
        return Ok(Some(AttemptedAct::Call { tool, input: json!({ "command": command }) }));
    }
    let Some(tool) = arguments.tool.clone() else { return Ok(None) };
    let path = arguments.path.as_ref().map(|path| context.environment.cwd.join(path));
    let input = match (attempt::subject(agent, &tool), path) {
        (ToolSubject::Command, _) => {
            return Err(Problem::new("Usage", "what the shell would run is missing").help("`linchpin try 'COMMAND'`"));
        }
        (ToolSubject::File, None) => {
            let message = format!("`{tool}` is about a file, and none is named");
            return Err(Problem::new("Usage", message).help(format!("`linchpin try --tool {tool} --path PATH`")));
        }
        (ToolSubject::Other, Some(_)) => {
            let names: Vec<String> = attempt::file_tools(agent).iter().map(|name| format!("`{name}`")).collect();
            let message = format!("{} has no tool `{tool}` that is called with a path", agent.title());
            let help = format!("it has {}; `mcp__SERVER__TOOL` is one of an MCP server", names.join(", "));
            return Err(Problem::new("Usage", message).help(help));
        }
        (ToolSubject::File | ToolSubject::Folder | ToolSubject::Mcp, Some(path)) => {
            attempt::input_with_path(agent, &tool, &path.to_string_lossy(), path.exists())
        }
        (ToolSubject::Folder | ToolSubject::Mcp | ToolSubject::Other, None) => json!({}),
    };
    Ok(Some(AttemptedAct::Call { tool, input }))
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
