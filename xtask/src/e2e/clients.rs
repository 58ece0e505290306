//! The agents' own command-line clients, from the npm registry, at versions that were tried.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::workspace::Workspace;

const PACKAGES: [&str; 2] = ["@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.166.0"];

/// One run takes some seconds; one that takes this long hangs.
const TIME_LIMIT: Duration = Duration::from_mins(3);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Claude,
    Codex,
}

impl Client {
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

pub(super) struct Clients {
    programs: PathBuf,
}

impl Clients {
    /// Installs what is missing. `None` where there is no npm to do it with.
    pub fn installed_in(folder: &Path) -> Result<Option<Self>> {
        let stamp = folder.join("installed.txt");
        let wanted = PACKAGES.join("\n");
        let clients = Self { programs: folder.join("node_modules/.bin") };
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(Some(clients));
        }
        if Command::new("npm").arg("--version").stdout(Stdio::null()).status().is_err() {
            return Ok(None);
        }
        fs::create_dir_all(folder)?;
        let status = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix"])
            .arg(folder)
            .args(PACKAGES)
            .status()?;
        ensure!(status.success(), "npm could not install {}", PACKAGES.join(" and "));
        fs::write(stamp, wanted)?;
        Ok(Some(clients))
    }

    /// One prompt, headless, from start to end. What the client says goes to `client.log`.
    pub fn run(&self, client: Client, workspace: &Workspace, port: u16) -> Result<()> {
        let mut command = workspace.command(self.program(client));
        Self::prepare(client, &mut command, workspace, port)?;
        match client {
            Client::Claude => command
                .args(["-p", "Do it.", "--allowedTools", "Bash,Write,TaskCreate"])
                .args(["--setting-sources", "project,local"]),
            Client::Codex => command
                .args(["exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"])
                .arg("Do it."),
        };
        let log = workspace.log("client.log")?;
        let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn();
        let status = wait(child.with_context(|| format!("cannot start {}", client.name()))?)?;
        ensure!(status.success(), "{} ended with {status}", client.name());
        Ok(())
    }

    pub fn program(&self, client: Client) -> PathBuf {
        self.programs.join(client.name())
    }

    /// Lets whatever the command starts find the scripted model.
    pub fn prepare(client: Client, command: &mut Command, workspace: &Workspace, port: u16) -> Result<()> {
        match client {
            Client::Claude => command
                .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"))
                .env("ANTHROPIC_API_KEY", "none")
                .env("DISABLE_TELEMETRY", "1")
                .env("DISABLE_AUTOUPDATER", "1")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            Client::Codex => {
                let home = workspace.home().join(".codex");
                fs::create_dir_all(&home)?;
                fs::write(home.join("config.toml"), codex_config(port))?;
                command.env("SCRIPTED_MODEL_KEY", "none")
            }
        };
        Ok(())
    }
}

fn codex_config(port: u16) -> String {
    format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_MODEL_KEY\"\n"
    )
}

fn wait(mut child: Child) -> Result<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < TIME_LIMIT {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    bail!("the client did not end within {} s", TIME_LIMIT.as_secs())
}
