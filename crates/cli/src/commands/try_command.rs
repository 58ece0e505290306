//! `try`: the verdict that an agent would get now. People and agents may use it, and nothing is recorded.

use agents::Agent;
use agents::attempt::{self, ToolSubject};
use engine::{EventKind, Finding, Level, NotEnforced, Verdict};
use guard::grants::OBSERVE_NOTICE;
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
    let session = heard.filter(|heard| heard.agent == agent.name()).map(|heard| heard.id).unwrap_or_default();
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
        notices.push("there is no policy here, so every event is allowed: run `linchpin init` to write one".to_owned());
    }
    let (level, _) = agents::effective_level_and_reasons(agent, kind, &verdict);
    let told = Verdict { level, ..verdict.as_enforced().into_owned() };
    // As if enforced, because the caller wants to know what the rules say.
    let said = Verdict { not_enforced: None, ..verdict.clone() };
    let rules = rules(&said);
    let (_, mut reason) = agents::effective_level_and_reasons(agent, kind, &said);
    if let Some(not_enforced) = verdict.not_enforced {
        reason = format!("{}\n\n{reason}", why_not_enforced(not_enforced));
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

/// Returns the session that this command runs in, or else the latest one.
fn session(store: &Store, now: i64, context: &Context) -> Option<SessionOwner> {
    let command = CommandRun { words: &["try"], session: None, environment: &context.environment, now };
    command.target_session(store).ok().flatten()
}

/// Returns the call to try, in the agent's format; none for a stop.
fn attempted_call(arguments: &TryArguments, agent: Agent, context: &Context) -> Result<Option<AttemptedAct>, Problem> {
    if let Some(command) = &arguments.command {
        let tool = attempt::shell_tool(agent).to_owned();
        return Ok(Some(AttemptedAct::Call { tool, input: json!({ "command": command }) }));
    }
    let Some(tool) = arguments.tool.clone() else { return Ok(None) };
    let path = arguments.path.as_ref().map(|path| context.environment.cwd.join(path));
    let input = match (attempt::subject(agent, &tool), path) {
        (ToolSubject::Command, _) => {
            return Err(Problem::new("Usage", "the shell command is missing").help("write `linchpin try 'COMMAND'`"));
        }
        (ToolSubject::File, None) => {
            let message = format!("`{tool}` needs a file");
            return Err(Problem::new("Usage", message).help(format!("`linchpin try --tool {tool} --path PATH`")));
        }
        (ToolSubject::Other, Some(_)) => {
            let names: Vec<String> = attempt::file_tools(agent).iter().map(|name| format!("`{name}`")).collect();
            let message = format!("{} has no tool `{tool}` that takes a path", agent.title());
            let help = format!("it has {}; write `mcp__SERVER__TOOL` for a tool of an MCP server", names.join(", "));
            return Err(Problem::new("Usage", message).help(help));
        }
        (ToolSubject::File | ToolSubject::Folder | ToolSubject::Mcp, Some(path)) => {
            attempt::input_with_path(agent, &tool, &path.to_string_lossy(), path.exists())
        }
        (ToolSubject::Folder | ToolSubject::Mcp | ToolSubject::Other, None) => json!({}),
    };
    Ok(Some(AttemptedAct::Call { tool, input }))
}

/// Returns the rules that object; for an approval, those that approve.
fn rules(verdict: &Verdict) -> Vec<String> {
    let is_meant = |finding: &&Finding| finding.level > Level::Allow || verdict.approved;
    let mut rules: Vec<String> = Vec::new();
    for finding in verdict.findings.iter().filter(is_meant) {
        // Two policies may contain the same rule.
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule.clone());
        }
    }
    rules
}

fn why_not_enforced(reason: NotEnforced) -> String {
    match reason {
        NotEnforced::Observe => format!("Allowed, because of {OBSERVE_NOTICE}. Otherwise:"),
        NotEnforced::Paused => "Allowed, because a person paused Linchpin. Otherwise:".to_owned(),
        NotEnforced::Allowed { refusal } => {
            format!("Allowed, because a person allowed this call (`linchpin allow {refusal}`). Otherwise:")
        }
    }
}

fn show(told: &Verdict, rules: &[String], reason: &str, notices: &[String], context: &Context) {
    let output = &context.output;
    let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    let by = match names.as_slice() {
        [] if told.level == Level::Allow => ": no rule matched".to_owned(),
        // The reason begins with why the verdict is not enforced.
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
