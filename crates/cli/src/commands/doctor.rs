//! `doctor`: what is installed, what is in force, and what would make it ineffective.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use agents::install::{self as settings, Accepted, Installed, Scope};
use agents::{Agent, Forged};
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
    let found: Vec<(Agent, Vec<Check>)> =
        Agent::ALL.into_iter().map(|agent| (agent, checks_of(agent, project, context))).collect();
    let at_work: Vec<Agent> = found.iter().filter(|(_, checks)| !checks.is_empty()).map(|(agent, _)| *agent).collect();
    let mut checks: Vec<Check> = found.into_iter().flat_map(|(_, checks)| checks).collect();
    checks.extend(calling_twice(&at_work));
    if at_work.is_empty() {
        let help = "`linchpin install AGENT`, or `linchpin init` for those that are found";
        checks.push(Check::bad("no agent calls Linchpin for this project", help));
    }
    checks
}

/// Nothing where the agent does not call Linchpin.
fn checks_of(agent: Agent, project: &Project, context: &Context) -> Vec<Check> {
    let mut checks = Vec::new();
    // A switch in one file turns off the hooks in another.
    let mut elsewhere = Vec::new();
    let mut places = 0;
    for scope in Scope::ALL {
        let Ok(file) = install::settings_file(agent, scope, &project.root, &context.environment) else { continue };
        let Ok(Some(text)) = install::read(&file) else { continue };
        match settings::installed(agent, &text) {
            Ok(found) if found.entries.is_empty() => {
                let change = format!("change it in {}", file.display());
                elsewhere.extend(
                    found.switches.iter().map(|switch| (format!("{}: {switch}", agent.title()), change.clone())),
                );
            }
            Ok(found) => {
                places += 1;
                checks.extend(settings_checks(agent, scope, &file, &found));
                checks.extend(forged_event_check(agent, &found, project));
                checks.extend(acceptance_check(agent, &file, project, context));
            }
            Err(error) => elsewhere.push((
                format!("{}: {}:{error}", agent.title(), file.display()),
                "the agent may not read its hooks from this file; mend it".to_owned(),
            )),
        }
    }
    if places > 0 {
        checks.extend(elsewhere.into_iter().map(|(text, help)| Check::bad(text, help)));
    }
    if places > 1 {
        checks.push(Check::note(format!(
            "{}: hooks in {places} places, so it may call Linchpin that often for each event",
            agent.title()
        )));
    }
    checks
}

/// Agents that read Claude Code's settings besides their own.
fn calling_twice(at_work: &[Agent]) -> Vec<Check> {
    let reads = |agent: &&Agent| matches!(agent, Agent::Copilot | Agent::Cursor);
    let readers = at_work.iter().filter(reads).filter(|_| at_work.contains(&Agent::Claude));
    let text = |agent: &Agent| {
        format!("{}: it reads Claude Code's settings too, so it may call Linchpin twice for each event", agent.title())
    };
    readers.map(|agent| Check::note(text(agent))).collect()
}

/// Whether the agent runs hooks that somebody put there, as far as its own files tell.
fn acceptance_check(agent: Agent, hooks: &Path, project: &Project, context: &Context) -> Option<Check> {
    let home = context.environment.home.clone().unwrap_or_else(|| project.root.clone());
    let acceptance = settings::acceptance(agent, &home, |name| context.environment.get(name))?;
    let text = std::fs::read_to_string(&acceptance.file).unwrap_or_default();
    let (title, place) = (agent.title(), acceptance.file.display());
    Some(match acceptance.look(&text, hooks, &project.root) {
        Accepted::Yes => Check::fine(format!("{title}: the hooks, or their folder, are named in {place}")),
        Accepted::NotSeen(demand) => Check::note(format!("{title}: {demand}, and {place} names neither")),
        Accepted::Off => Check::bad(format!("{title}: hooks are switched off"), format!("change it in {place}")),
    })
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
    let cwd = project.root.to_string_lossy();
    let forged = Forged { session: guard::TRIAL_SESSION, cwd: &cwd, command: FORGED_COMMAND };
    let (named, event) = forged.payload(agent);
    let title = agent.title();
    let answer = match call(program, agent, named, &event, project) {
        Ok(answer) => answer,
        Err(error) => {
            return Some(Check::bad(
                format!("{title}: `{program}` cannot be run from here: {error}"),
                format!("the agent runs every call unguarded; run `linchpin install {}` again", agent.name()),
            ));
        }
    };
    Some(if agents::is_refusal(&answer) {
        Check::fine(format!("{title}: a forged `{FORGED_COMMAND}` was refused"))
    } else {
        Check::bad(
            format!("{title}: a forged `{FORGED_COMMAND}` was not refused; the hook answered {answer}"),
            format!("is `{program}` this Linchpin?"),
        )
    })
}

fn call(program: &str, agent: Agent, named: Option<&str>, event: &Value, project: &Project) -> std::io::Result<Value> {
    let mut command = Command::new(program);
    command.args(["hook", agent.name()]).args(named).current_dir(&project.root);
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
