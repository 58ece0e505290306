//! Runs other programs.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A program to run.
pub struct Program {
    command: Command,
    shown: String,
}

/// Returns the cargo that runs this program, without the variables that coding agents set for their commands.
pub fn cargo(arguments: &[&str]) -> Program {
    let mut program = Program::new(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()), arguments);
    program.shown = format!("cargo {}", arguments.join(" "));
    program
}

impl Program {
    pub fn new(name: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(name);
        command.args(arguments);
        for (variable, _) in std::env::vars_os() {
            let name = variable.to_string_lossy();
            if ["CLAUDE", "CODEX", "AI_AGENT", "LINCHPIN_"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(&variable);
            }
        }
        Self { command, shown: format!("{name} {}", arguments.join(" ")) }
    }

    pub fn args(mut self, arguments: &[String]) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: &OsStr) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn working_directory(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Starts the program with a pipe as stdout.
    pub fn stream(mut self) -> Result<Child> {
        self.command.stdout(Stdio::piped()).spawn().with_context(|| format!("`{}` cannot be run", self.shown))
    }

    pub fn run(mut self) -> Result<()> {
        let status = self.command.status().with_context(|| format!("`{}` cannot be run", self.shown))?;
        if !status.success() {
            bail!("`{}` failed: {status}", self.shown);
        }
        Ok(())
    }

    /// Runs the program and returns its stdout. Its stderr is shown to the person.
    pub fn output_with_progress(mut self) -> Result<String> {
        let output = self.command.stderr(Stdio::inherit()).output();
        let output = output.with_context(|| format!("`{}` cannot be run", self.shown))?;
        if !output.status.success() {
            bail!("`{}` failed: {}", self.shown, output.status);
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    pub fn output(mut self) -> Result<String> {
        let output = self.command.output().with_context(|| format!("`{}` cannot be run", self.shown))?;
        if !output.status.success() {
            bail!("`{}` failed: {}", self.shown, String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}
