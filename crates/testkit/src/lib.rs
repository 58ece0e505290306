//! Test projects, each with its own directory, home and state, isolated from the machine.
//!
//! Every process that a test starts gets a clean environment: neither the settings of the user who runs the tests nor
//! the environment variables of an agent that may run them have any effect.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test whose setup fails should panic"
)]

pub mod processes;
mod programs;
#[cfg(unix)]
mod simulated_agent;
mod terminal;

pub use simulated_agent::SimulatedAgent;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The only environment variables that the program under test inherits. Coverage data is written to the path in
/// `LLVM_PROFILE_FILE`.
const INHERITED_VARIABLES: &[&str] = &["LLVM_PROFILE_FILE"];

pub struct TestProject {
    /// The temporary directory that contains everything. It is deleted when this value is dropped.
    _directory: TempDir,
    base: PathBuf,
    program: PathBuf,
}

/// The output and exit code of a process.
pub struct ProcessOutput {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl TestProject {
    /// Creates a project without a policy. `program` is the binary under test.
    pub fn new(program: &str) -> Self {
        let directory = tempfile::Builder::new().prefix("linchpin-test-").tempdir().expect("a temporary directory");
        let base = directory.path().canonicalize().expect("the temporary directory exists");
        let project = Self { _directory: directory, base, program: PathBuf::from(program) };
        for directory in [project.root(), project.home(), project.temp()] {
            fs::create_dir_all(directory).expect("a directory in the temporary directory");
        }
        programs::symlink_into(&project.programs(), &std::env::var_os("PATH").unwrap_or_default());
        project
    }

    /// Creates a project with an empty policy.
    pub fn with_policy(program: &str) -> Self {
        let project = Self::new(program);
        fs::create_dir_all(project.root().join(".linchpin/rules")).expect("a policy directory");
        project
    }

    pub fn root(&self) -> PathBuf {
        self.base.join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.base.join("home")
    }

    /// The directory of the programs that tests can call. `PATH` contains only this directory; for git commands, it
    /// also contains that of the program under test.
    pub fn programs(&self) -> PathBuf {
        self.base.join("bin")
    }

    fn temp(&self) -> PathBuf {
        self.base.join("tmp")
    }

    pub fn user_policy(&self) -> PathBuf {
        self.base.join("config/linchpin")
    }

    pub fn state(&self) -> PathBuf {
        self.base.join("state/linchpin")
    }

    /// Writes a file in the project, and creates missing parent directories.
    pub fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        write(&self.root().join(path), text.as_ref());
        self
    }

    pub fn config(&self, text: &str) -> &Self {
        self.file(".linchpin/config.yml", text)
    }

    pub fn rule(&self, id: &str, text: &str) -> &Self {
        self.file(&format!(".linchpin/rules/{id}.md"), text)
    }

    pub fn user_rule(&self, id: &str, text: &str) -> &Self {
        write(&self.user_policy().join(format!("rules/{id}.md")), text.as_bytes());
        self
    }

    /// Returns a command that runs the program under test in the project, with the test's `PATH` and without the
    /// machine's environment variables.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.root()).env_clear();
        for name in INHERITED_VARIABLES {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("PATH", self.programs());
        command.env("HOME", self.home()).env("TMPDIR", self.temp()).env("TZ", "UTC").env("COLUMNS", "100");
        command.env("XDG_CONFIG_HOME", self.base.join("config")).env("XDG_STATE_HOME", self.base.join("state"));
        command.env("CLAUDE_CONFIG_DIR", self.home().join(".claude")).env("CODEX_HOME", self.home().join(".codex"));
        command
    }

    /// Returns a git command in the project, with a fixed author and date. Its `PATH` also contains the program under
    /// test, so that git hooks can call it.
    pub fn git_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.root()).env_clear();
        let directories = self.program.parent().map(Path::to_owned).into_iter().chain([self.programs()]);
        command.env("PATH", std::env::join_paths(directories).expect("directories"));
        command.env("HOME", self.home()).env("TMPDIR", self.temp()).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("XDG_CONFIG_HOME", self.base.join("config")).env("XDG_STATE_HOME", self.base.join("state"));
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Somebody").env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
            command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
        }
        command
    }

    /// Runs git, which must succeed, and returns its stdout without the trailing newline.
    pub fn git(&self, arguments: &[&str]) -> String {
        let reply = self.redact_output(&self.git_command(arguments).stdin(Stdio::null()).output().expect("git runs"));
        assert_eq!(reply.code, Some(0), "git {arguments:?}: {}", reply.stderr);
        reply.stdout.trim_end_matches('\n').to_owned()
    }

    pub fn run(&self, arguments: &[&str]) -> ProcessOutput {
        self.redact_output(&self.command(arguments).stdin(Stdio::null()).output().expect("the program runs"))
    }

    /// Runs `linchpin hook AGENT` with these bytes on stdin.
    pub fn hook_with_bytes(&self, agent: &str, payload: &[u8]) -> ProcessOutput {
        self.run_with_stdin(self.command(&["hook", agent]), payload)
    }

    pub fn run_with_stdin(&self, mut command: Command, input: &[u8]) -> ProcessOutput {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        // Writing fails if the program closes the pipe before it has read everything. That is not an error.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        self.redact_output(&child.wait_with_output().expect("the program ends"))
    }

    /// Runs the command on a pseudo-terminal, with `typed` as keyboard input.
    #[cfg(unix)]
    pub fn run_on_terminal(&self, command: Command, typed: &str) -> ProcessOutput {
        self.redact_output(&terminal::run(command, typed))
    }

    pub fn hook(&self, agent: &str, payload: &Value) -> ProcessOutput {
        self.hook_with_bytes(agent, payload.to_string().as_bytes())
    }

    /// Returns Claude Code's decision about a shell command, as [`ProcessOutput::decision`] does.
    pub fn decision(&self, command: &str) -> String {
        self.hook("claude", &self.bash_payload(command)).decision()
    }

    /// Returns the payload that Claude Code sends for an event, with these additional fields.
    pub fn event_payload(&self, name: &str, fields: &Value) -> Value {
        let mut payload = json!({
            "session_id": "session-1",
            "transcript_path": self.home().join("transcript.jsonl"),
            "cwd": self.root(),
            "permission_mode": "default",
            "hook_event_name": name,
        });
        if let (Some(payload), Some(fields)) = (payload.as_object_mut(), fields.as_object()) {
            payload.extend(fields.clone());
        }
        payload
    }

    pub fn tool_payload(&self, name: &str, input: &Value) -> Value {
        self.event_payload("PreToolUse", &json!({ "tool_name": name, "tool_input": input, "tool_use_id": "toolu_1" }))
    }

    pub fn bash_payload(&self, command: &str) -> Value {
        self.tool_payload("Bash", &json!({ "command": command }))
    }

    /// Replaces paths that differ between test runs by placeholders.
    pub fn redacted(&self, text: &str) -> String {
        let program = self.program.to_string_lossy();
        let text = text.replace(&*self.base.to_string_lossy(), "[BASE]");
        // If the program's path contains a space, it is in quotes in command lines.
        text.replace(&format!("'{program}'"), "[LINCHPIN]").replace(&*program, "[LINCHPIN]")
    }

    fn redact_output(&self, output: &Output) -> ProcessOutput {
        ProcessOutput {
            stdout: self.redacted(&String::from_utf8_lossy(&output.stdout)),
            stderr: self.redacted(&String::from_utf8_lossy(&output.stderr)),
            code: output.status.code(),
        }
    }
}

impl ProcessOutput {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {:?}", self.stdout))
    }

    /// Returns Claude Code's decision about the tool call: the one that the hook prints, otherwise `allow`. If the hook
    /// fails without printing anything: `refused`.
    pub fn decision(&self) -> String {
        if self.stdout.is_empty() {
            return if self.code == Some(0) { "allow" } else { "refused" }.to_owned();
        }
        let decision = &self.json()["hookSpecificOutput"]["permissionDecision"];
        decision.as_str().unwrap_or("allow").to_owned()
    }

    pub fn reason(&self) -> String {
        let answer = self.json();
        let specific = &answer["hookSpecificOutput"]["permissionDecisionReason"];
        specific.as_str().or(answer["reason"].as_str()).unwrap_or_default().to_owned()
    }

    /// The exit code, stdout and stderr, for a snapshot.
    pub fn transcript(&self) -> String {
        let code = self.code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        format!("exit {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}

fn write(path: &Path, text: &[u8]) {
    fs::create_dir_all(path.parent().expect("a file lies in a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}
