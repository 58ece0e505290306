//! A run of the loop with the real Codex: two hats, a gate that is closed at first, and an agent that tries to stop too
//! early.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::agent_kind::AgentKind;
use super::clients::Clients;
use super::model::{Model, Step};
use super::workspace::Workspace;

pub(super) const NAME: &str = "run of the loop";

const LOOP: &str = "completion: {requires: [built], after: [build.done]}
limits: {iterations: 4}
gates: {built: {command: [test, -f, built.txt]}}
topics: {build.done: {requires: [built]}}
hats:
  builder: {triggers: [task.start], publishes: [build.done]}
  reviewer: {triggers: [build.done], publishes: [loop.complete], writes: [docs/**]}
";

/// Every hat's agent first says that it is done. When its stop is held, it does the hat's work. The builder first
/// publishes its topic too early and is refused; the reviewer tries to write outside of its allowed paths.
fn script() -> Vec<Step> {
    vec![
        Step::say("I am done."),
        Step::shell(
            "if test \"$LINCHPIN_HAT\" = builder; then linchpin emit build.done early; touch built.txt; \
             linchpin emit build.done 'Built it.'; fi",
        ),
        Step::shell("if test \"$LINCHPIN_HAT\" = reviewer; then touch reviewed.txt; fi"),
        Step::shell("if test \"$LINCHPIN_HAT\" = reviewer; then linchpin emit loop.complete 'Good.'; fi"),
        Step::say("Done."),
    ]
}

pub(super) fn play(clients: &Clients, linchpin: &Path, directory: &Path) -> Result<()> {
    let workspace = Workspace::create(&directory.join("runs/codex-loop"), linchpin)?;
    workspace.install(AgentKind::Codex)?;
    let model = Model::start(script(), workspace.project())?;
    let codex = clients.program(AgentKind::Codex);
    let agent = format!(
        "agent: {{command: [{:?}, exec, --dangerously-bypass-approvals-and-sandbox, --dangerously-bypass-hook-trust, '-']}}\n",
        codex.display().to_string()
    );
    fs::write(workspace.project().join(".linchpin/loop.yml"), agent + LOOP)?;
    workspace.as_person(&["hats", "validate"])?;
    workspace.as_person(&["trust", "--yes"])?;
    let mut command = workspace.command(linchpin);
    Clients::prepare_codex(&mut command, &workspace, model.port())?;
    let output = command.args(["run", "-p", "Build it"]).output().context("the run cannot be started")?;
    let conversation = model.stop();
    workspace.write_artifact("conversation.jsonl", &conversation.requests.join("\n"))?;
    let output_text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    workspace.write_artifact("run.log", &output_text)?;
    ensure!(output.status.success(), "the run ended with {}: {output_text}", output.status);
    for text in [
        "You are builder.",
        "You are reviewer.",
        "You have not handed over your work yet.",
        "was refused: its gates are not met.",
        "`build.done` is accepted.",
        "The hat `reviewer` may only write docs/**.",
    ] {
        ensure!(conversation.has_received(text), "the model never received `{text}`");
    }
    ensure!(!workspace.has("reviewed.txt"), "the reviewer wrote outside of its allowed paths");
    let run_details = workspace.command(linchpin).args(["runs", "show", "--json"]).output()?;
    let run_details: serde_json::Value = serde_json::from_slice(&run_details.stdout)?;
    let field = |name: &str| run_details.get(name).cloned().unwrap_or_default();
    ensure!(field("state") == "completed" && field("iterations_done") == 2, "the run ended as {run_details}");
    ensure!(field("tokens").as_i64().is_some_and(|tokens| tokens > 0), "no tokens were counted: {run_details}");
    Ok(())
}
