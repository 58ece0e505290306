//! The project in which the corpus is judged: a git repository with its own home directory and the bundled rules in
//! force.
//!
//! The repository must not be in the system's temporary directory, because the rules let commands delete files there,
//! even outside of the project.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::case::CorpusCase;

pub struct CorpusProject {
    directory: PathBuf,
    linchpin: PathBuf,
}

/// The hook's decision about a command.
pub struct HookDecision {
    /// `allow`, `ask` or `deny`; `failed` if the hook gave no answer that an agent would obey.
    pub decision: String,
    pub reason: String,
}

impl CorpusProject {
    pub fn build(directory: &Path, linchpin: PathBuf) -> Result<Self> {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        fs::create_dir_all(directory)?;
        let project = Self { directory: directory.canonicalize()?, linchpin };
        let temp = std::env::temp_dir();
        ensure!(
            !project.directory.starts_with(&temp),
            "the corpus needs a directory that is not in `{}`: check the repository out elsewhere",
            temp.display()
        );
        project.build_project()?;
        project.build_home()?;
        project.run(&mut project.command(&["validate"]))?;
        Ok(project)
    }

    fn project(&self) -> PathBuf {
        self.directory.join("project")
    }

    fn build_project(&self) -> Result<()> {
        let root = self.project();
        for directory in ["build", "dist", "config", "sub", ".claude", ".linchpin/rules"] {
            fs::create_dir_all(root.join(directory))?;
        }
        fs::write(root.join(".env"), "KEY=secret\n")?;
        fs::write(root.join(".claude/settings.json"), "{}\n")?;
        fs::write(root.join("README.md"), "A project.\n")?;
        #[cfg(unix)]
        std::os::unix::fs::symlink("/", root.join("linkout"))?;
        let rules: Vec<_> = policy::bundled_rules().iter().map(|rule| rule.id).collect();
        fs::write(root.join(".linchpin/config.yml"), format!("rules: [{}]\n", rules.join(", ")))?;
        let identity = ["-c", "user.name=Corpus", "-c", "user.email=corpus@example.com"];
        self.git(&["init", "--quiet", "--initial-branch=main"])?;
        self.git(&["add", "README.md"])?;
        self.git(&[&identity[..], &["commit", "--quiet", "--message=first"]].concat())?;
        self.git(&["branch", "feature"])
    }

    fn build_home(&self) -> Result<()> {
        let home = self.directory.join("home");
        fs::create_dir_all(home.join(".ssh"))?;
        Ok(fs::write(home.join(".ssh/id_ed25519"), "a private key\n")?)
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        self.run(self.isolate(&mut Command::new("git")).args(arguments))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.linchpin);
        self.isolate(&mut command).args(arguments);
        command
    }

    /// Sets the project as the working directory, and clears the environment variables except `PATH`.
    fn isolate<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.current_dir(self.project()).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        for (variable, directory) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
            ("CLAUDE_PROJECT_DIR", "project"),
        ] {
            command.env(variable, self.directory.join(directory));
        }
        command
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
        let output_text = || [output.stdout.as_slice(), &output.stderr].map(String::from_utf8_lossy).concat();
        ensure!(output.status.success(), "{command:?} failed in `{}`: {}", self.project().display(), output_text());
        Ok(())
    }

    /// Returns the hook's decision about the command, as if Claude Code were about to run it in a new session.
    pub fn judge(&self, case: &CorpusCase) -> Result<HookDecision> {
        fs::write(self.project().join(".git/HEAD"), format!("ref: refs/heads/{}\n", case.branch))?;
        let payload = json!({
            "session_id": case.id,
            "transcript_path": self.directory.join("home/transcript.jsonl"),
            "cwd": self.project(),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": { "command": case.command },
            "tool_use_id": "toolu_1",
        });
        let mut command = self.command(&["hook", "claude"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        child.stdin.take().context("a pipe")?.write_all(payload.to_string().as_bytes())?;
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr).into_owned();
            return Ok(HookDecision { decision: "failed".to_owned(), reason });
        }
        if output.stdout.is_empty() {
            return Ok(HookDecision { decision: "allow".to_owned(), reason: String::new() });
        }
        let answer: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("the answer to `{}` is not JSON", case.command))?;
        let field = |name: &str| answer.pointer(&format!("/hookSpecificOutput/{name}")).and_then(Value::as_str);
        Ok(HookDecision {
            decision: field("permissionDecision").unwrap_or("allow").to_owned(),
            reason: field("permissionDecisionReason").unwrap_or_default().to_owned(),
        })
    }
}
