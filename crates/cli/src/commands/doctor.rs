//! `doctor`: what is installed, what is in force, and what would make it ineffective.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use agents::Agent;
use agents::install::{self as settings, Installed, Scope};
use guard::trust::{Trust, workflow_notice};
use guard::{Pause, Project, lifting};
use policy::{Diagnostic, ErrorKind, Mode, Severity};
use serde_json::{Value, json};
use store::{Store, StoreError};

use super::validate::counted;
use super::{Context, install};
use crate::exit_code::ExitCode;
use crate::problem::Outcome;

/// One thing that was looked at.
struct Check {
    state: State,
    text: String,
    help: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Fine,
    /// Worth knowing, nothing is ineffective.
    Note,
    /// The guard, or a part of it, is off.
    Bad,
}

impl Check {
    fn fine(text: impl Into<String>) -> Self {
        Self { state: State::Fine, text: text.into(), help: None }
    }

    fn note(text: impl Into<String>) -> Self {
        Self { state: State::Note, ..Self::fine(text) }
    }

    fn bad(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { state: State::Bad, text: text.into(), help: Some(help.into()) }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every command has this shape")]
pub fn run(context: &Context) -> Outcome {
    let project = Project::of_sessions(&context.environment);
    let mut checks = policy_checks(&project, context);
    checks.extend(state_check(context));
    checks.push(journal_check(&project, context));
    checks.extend(agent_checks(&project, context));
    let is_bad = checks.iter().any(|check| check.state == State::Bad);
    report(&project, &checks, context);
    Ok(if is_bad { ExitCode::No } else { ExitCode::Done })
}

fn policy_checks(project: &Project, context: &Context) -> Vec<Check> {
    if !project.has_policy() {
        let help = "`linchpin init` writes one";
        return vec![Check::bad("no policy: every event is allowed", help)];
    }
    let compiled = project.looked_at(&context.environment);
    let rules = compiled.rules.all().unwrap_or_default();
    let mut checks = vec![Check::fine(format!("{} in force", counted(rules.len(), "rule")))];
    for file in &compiled.broken {
        let text = format!("broken, {}: {}", file.consequence(), file.problem);
        checks.push(Check::bad(text, "`linchpin validate` shows every error"));
    }
    checks.extend(compiled.untrusted.iter().map(Check::note));
    let loaded = project.load(&context.environment);
    let trust = Trust::of(&project.root, &context.environment);
    let workflows = policy::workflows(&project.tiers, &loaded).files.into_iter().filter_map(|file| file.workflow);
    let waiting = workflows.filter(|workflow| !trust.accepts_workflow(workflow));
    checks.extend(waiting.map(|workflow| Check::note(workflow_notice(&workflow))));
    let is_doubt =
        |problem: &&Diagnostic| problem.severity == Severity::Warning && problem.kind != ErrorKind::Untrusted;
    let mut doubts = loaded.diagnostics.iter().filter(is_doubt);
    if let Some(first) = doubts.next() {
        let rest = doubts.count();
        let more = if rest > 0 { format!(" (and {})", counted(rest, "more warning")) } else { String::new() };
        let place = &first.source.name;
        checks.push(Check::note(format!("{place}: {}{more}; `linchpin validate` shows it", first.message)));
    }
    if compiled.config.mode == Mode::Observe {
        checks.push(Check::bad(lifting::OBSERVING, "`mode: enforce` in the configuration ends it"));
    }
    if let Some(pause) = Pause::of(&project.root, &context.environment, super::now()) {
        checks.push(Check::bad(lifting::paused(&pause, super::now()), "`linchpin resume` ends it"));
    }
    checks
}

/// What Linchpin keeps for the user has to be kept somewhere: without it no session is held to its rules.
fn state_check(context: &Context) -> Option<Check> {
    let folder = &context.environment.state;
    let tried = policy::create_private_folder(folder).and_then(|()| tempfile::NamedTempFile::new_in(folder).map(drop));
    let error = tried.err()?;
    let text = format!("nothing can be kept in {}: {error}", folder.display());
    Some(Check::bad(
        text,
        "until it can be written, no grant can be made, and a rule that is taken away is gone at once",
    ))
}

fn journal_check(project: &Project, context: &Context) -> Check {
    let path = project.store(&context.environment);
    let options = store::Options { busy: std::time::Duration::from_secs(1), now: super::now(), run: None };
    match Store::open_existing_read(&path, options) {
        Ok(_) => Check::fine(format!("journal at {}", path.display())),
        Err(StoreError::Missing { .. }) => Check::note("no journal yet: it begins with the first event"),
        Err(error) => Check::bad(error.to_string(), "rules that need stored state are skipped until it can be used"),
    }
}

fn agent_checks(project: &Project, context: &Context) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut any = false;
    for agent in Agent::ALL {
        for scope in Scope::ALL {
            let Ok(file) = install::settings_file(agent, scope, &project.root, &context.environment) else { continue };
            let Ok(Some(text)) = install::read(&file) else { continue };
            match settings::installed(agent, &text) {
                Ok(found) if found.entries.is_empty() => {}
                Ok(found) => {
                    any = true;
                    checks.extend(settings_checks(agent, scope, &file, &found));
                    checks.extend(forged_event_check(agent, &found, project));
                    if agent == Agent::Codex {
                        checks.push(Check::note("Codex CLI: whether you accepted the hooks, only its /hooks tells"));
                    }
                }
                Err(error) => checks.push(Check::bad(
                    format!("{}: {}:{error}", agent.title(), file.display()),
                    "the agent may not read its hooks from this file; mend it",
                )),
            }
        }
    }
    if !any {
        let help = "`linchpin install claude` or `linchpin install codex`";
        checks.push(Check::bad("no agent calls Linchpin for this project", help));
    }
    checks
}

fn settings_checks(agent: Agent, scope: Scope, file: &Path, found: &Installed) -> Vec<Check> {
    let title = agent.title();
    let again = format!("run `linchpin install {}{}` again", agent.name(), flag(scope));
    let mut checks = vec![Check::fine(format!("{title}: hooks in {}", file.display()))];
    if !found.missing.is_empty() {
        checks.push(Check::bad(format!("{title}: no hook for {}", found.missing.join(", ")), again));
    }
    for problem in &found.problems {
        checks.push(Check::bad(format!("{title}: {problem}"), format!("change it in {}", file.display())));
    }
    checks
}

fn flag(scope: Scope) -> &'static str {
    match scope {
        Scope::Project => "",
        Scope::Local => " --local",
        Scope::User => " --user",
    }
}

/// A locked rule refuses this, whatever else the policy says.
const FORGED_COMMAND: &str = "linchpin trust";

/// Calls what the settings call, as the agent would, and sees whether it refuses what it must.
fn forged_event_check(agent: Agent, found: &Installed, project: &Project) -> Option<Check> {
    if !project.has_policy() {
        return None;
    }
    let program = &found.entries.first()?.program;
    let event = json!({
        "session_id": guard::TRIAL_SESSION,
        "turn_id": "linchpin-doctor",
        "cwd": project.root,
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": FORGED_COMMAND },
        "tool_use_id": "linchpin-doctor",
    });
    let title = agent.title();
    let answer = match call(program, agent, &event, project) {
        Ok(answer) => answer,
        Err(error) => {
            return Some(Check::bad(
                format!("{title}: `{program}` cannot be run from here: {error}"),
                format!("the agent runs every call unguarded; run `linchpin install {}` again", agent.name()),
            ));
        }
    };
    let decision = answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
    let refused = decision == Some("deny");
    Some(if refused {
        Check::fine(format!("{title}: a forged `{FORGED_COMMAND}` was refused"))
    } else {
        Check::bad(
            format!("{title}: a forged `{FORGED_COMMAND}` was not refused; the hook answered {answer}"),
            format!("is `{program}` this Linchpin?"),
        )
    })
}

fn call(program: &str, agent: Agent, event: &Value, project: &Project) -> std::io::Result<Value> {
    let mut command = Command::new(program);
    command.args(["hook", agent.name()]).current_dir(&project.root);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(event.to_string().as_bytes())?;
    }
    let answer = child.wait_with_output()?;
    Ok(serde_json::from_slice(&answer.stdout).unwrap_or(Value::Null))
}

fn report(project: &Project, checks: &[Check], context: &Context) {
    let output = &context.output;
    let name = |state: State| match state {
        State::Fine => "ok",
        State::Note => "note",
        State::Bad => "bad",
    };
    if output.json {
        let listed: Vec<Value> = checks
            .iter()
            .map(|check| json!({ "state": name(check.state), "message": check.text, "help": check.help }))
            .collect();
        output.value(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "root": project.root,
            "effective": checks.iter().all(|check| check.state != State::Bad),
            "checks": listed,
        }));
        return;
    }
    output.line(format!("Linchpin {}, project {}", env!("CARGO_PKG_VERSION"), project.root.display()));
    output.blank();
    for check in checks {
        output.line(format!("{:<5} {}", name(check.state), check.text));
        if let Some(help) = &check.help {
            output.line(output.dim(&format!("      {help}")));
        }
    }
}
