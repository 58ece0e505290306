//! Commands by which rules are met.

mod arguments;
mod failures;
mod processes;

use std::fs;

use serde_json::json;
use testkit::{Reply, TestProject};

use crate::file_rules::{commit, event, repository};

/// A project with a rule for all `.py` files whose command runs this script. A person has accepted it.
fn with_script(action: &str, script: &str) -> TestProject {
    let project = repository();
    project.rule("run", &rule(action)).file("tools/run.sh", script).file(".gitignore", "*.log\n");
    project.file("src/a.py", "a\n").file("src/b.py", "b\n");
    commit(&project, "Begin");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project
}

fn rule(action: &str) -> String {
    format!("---\nname: Run it\ntrigger: '**/*.py'\naction: {{{action}}}\n---\nMend what it says.\n")
}

fn text(project: &TestProject, path: &str) -> String {
    fs::read_to_string(project.root().join(path)).unwrap_or_default()
}

/// How often the script ran. It writes a line into an ignored file each time.
fn runs(project: &TestProject) -> usize {
    text(project, "runs.log").lines().count()
}

fn stop_with(project: &TestProject, variables: &[(&str, &str)]) -> Reply {
    let mut command = project.command(&["hook", "claude"]);
    command.envs(variables.iter().copied());
    let payload = event(project, "session-1", "Stop", &json!({ "stop_hook_active": false }));
    project.feed(command, payload.to_string().as_bytes())
}
