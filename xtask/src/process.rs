//! Runs other programs.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A program to run.
pub struct Program {
    command: Command,
    command_line: String,
}

/// Returns a call of the cargo that started this program. It does not inherit the environment variables that coding
/// agents set for their commands.
pub fn cargo(arguments: &[&str]) -> Program {
    let mut program = Program::new(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()), arguments);
    program.command_line = format!("cargo {}", arguments.join(" "));
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
        Self { command, command_line: format!("{name} {}", arguments.join(" ")) }
    }

    pub fn args(mut self, arguments: &[String]) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: &OsStr) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn current_dir(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    pub fn spawn_with_piped_stdout(mut self) -> Result<Child> {
        self.command.stdout(Stdio::piped()).spawn().with_context(|| format!("`{}` cannot be run", self.command_line))
    }

    pub fn run(mut self) -> Result<()> {
        let status = self.command.status().with_context(|| format!("`{}` cannot be run", self.command_line))?;
        if !status.success() {
            bail!("`{}` failed: {status}", self.command_line);
        }
        Ok(())
    }

    /// Runs the program and returns its stdout. Its stderr goes to the terminal.
    pub fn output_with_progress(mut self) -> Result<String> {
        let output = self.command.stderr(Stdio::inherit()).output();
        let output = output.with_context(|| format!("`{}` cannot be run", self.command_line))?;
        if !output.status.success() {
            bail!("`{}` failed: {}", self.command_line, output.status);
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs the program and returns its stdout. Its stderr is shown only if the program fails.
    pub fn output(mut self) -> Result<String> {
        let output = self.command.output().with_context(|| format!("`{}` cannot be run", self.command_line))?;
        if !output.status.success() {
            bail!("`{}` failed: {}", self.command_line, String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}
