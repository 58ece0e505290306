//! File rules as agents and people meet them: the built binary, and git itself.

mod answers;
mod baselines;
mod cases;
mod check;
mod command_actions;
mod confinement;
mod corpus;
mod expressions;
mod flows;
mod holds;
mod loading;
mod moved_baselines;
mod pre_commit;
mod queue;
mod sessions;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Reply, Scratch};

use super::{bare, project};

/// What asks for a README.
const README: &str = "---\nname: README Accuracy\ntrigger: src/**/*.py\nsafety: README.md\n---\nSource files changed. Verify README.md is accurate.\n";

/// A project with a policy, in git and without a commit.
fn repository() -> Scratch {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.file(".linchpin/.gitignore", "tmp/\nstate.db*\n");
    project
}

/// A project with this rule, a few files and one commit.
fn with_rule(id: &str, text: &str) -> Scratch {
    let project = repository();
    project.rule(id, text).file("src/a.py", "a\n").file("src/b.py", "b\n").file("README.md", "It works.\n");
    commit(&project, "Begin");
    project
}

fn commit(project: &Scratch, message: &str) {
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", message]);
}

/// An event of a session.
fn event(project: &Scratch, session: &str, name: &str, fields: &Value) -> Value {
    let mut event = project.event(name, fields);
    event["session_id"] = json!(session);
    event
}

/// The agent wants to stop.
fn stop(project: &Scratch) -> Reply {
    stop_saying(project, "Done.")
}

fn stop_saying(project: &Scratch, message: &str) -> Reply {
    stop_of(project, "session-1", message)
}

fn stop_of(project: &Scratch, session: &str, message: &str) -> Reply {
    let fields = json!({ "stop_hook_active": false, "last_assistant_message": message });
    project.hook("claude", &event(project, session, "Stop", &fields))
}

fn prompt(project: &Scratch, text: &str) -> Reply {
    project.hook("claude", &event(project, "session-1", "UserPromptSubmit", &json!({ "prompt": text })))
}

/// What the person is told beside.
fn told(reply: &Reply) -> String {
    if reply.stdout.is_empty() {
        return String::new();
    }
    reply.json()["systemMessage"].as_str().unwrap_or_default().to_owned()
}

fn tmp(project: &Scratch) -> PathBuf {
    project.root().join(".linchpin/tmp")
}

fn queue_folder(project: &Scratch) -> PathBuf {
    tmp(project).join("rules/queue")
}

/// The entries of the queue by their file names.
fn queue(project: &Scratch) -> BTreeMap<String, Value> {
    let entries = fs::read_dir(queue_folder(project)).into_iter().flatten().flatten();
    let entries = entries.map(|entry| {
        let text = fs::read_to_string(entry.path()).expect("an entry");
        (entry.file_name().to_string_lossy().into_owned(), serde_json::from_str(&text).expect("JSON"))
    });
    entries.collect()
}

/// The only entry, and where it lies.
fn only_entry(project: &Scratch) -> (PathBuf, Value) {
    let mut entries = queue(project).into_iter();
    let (name, entry) = entries.next().expect("an entry");
    assert_eq!(entries.next(), None);
    (queue_folder(project).join(name), entry)
}

/// A line an entry: its status, how often it was shown, its rule and its files; sorted.
fn summary(project: &Scratch) -> String {
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
