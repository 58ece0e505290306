//! The agents' own command-line clients, from the npm registry, at known versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::agent_kind::AgentKind;
use super::workspace::Workspace;

const PACKAGES: [&str; 5] = [
    "@anthropic-ai/claude-code@2.1.197",
    "@openai/codex@0.166.0",
    "@google/gemini-cli@0.61.0",
    "@github/copilot@1.0.102",
    "opencode-ai@1.18.33",
];

/// The maximum duration of a client's run. A normal run takes some seconds.
const TIMEOUT: Duration = Duration::from_mins(3);

pub(super) struct Clients {
    programs: PathBuf,
}

impl Clients {
    /// Installs the clients in a directory, unless they are installed there already. `None` if npm is not available.
    pub fn install_in(directory: &Path) -> Result<Option<Self>> {
        let installed_versions = directory.join("installed.txt");
        let required_versions = PACKAGES.join("\n");
        let clients = Self { programs: directory.join("node_modules/.bin") };
        if fs::read_to_string(&installed_versions).is_ok_and(|installed| installed == required_versions) {
            return Ok(Some(clients));
        }
        if Command::new("npm").arg("--version").stdout(Stdio::null()).status().is_err() {
            return Ok(None);
        }
        fs::create_dir_all(directory)?;
        let status = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix"])
            .arg(directory)
            .args(PACKAGES)
            .status()?;
        ensure!(status.success(), "npm could not install {}", PACKAGES.join(" and "));
        fs::write(installed_versions, required_versions)?;
        Ok(Some(clients))
    }

    pub fn program(&self, client: AgentKind) -> PathBuf {
        self.programs.join(client.name())
    }

    /// Configures Codex to use the scripted model. `command` is Codex, or a program that starts Codex.
    pub fn prepare_codex(command: &mut Command, workspace: &Workspace, port: u16) -> Result<()> {
        let home = workspace.home().join(".codex");
        fs::create_dir_all(&home)?;
        fs::write(home.join("config.toml"), codex_config(port))?;
        command.env("SCRIPTED_MODEL_KEY", "none");
        Ok(())
    }

    /// Runs the client headless with one prompt, until it ends. Its output is written to `client.log`.
    pub fn run(&self, client: AgentKind, workspace: &Workspace, port: u16) -> Result<()> {
        let mut command = workspace.command(self.program(client));
        let settings = |file: &str, text: String| {
            let file = workspace.home().join(file);
            fs::create_dir_all(file.parent().unwrap_or(&file))?;
            fs::write(file, text)
        };
        match client {
            AgentKind::Claude => command
                .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"))
                .env("ANTHROPIC_API_KEY", "none")
                .env("DISABLE_TELEMETRY", "1")
                .env("DISABLE_AUTOUPDATER", "1")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                .args(["-p", "Do it.", "--allowedTools", "Bash,Write,TaskCreate"])
                .args(["--setting-sources", "project,local"]),
            AgentKind::Codex => {
                Self::prepare_codex(&mut command, workspace, port)?;
                command
                    .args(["exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"])
                    .arg("Do it.")
            }
            AgentKind::Gemini => {
                let auth = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
                settings(".gemini/settings.json", auth.to_string())?;
                command
                    .env("GEMINI_API_KEY", "none")
                    .env("GOOGLE_GEMINI_BASE_URL", format!("http://127.0.0.1:{port}"))
                    .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
                    // With a model name, the client makes no request to choose a model.
                    .args(["-m", "gemini-2.5-flash", "--yolo", "-p", "Do it."])
            }
            AgentKind::Copilot => {
                let trusted = json!({ "trusted_folders": [workspace.project()] });
                settings(".copilot/config.json", trusted.to_string())?;
                command
                    .env("COPILOT_PROVIDER_BASE_URL", format!("http://127.0.0.1:{port}"))
                    .env("COPILOT_PROVIDER_TYPE", "anthropic")
                    .env("COPILOT_PROVIDER_API_KEY", "none")
                    .env("COPILOT_MODEL", "claude-sonnet-4")
                    .env("COPILOT_OFFLINE", "true")
                    // The cache is kept between runs, because Copilot unpacks itself into it, and that takes long.
                    .env("XDG_CACHE_HOME", self.programs.with_file_name("cache"))
                    .args(["-p", "Do it.", "--allow-all-tools"])
            }
            AgentKind::OpenCode => {
                settings(".config/opencode/opencode.json", opencode_config(port).to_string())?;
                command
                    .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
                    .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                    .env("XDG_CACHE_HOME", self.programs.with_file_name("cache"))
                    .args(["run", "Do it."])
            }
        };
        let log = workspace.log("client.log")?;
        let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn();
        let status = wait(child.with_context(|| format!("cannot start {}", client.name()))?)?;
        ensure!(status.success(), "{} ended with {status}", client.name());
        Ok(())
    }
}

fn codex_config(port: u16) -> String {
    format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_MODEL_KEY\"\n"
    )
}

fn opencode_config(port: u16) -> Value {
    let model = json!({ "name": "scripted", "tool_call": true, "limit": { "context": 100_000, "output": 8_000 } });
    json!({
        "model": "scripted/model",
        "small_model": "scripted/model",
        "permission": "allow",
        "provider": { "scripted": {
            "npm": "@ai-sdk/anthropic",
            "name": "scripted",
            "options": { "baseURL": format!("http://127.0.0.1:{port}/v1"), "apiKey": "none" },
            "models": { "model": model },
        } },
    })
}

fn wait(mut child: Child) -> Result<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < TIMEOUT {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    bail!("the client did not end within {} s", TIMEOUT.as_secs())
}
