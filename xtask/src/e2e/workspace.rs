//! A temporary repository with its own home directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::agent_kind::AgentKind;

pub(super) struct Workspace {
    directory: PathBuf,
    linchpin: PathBuf,
}

impl Workspace {
    /// Deletes the workspace of an earlier run, and creates a new one.
    pub fn create(directory: &Path, linchpin: &Path) -> Result<Self> {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        let workspace = Self { directory: directory.to_owned(), linchpin: linchpin.to_owned() };
        for part in [workspace.home(), workspace.project().join(".linchpin/rules"), workspace.temp()] {
            fs::create_dir_all(part)?;
        }
        fs::write(workspace.project().join("README.md"), "A project.\n")?;
        // Codex starts login shells, which take their `PATH` from the profile.
        let linchpin_directory = linchpin.parent().map(Path::display).context("the binary lies in a directory")?;
        fs::write(workspace.home().join(".profile"), format!("PATH='{linchpin_directory}':\"$PATH\"\n"))?;
        for arguments in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "README.md"],
            &["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "--message=Start"],
        ] {
            let status = workspace.command("git").args(arguments).status().context("git is needed")?;
            ensure!(status.success(), "git {} failed", arguments.join(" "));
        }
        Ok(workspace)
    }

    pub fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.directory.join("project")
    }

    fn temp(&self) -> PathBuf {
        self.directory.join("tmp")
    }

    /// Returns a command in the project without the caller's environment variables, except `PATH`.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let linchpin_directory = self.linchpin.parent().map(Path::to_owned);
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(linchpin_directory.into_iter().chain(std::env::split_paths(&paths)));
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", path.unwrap_or(paths))
            .env("HOME", self.home())
            .env("TMPDIR", self.temp())
            .env("CLAUDE_CONFIG_DIR", self.home().join(".claude"))
            .env("CODEX_HOME", self.home().join(".codex"));
        command
    }

    pub fn write_rule(&self, name: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.project().join(".linchpin/rules").join(name), text)?)
    }

    pub fn rule(&self, name: &str) -> Result<String> {
        fs::read_to_string(self.project().join(".linchpin/rules").join(name))
            .with_context(|| format!("`{name}` is gone"))
    }

    /// Runs Linchpin as a person would, outside of any agent.
    pub fn as_person(&self, arguments: &[&str]) -> Result<()> {
        let refused = if arguments.contains(&"REFUSED") { self.first_refused()? } else { String::new() };
        let arguments =
            arguments.iter().map(|argument| if *argument == "REFUSED" { refused.as_str() } else { argument });
        let arguments: Vec<&str> = arguments.collect();
        let output = self.command(&self.linchpin).args(&arguments).output()?;
        let output_text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "a person's `linchpin {}` failed: {output_text}", arguments.join(" "));
        Ok(())
    }

    /// Returns the journal id of the first refused call.
    fn first_refused(&self) -> Result<String> {
        let output = self.command(&self.linchpin).args(["log", "--json", "--level", "ask", "--limit", "0"]).output()?;
        let log = String::from_utf8_lossy(&output.stdout);
        let first: serde_json::Value = serde_json::from_str(log.lines().next().context("nothing was refused")?)?;
        Ok(first.get("id").context("an event has a number")?.to_string())
    }

    pub fn install(&self, client: AgentKind) -> Result<()> {
        let output = self.command(&self.linchpin).args(["install", client.name()]).output()?;
        let output_text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "`linchpin install {}` failed: {output_text}", client.name());
        Ok(())
    }

    pub fn has(&self, file: &str) -> bool {
        self.project().join(file).exists()
    }

    /// Writes a file next to the project, for a person to inspect.
    pub fn write_artifact(&self, name: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.directory.join(name), text)?)
    }

    pub fn log(&self, name: &str) -> Result<fs::File> {
        Ok(fs::File::create(self.directory.join(name))?)
    }
}
