//! `cargo xtask e2e`: tests with real agents whether a refusal really stops the call. The agents run headless, with a
//! scripted model and with Linchpin's hooks.
//!
//! Nothing is sent over the network except to install the clients from the npm registry. The home directory of the user
//! who runs this task is not touched.

mod agent_kind;
mod clients;
mod loop_run;
mod model;
mod opencode_2;
mod scenarios;
mod workspace;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use agent_kind::AgentKind;
use clients::Clients;
use model::Model;
use scenarios::{SCENARIOS, Scenario};
use workspace::Workspace;

pub fn run(arguments: Vec<String>) -> Result<()> {
    let options = Options::parse(arguments)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
    let directory = root.join("target/e2e");
    let Some(clients) = Clients::install_in(&directory.join("clients"))? else {
        println!("e2e: skipped, because npm, which installs the agents, is not available");
        return Ok(());
    };
    let linchpin = match options.binary {
        Some(binary) => std::path::absolute(binary)?,
        None => build(root)?,
    };
    let mut failures = 0;
    if options.name_filter.as_ref().is_none_or(|name| loop_run::NAME.contains(name.as_str())) {
        let start = Instant::now();
        match loop_run::play(&clients, &linchpin, &directory) {
            Ok(()) => println!("ok      codex, {} ({:.1} s)", loop_run::NAME, start.elapsed().as_secs_f32()),
            Err(error) => {
                failures += 1;
                println!("FAILED  codex, {}: {error:#}", loop_run::NAME);
            }
        }
    }
    for scenario in SCENARIOS {
        if options.name_filter.as_ref().is_some_and(|name| !scenario.name.contains(name.as_str())) {
            continue;
        }
        for client in scenario.clients {
            let name = format!("{}, {}", client.name(), scenario.name);
            failures += run_test(&name, || play_scenario(scenario, *client, &clients, &linchpin, &directory));
        }
    }
    if options.name_filter.as_ref().is_none_or(|name| OPENCODE_2_TEST.contains(name.as_str())) {
        failures += run_test(OPENCODE_2_TEST, || opencode_2::play(&linchpin, &directory));
    }
    if failures > 0 {
        bail!("{failures} scenarios failed; the clients' output is in {}", directory.join("runs").display());
    }
    Ok(())
}

const OPENCODE_2_TEST: &str = "opencode 2, a stand-in for its host";

/// Runs one test, prints the result, and returns the number of failures: 0 or 1.
fn run_test(name: &str, play: impl FnOnce() -> Result<()>) -> usize {
    let start = Instant::now();
    match play() {
        Ok(()) => {
            println!("ok      {name} ({:.1} s)", start.elapsed().as_secs_f32());
            0
        }
        Err(error) => {
            println!("FAILED  {name}: {error:#}");
            1
        }
    }
}

#[derive(Default)]
struct Options {
    /// The path of the binary to test. If none, the binary is built from this workspace.
    binary: Option<PathBuf>,
    /// If set, only scenarios whose name contains this text are run.
    name_filter: Option<String>,
}

impl Options {
    fn parse(arguments: Vec<String>) -> Result<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            if argument == "--bin" {
                options.binary = Some(arguments.next().context("`--bin` needs a path")?.into());
            } else if argument.starts_with('-') {
                bail!("unknown option `{argument}`");
            } else {
                options.name_filter = Some(argument);
            }
        }
        Ok(options)
    }
}

/// Builds the release binary and returns its path.
pub fn build(root: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(&cargo).args(["build", "--release", "--bin", "linchpin"]).current_dir(root).status()?;
    ensure!(status.success(), "`cargo build --release` failed");
    let metadata =
        Command::new(cargo).args(["metadata", "--format-version=1", "--no-deps"]).current_dir(root).output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let target = metadata.get("target_directory").and_then(serde_json::Value::as_str).context("no target directory")?;
    Ok(Path::new(target).join("release").join(format!("linchpin{}", std::env::consts::EXE_SUFFIX)))
}

fn play_scenario(
    scenario: &Scenario,
    client: AgentKind,
    clients: &Clients,
    linchpin: &Path,
    directory: &Path,
) -> Result<()> {
    let run = directory.join("runs").join(format!("{}-{}", client.name(), scenario.name.replace(' ', "-")));
    let workspace = Workspace::create(&run, linchpin)?;
    for (rule, text) in scenario.rules {
        workspace.write_rule(rule, text)?;
    }
    workspace.install(client)?;
    let model = Model::start((scenario.script)(), workspace.project())?;
    clients.run(client, &workspace, model.port())?;
    let conversation = model.stop();
    workspace.write_artifact("conversation.jsonl", &conversation.requests.join("\n"))?;

    for file in scenario.created {
        ensure!(workspace.has(file), "`{file}` was not created, so the call did not run");
    }
    for file in scenario.not_created {
        ensure!(!workspace.has(file), "`{file}` was created, so the call ran");
    }
    for text in scenario.received {
        ensure!(conversation.has_received(text), "the model never received `{text}`");
    }
    for (rule, text) in scenario.rules {
        ensure!(workspace.rule(rule)? == *text, "`{rule}` was changed");
    }
    for arguments in scenario.person_commands {
        workspace.as_person(arguments)?;
    }
    let turns = conversation.turns();
    ensure!(turns == scenario.turns, "the model had {turns} turns, not {}", scenario.turns);
    Ok(())
}
