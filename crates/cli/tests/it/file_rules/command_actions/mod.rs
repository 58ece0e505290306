//! Commands that rules run to meet their demands.

mod arguments;
mod failures;
mod processes;

use std::fs;

use serde_json::json;
use testkit::{ProcessOutput, TestProject};

use crate::file_rules::{commit, repository, session_event};

/// A project with a trusted rule `run` for all `.py` files. The rule has this action, and `tools/run.sh` contains this
/// script.
fn with_script(action: &str, script: &str) -> TestProject {
    let project = repository();
    project.rule("run", &rule_with_action(action)).file("tools/run.sh", script).file(".gitignore", "*.log\n");
    project.file("src/a.py", "a\n").file("src/b.py", "b\n");
    commit(&project, "Begin");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project
}

fn rule_with_action(action: &str) -> String {
    format!("---\nname: Run it\ntrigger: '**/*.py'\naction: {{{action}}}\n---\nMend what it says.\n")
}

fn read_file(project: &TestProject, path: &str) -> String {
    fs::read_to_string(project.root().join(path)).unwrap_or_default()
}

/// Returns how often the script ran. The script must append a line to `runs.log` each time.
fn run_count(project: &TestProject) -> usize {
    read_file(project, "runs.log").lines().count()
}

fn stop_with_env(project: &TestProject, variables: &[(&str, &str)]) -> ProcessOutput {
    let mut command = project.command(&["hook", "claude"]);
    command.envs(variables.iter().copied());
    let payload = session_event(project, "session-1", "Stop", &json!({ "stop_hook_active": false }));
    project.run_with_stdin(command, payload.to_string().as_bytes())
}
