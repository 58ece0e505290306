//! `demo`: plays a recorded session in a scratch repository, with real hook calls.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use engine::Level;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Context;
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

const CONFIG: &str = include_str!("init/config.yml");
const RULES: &[(&str, &str)] = &[
    ("keep-commit-hooks", include_str!("init/keep-commit-hooks.md")),
    ("tests-before-stop", include_str!("demo/tests-before-stop.md")),
    ("generated-files", include_str!("demo/generated-files.md")),
];
const SESSION: &str = include_str!("demo/session.jsonl");

#[derive(Deserialize)]
struct Step {
    title: String,
    /// The agent's action, in one line.
    shown: String,
    payload: Value,
}

pub fn run(context: &Context) -> CommandOutcome {
    let scratch = tempfile::Builder::new().prefix("linchpin-demo-").tempdir()?;
    let base = scratch.path().canonicalize()?;
    let root = base.join("project");
    prepare(&root)?;
    if !context.output.json {
        context.output.line(format!("A scratch repository with {} project rules and the bundled rules.", RULES.len()));
        context.output.line("Each step of a recorded Claude Code session goes through `linchpin hook claude`.");
    }
    let mut steps = Vec::new();
    for line in SESSION.lines() {
        let step: Step = serde_json::from_str(&line.replace("$ROOT", &root.to_string_lossy()))
            .map_err(|error| Problem::new("Internal", format!("the recorded session is broken: {error}")))?;
        let answer = play(&step.payload, &root, &base)?;
        if context.output.json {
            steps.push(json!({ "step": step.title, "payload": step.payload, "answer": answer }));
        } else {
            show(&step, &answer, context);
        }
    }
    if context.output.json {
        context.output.value(&json!({ "steps": steps }));
    } else {
        context.output.blank();
        context.output.line(
            "`linchpin init` sets this up in your repository. There, `linchpin explain last` shows how a verdict was reached.",
        );
    }
    Ok(ExitCode::Done)
}

fn prepare(root: &Path) -> Result<(), Problem> {
    let rules = root.join(".linchpin/rules");
    fs::create_dir_all(&rules)?;
    fs::write(root.join(".linchpin/config.yml"), CONFIG)?;
    for (id, text) in RULES {
        fs::write(rules.join(format!("{id}.md")), text)?;
    }
    let status =
        Command::new("git").args(["init", "--quiet", "--initial-branch=main"]).arg(root).stdin(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Problem::new("NotFound", "the scratch repository needs `git`, which cannot be run")),
    }
}

/// Runs the hook and returns its answer.
fn play(payload: &Value, root: &Path, base: &Path) -> Result<Value, Problem> {
    let mut hook = Command::new(std::env::current_exe()?);
    hook.args(["hook", "claude"]).current_dir(root);
    // The user's own policy and state must have no effect.
    for (variable, directory) in [("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")] {
        hook.env(variable, base.join(directory));
    }
    for variable in agents::environment::agent_variables() {
        hook.env_remove(variable);
    }
    hook.env("CLAUDE_PROJECT_DIR", root).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = hook.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(payload.to_string().as_bytes())?;
    }
    let answer = child.wait_with_output()?;
    if !answer.status.success() {
        let why = String::from_utf8_lossy(&answer.stderr).into_owned();
        return Err(Problem::new("Internal", format!("the hook failed: {why}")));
    }
    if answer.stdout.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&answer.stdout)
        .map_err(|error| Problem::new("Internal", format!("the hook's answer is not JSON: {error}")))
}

fn show(step: &Step, answer: &Value, context: &Context) {
    let output = &context.output;
    output.blank();
    output.line(output.bold(&step.title));
    output.line(output.dim(&format!("  {}", step.shown)));
    let field = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
    let (level, reason) = match (field("/hookSpecificOutput/permissionDecision"), field("/decision")) {
        (Some("deny"), _) => (Level::Block, field("/hookSpecificOutput/permissionDecisionReason")),
        (Some("ask"), _) => (Level::Ask, field("/hookSpecificOutput/permissionDecisionReason")),
        (_, Some("block")) => (Level::Block, field("/reason")),
        _ => (Level::Allow, field("/hookSpecificOutput/additionalContext").or(field("/systemMessage"))),
    };
    let level = if level == Level::Allow && reason.is_some() { Level::Warn } else { level };
    output.line(format!("  {}", output.level(level)));
    for line in reason.unwrap_or_default().lines() {
        output.line(format!("    {line}"));
    }
}
