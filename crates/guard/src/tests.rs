//! Builders for unit tests of this crate. The tests themselves are beside the code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use engine::event::{CallOutcome, ShellText, ToolCall};
use engine::hats::Loop;
use engine::rules::Tier;
use engine::workflow::{Node, Workflow};
use engine::{Event, EventKind, Finding, Level, Verdict};
use serde_json::{Map, json};
use store::{
    EventRecord, JournalDetail, JudgementTransaction, RecordOutcome, SessionKey, StateChanges, Store, StoredState,
};
use tempfile::TempDir;

use crate::facts::ActiveWorkflow;
use crate::position::Position;
use crate::workflow::{GateRunOptions, GateRunners, WorkflowCommands};
use crate::{Environment, Project};

/// A project in a temporary directory, for a user without a home directory or environment variables.
pub struct Scratch {
    _directory: TempDir,
    pub root: PathBuf,
    pub environment: Environment,
}

impl Scratch {
    /// A project with a policy directory that has no rules.
    pub fn new() -> Self {
        let scratch = Self::bare();
        scratch.file(".linchpin/config.yml", "");
        scratch
    }

    /// A directory without a policy.
    pub fn bare() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let base = directory.path().canonicalize().expect("a real path");
        let root = base.join("project");
        fs::create_dir(&root).expect("a directory");
        let temp = base.join("temp");
        fs::create_dir(&temp).expect("a directory");
        let environment = Environment::new(|_| None, temp, root.clone());
        Self { _directory: directory, root, environment }
    }

    /// The same project, for a user with environment variables.
    pub fn with_variables(mut self, lookup: fn(&str) -> Option<std::ffi::OsString>) -> Self {
        let Environment { temp, cwd, .. } = self.environment;
        self.environment = Environment::new(lookup, temp, cwd);
        self
    }

    /// Turns the project into a git repository with everything committed on `main`.
    pub fn committed(self) -> Self {
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.commit("first");
        self
    }

    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", &format!("--message={message}")]);
        self.git(&["rev-parse", "HEAD"])
    }

    #[expect(clippy::disallowed_methods, reason = "git has to be found")]
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.environment.temp)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub fn file(&self, path: &str, text: &str) -> &Self {
        write(&self.root.join(path), text);
        self
    }

    pub fn project(&self) -> Project {
        Project::at(&self.root, &self.environment)
    }

    /// A path in the project's state directory.
    pub fn state(&self, path: &str) -> PathBuf {
        self.environment.project_state(&self.root).join(path)
    }

    pub fn store(&self, now: i64) -> Store {
        Store::open(&self.project().journal_path(&self.environment), options(now)).expect("a journal")
    }

    /// An event of session `s`, in this project.
    pub fn event(&self, kind: EventKind, time: i64) -> Event {
        Event { cwd: self.root.to_string_lossy().into_owned(), time, ..event(kind) }
    }

    /// Records an event with its verdict.
    pub fn record_judged(&self, event: &Event, verdict: &Verdict, changes: &StateChanges) {
        let no_fields = Map::new();
        let root = self.root.to_string_lossy();
        let record = EventRecord {
            event,
            root: &root,
            verdict,
            facts: &no_fields,
            fields: &no_fields,
            changes,
            detail: JournalDetail::Lean,
        };
        let mut store = self.store(event.time);
        let judgement: JudgementTransaction<'_> =
            store.begin(SessionKey { agent: &event.agent, session: &event.session }).expect("a session");
        assert!(matches!(judgement.record(&record), Ok(RecordOutcome::Stored(_))));
    }

    /// Records an event that no rule has a finding for.
    pub fn record(&self, event: &Event) {
        self.record_judged(event, &Verdict::empty(), &StateChanges::default());
    }
}

pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

pub fn options(now: i64) -> store::StoreOptions {
    store::StoreOptions { busy_timeout: Duration::from_secs(10), now, run: None }
}

/// An event of Claude Code's session `s`, at 1,000 ms.
pub fn event(kind: EventKind) -> Event {
    Event { kind, name: kind.name().to_owned(), session: "s".to_owned(), ..Event::unknown("claude", 1000) }
}

pub fn shell_call(command: &str) -> ToolCall {
    ToolCall {
        name: "Bash".to_owned(),
        id: Some(command.to_owned()),
        input: json!({ "command": command }),
        shell: Some(ShellText::Command(command.to_owned())),
        ..ToolCall::default()
    }
}

/// A shell call of session `s` that is about to run.
pub fn before_call(command: &str) -> Event {
    Event { tool: Some(shell_call(command)), ..event(EventKind::BeforeTool) }
}

/// A shell call of session `s` that succeeded.
pub fn after_call(command: &str) -> Event {
    Event { kind: EventKind::AfterTool, outcome: Some(CallOutcome::Ok), ..before_call(command) }
}

pub fn finding(rule: &str, level: Level) -> Finding {
    Finding {
        rule: rule.to_owned(),
        level,
        reason: format!("{rule} says so."),
        because: Vec::new(),
        digest: None,
        protects_guard: false,
        section: None,
        is_combined: false,
    }
}

/// A verdict of one finding.
pub fn verdict(level: Level) -> Verdict {
    Verdict::of(vec![finding("rule", level)])
}

/// A project's workflow with a single node, `code`, without transitions.
pub fn workflow(name: &str) -> Workflow {
    let node = Node {
        name: "code".to_owned(),
        prompt: "Code.".to_owned(),
        rules: Vec::new(),
        requires: Vec::new(),
        on_enter: Vec::new(),
        on_exit: Vec::new(),
        transitions: Vec::new(),
    };
    Workflow {
        name: name.to_owned(),
        tier: Tier::Project,
        source: format!("{name}.yml"),
        digest: "d".to_owned(),
        start: node.name.clone(),
        variables: BTreeMap::new(),
        claims: Vec::new(),
        rules: Vec::new(),
        observers: Vec::new(),
        gates: BTreeMap::new(),
        triggers: Vec::new(),
        nodes: vec![node],
        guides: BTreeMap::new(),
    }
}

/// A workflow that was just started.
pub fn active(workflow: Workflow) -> ActiveWorkflow {
    let position = Position::start(&workflow.name, &workflow.digest, &workflow.start, 1000, &Map::new());
    ActiveWorkflow { workflow, position, state: StoredState::default(), claims: Map::new(), now: 1000 }
}

/// Gate runners that start no processes. Every call of a webhook succeeds.
pub fn gate_runners() -> GateRunners {
    let command_options = GateRunOptions {
        call: Vec::new(),
        wait_limit: Duration::ZERO,
        repeat_with: "linchpin next",
        cancel_flag: None,
        show: |_| {},
    };
    GateRunners { command: command_options, webhook: |_, _, _| Ok(()) }
}

/// Workflow commands of a person at this time.
pub fn person_commands<'a>(project: &'a Project, environment: &'a Environment, now: i64) -> WorkflowCommands<'a> {
    WorkflowCommands {
        project,
        environment,
        policy: Arc::new(project.compiled_policy_read_only(environment)),
        now,
        agent_session: None,
        hat_phase: None,
        is_by_agent: false,
        gate_runners: gate_runners(),
    }
}

/// Writes and loads the project's loop.
pub fn write_loop(scratch: &Scratch, text: &str) -> Loop {
    scratch.file(".linchpin/loop.yml", text);
    let project = scratch.project();
    let file = policy::loop_file(&project.tiers, &project.load(&scratch.environment)).expect("a file");
    let problems: Vec<String> = file.errors().map(policy::Diagnostic::line).collect();
    file.the_loop.unwrap_or_else(|| panic!("{problems:?}"))
}
