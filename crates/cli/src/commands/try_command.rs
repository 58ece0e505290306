//! `try`: shows the verdict that an agent would get now. People and agents may use it, and nothing is recorded.

use agents::Agent;
use agents::attempt::{self, ToolSubject};
use engine::{EventKind, Finding, Level, NotEnforced, Verdict};
use guard::grants::{OBSERVE_NOTICE, SWITCHED_OFF_NOTICE};
use guard::replay::{AttemptedAct, DryRun};
use guard::session::{AgentSession, CommandRun, policy as session_policy, project_of_command};
use serde_json::json;
use store::{SessionKey, Store};

use super::install::agent_named;
use super::{Context, journal};
use crate::arguments::TryArguments;
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &TryArguments, context: &Context) -> CommandOutcome {
    let environment = &context.environment;
    let project = project_of_command(environment);
    let now = super::now();
    let store = journal::open(&project, context).ok();
    let known_session = store.as_ref().and_then(|store| session(store, now, context));
    let agent = match &arguments.agent {
        Some(name) => agent_named(name)?,
        None => known_session.as_ref().and_then(|known| Agent::from_name(&known.agent)).unwrap_or(Agent::Claude),
    };
    let session = known_session.filter(|known| known.agent == agent.name()).map(|known| known.id).unwrap_or_default();
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
    let policy = project.compiled_policy_read_only(environment);
    let is_told = notices.iter().any(|notice| notice == SWITCHED_OFF_NOTICE);
    let keeps_rules = || {
        let kept =
            session_policy::weakenings_ignored_by_session(&project, &policy, agent.name(), &session, environment);
        !kept.is_empty()
    };
    if !is_told && project.has_policy() && !policy.config.enabled && !keeps_rules() {
        notices.push(SWITCHED_OFF_NOTICE.to_owned());
    }
    let (level, _) = agents::effective_level_and_reasons(agent, kind, &verdict);
    let shown = Verdict { level, ..verdict.as_enforced().into_owned() };
    // Even if the verdict is not enforced, shows the rules and reasons that it has, because the caller wants to know
    // them.
    let if_enforced = Verdict { not_enforced: None, ..verdict.clone() };
    let rules = rules(&if_enforced);
    let (_, mut reason) = agents::effective_level_and_reasons(agent, kind, &if_enforced);
    if let Some(not_enforced) = verdict.not_enforced {
        reason = format!("{}\n\n{reason}", why_not_enforced(not_enforced));
    }
    if context.output.json {
        context
            .output
            .value(&json!({ "verdict": shown.level.name(), "rules": rules, "reason": reason, "notices": notices }));
    } else {
        let combined = if_enforced.findings.iter().filter(|finding| finding.is_combined);
        // A combined finding belongs to several rules, which its reason names.
        let combined: Vec<&str> = combined.map(|finding| finding.rule.as_str()).collect();
        let named: Vec<String> = rules.into_iter().filter(|rule| !combined.contains(&rule.as_str())).collect();
        show(&shown, &named, &reason, &notices, context);
    }
    Ok(if shown.asks_or_blocks() { ExitCode::No } else { ExitCode::Done })
}

/// Returns the session that this command runs in, or else the latest one.
fn session(store: &Store, now: i64, context: &Context) -> Option<AgentSession> {
    let command = CommandRun { words: &["try"], session: None, environment: &context.environment, now };
    command.target_session(store).ok().flatten()
}

/// Returns the tool call to try, in the agent's format; `None` if the arguments name no tool call, but a stop.
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
        (ToolSubject::File | ToolSubject::Directory | ToolSubject::Mcp, Some(path)) => {
            attempt::input_with_path(agent, &tool, &path.to_string_lossy(), path.exists())
        }
        (ToolSubject::Directory | ToolSubject::Mcp | ToolSubject::Other, None) => json!({}),
    };
    Ok(Some(AttemptedAct::Call { tool, input }))
}

/// Returns the rules that warn, ask or block. If the verdict approves the call, returns the rules that approve it.
fn rules(verdict: &Verdict) -> Vec<String> {
    let is_relevant = |finding: &&Finding| finding.level > Level::Allow || verdict.approved;
    let mut rules: Vec<String> = Vec::new();
    for finding in verdict.findings.iter().filter(is_relevant) {
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

fn show(verdict: &Verdict, rules: &[String], reason: &str, notices: &[String], context: &Context) {
    let output = &context.output;
    let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    let by = match names.as_slice() {
        [] if verdict.level == Level::Allow => ": no rule matched".to_owned(),
        // The verdict is not enforced. The reason below explains why, so the rules are not listed in this line.
        _ if verdict.level == Level::Allow && !verdict.approved => String::new(),
        [] => String::new(),
        [rule] => format!(", by rule {rule}"),
        _ => format!(", by rules {}", names.join(", ")),
    };
    output.line(format!("{}{by}", output.level(verdict.level)));
    if !reason.is_empty() {
        output.blank();
        output.line(reason);
    }
    for notice in notices {
        output.blank();
        output.line(format!("note: {notice}"));
    }
}
