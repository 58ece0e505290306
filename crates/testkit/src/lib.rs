//! Scratch projects for tests: a folder, a home and a state of their own, and nothing of the machine's.
//!
//! Everything a test starts gets a clean environment, so that neither the settings of whoever runs the tests nor the
//! variables of an agent that may be running them can take part.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "in a test, what cannot be set up ends the test"
)]

#[cfg(unix)]
mod agent_session;
pub mod processes;
mod programs;
mod terminal;

pub use agent_session::AgentSession;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Variables of the machine that a program under test sees: where its coverage is written, and nothing else.
const KEPT: &[&str] = &["LLVM_PROFILE_FILE"];

pub struct Scratch {
    /// Deleted with the test.
    _folder: TempDir,
    base: PathBuf,
    program: PathBuf,
}

/// What a program said.
pub struct Reply {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl Scratch {
    /// A project without a policy. `program` is the binary under test.
    pub fn new(program: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("linchpin-test-").tempdir().expect("a temporary folder");
        let base = folder.path().canonicalize().expect("the temporary folder exists");
        let scratch = Self { _folder: folder, base, program: PathBuf::from(program) };
        for folder in [scratch.root(), scratch.home(), scratch.temp()] {
            fs::create_dir_all(folder).expect("a folder in the temporary folder");
        }
        programs::link_into(&scratch.programs(), &std::env::var_os("PATH").unwrap_or_default());
        scratch
    }

    /// A project with an empty policy.
    pub fn with_policy(program: &str) -> Self {
        let scratch = Self::new(program);
        fs::create_dir_all(scratch.root().join(".linchpin/rules")).expect("a policy folder");
        scratch
    }

    pub fn root(&self) -> PathBuf {
        self.base.join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.base.join("home")
    }

    /// The only folder on the `PATH` of what a test runs.
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

    /// Writes a file of the project, and the folders that it needs.
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

    /// The program under test, in the project, with a `PATH` of the test's own and nothing of the machine's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.root()).env_clear();
        for name in KEPT {
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

    /// Git in the project, by somebody who exists only here, at a moment that is always the same. Its hooks find the program
    /// under test.
    pub fn git_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.root()).env_clear();
        let folders = self.program.parent().map(Path::to_owned).into_iter().chain([self.programs()]);
        command.env("PATH", std::env::join_paths(folders).expect("folders"));
        command.env("HOME", self.home()).env("TMPDIR", self.temp()).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("XDG_CONFIG_HOME", self.base.join("config")).env("XDG_STATE_HOME", self.base.join("state"));
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Somebody").env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
            command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
        }
        command
    }

    /// What git prints, without the last line end; it has to go well.
    pub fn git(&self, arguments: &[&str]) -> String {
        let reply = self.reply(&self.git_command(arguments).stdin(Stdio::null()).output().expect("git runs"));
        assert_eq!(reply.code, Some(0), "git {arguments:?}: {}", reply.stderr);
        reply.stdout.trim_end_matches('\n').to_owned()
    }

    pub fn run(&self, arguments: &[&str]) -> Reply {
        self.reply(&self.command(arguments).stdin(Stdio::null()).output().expect("the program runs"))
    }

    /// `hook AGENT` with these bytes on standard input.
    pub fn hook_bytes(&self, agent: &str, payload: &[u8]) -> Reply {
        self.feed(self.command(&["hook", agent]), payload)
    }

    pub fn feed(&self, mut command: Command, input: &[u8]) -> Reply {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        // A program that does not want all of its input may close the pipe.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        self.reply(&child.wait_with_output().expect("the program ends"))
    }

    /// The program on a terminal of its own, and what a person types there.
    #[cfg(unix)]
    pub fn on_terminal(&self, command: Command, typed: &str) -> Reply {
        self.reply(&terminal::run(command, typed))
    }

    pub fn hook(&self, agent: &str, payload: &Value) -> Reply {
        self.hook_bytes(agent, payload.to_string().as_bytes())
    }

    /// What Claude Code is told about a shell command: `allow` where nothing, else its decision.
    pub fn decision(&self, command: &str) -> String {
        self.hook("claude", &self.bash(command)).decision()
    }

    /// A payload of Claude Code's for an event, with more fields.
    pub fn event(&self, name: &str, fields: &Value) -> Value {
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

    pub fn tool(&self, name: &str, input: &Value) -> Value {
        self.event("PreToolUse", &json!({ "tool_name": name, "tool_input": input, "tool_use_id": "toolu_1" }))
    }

    pub fn bash(&self, command: &str) -> Value {
        self.tool("Bash", &json!({ "command": command }))
    }

    /// Text without what differs from run to run.
    pub fn shown(&self, text: &str) -> String {
        let program = self.program.to_string_lossy();
        let text = text.replace(&*self.base.to_string_lossy(), "[BASE]");
        // A path with a space is quoted in a command line.
        text.replace(&format!("'{program}'"), "[LINCHPIN]").replace(&*program, "[LINCHPIN]")
    }

    fn reply(&self, output: &Output) -> Reply {
        Reply {
            stdout: self.shown(&String::from_utf8_lossy(&output.stdout)),
            stderr: self.shown(&String::from_utf8_lossy(&output.stderr)),
            code: output.status.code(),
        }
    }
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {:?}", self.stdout))
    }

    /// What Claude Code is told about a tool call.
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

    /// All of it, for a snapshot.
    pub fn transcript(&self) -> String {
        let code = self.code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        format!("exit {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}

fn write(path: &Path, text: &[u8]) {
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}
