//! File rules from end to end, with the built binary and real git.

mod acknowledgements;
mod baselines;
mod cases;
mod check;
mod command_actions;
mod corpus;
mod expressions;
mod flows;
mod holds;
mod loading;
mod moved_baselines;
mod nested_policies;
mod pre_commit;
mod queue;
mod sandbox;
mod sessions;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{ProcessOutput, TestProject};

use super::{project, project_without_policy};

/// A rule that demands a change of the README.
const README_RULE: &str = "---\nname: README Accuracy\ntrigger: src/**/*.py\nsafety: README.md\n---\nSource files changed. Verify README.md is accurate.\n";

/// A git repository with a policy and no commits.
fn repository() -> TestProject {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.file(".linchpin/.gitignore", "tmp/\nstate.db*\n");
    project
}

/// A project with this rule, a few files and one commit.
fn with_rule(id: &str, text: &str) -> TestProject {
    let project = repository();
    project.rule(id, text).file("src/a.py", "a\n").file("src/b.py", "b\n").file("README.md", "It works.\n");
    commit(&project, "Begin");
    project
}

fn commit(project: &TestProject, message: &str) {
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", message]);
}

/// Returns the payload of an event in this session.
fn session_event(project: &TestProject, session: &str, name: &str, fields: &Value) -> Value {
    let mut event = project.event_payload(name, fields);
    event["session_id"] = json!(session);
    event
}

/// Calls the hook of an agent that wants to stop.
fn stop(project: &TestProject) -> ProcessOutput {
    stop_with_message(project, "Done.")
}

fn stop_with_message(project: &TestProject, message: &str) -> ProcessOutput {
    stop_in_session(project, "session-1", message)
}

fn stop_in_session(project: &TestProject, session: &str, message: &str) -> ProcessOutput {
    let fields = json!({ "stop_hook_active": false, "last_assistant_message": message });
    project.hook("claude", &session_event(project, session, "Stop", &fields))
}

fn prompt(project: &TestProject, text: &str) -> ProcessOutput {
    project.hook("claude", &session_event(project, "session-1", "UserPromptSubmit", &json!({ "prompt": text })))
}

/// Returns the notice for the person that the answer contains.
fn notice(reply: &ProcessOutput) -> String {
    if reply.stdout.is_empty() {
        return String::new();
    }
    reply.json()["systemMessage"].as_str().unwrap_or_default().to_owned()
}

fn tmp(project: &TestProject) -> PathBuf {
    project.root().join(".linchpin/tmp")
}

fn queue_directory(project: &TestProject) -> PathBuf {
    tmp(project).join("rules/queue")
}

/// Returns the queue entries by file name.
fn queue(project: &TestProject) -> BTreeMap<String, Value> {
    let entries = fs::read_dir(queue_directory(project)).into_iter().flatten().flatten();
    let entries = entries.map(|entry| {
        let text = fs::read_to_string(entry.path()).expect("an entry");
        (entry.file_name().to_string_lossy().into_owned(), serde_json::from_str(&text).expect("JSON"))
    });
    entries.collect()
}

/// Returns the only queue entry and its path.
fn only_entry(project: &TestProject) -> (PathBuf, Value) {
    let mut entries = queue(project).into_iter();
    let (name, entry) = entries.next().expect("an entry");
    assert_eq!(entries.next(), None);
    (queue_directory(project).join(name), entry)
}

/// Returns a line for each queue entry, sorted: the status, how often the demand was shown, the rule and the trigger
/// files.
fn summary(project: &TestProject) -> String {
    let entries = queue(project);
    let mut lines: Vec<String> = entries
        .values()
        .map(|entry| {
            let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
            let files: Vec<&str> =
                entry["trigger_files"].as_array().expect("files").iter().filter_map(Value::as_str).collect();
            format!("{} {}x {}: {}", text("status"), entry["shown"], text("rule_name"), files.join(" "))
        })
        .collect();
    lines.sort();
    lines.join("\n")
}
