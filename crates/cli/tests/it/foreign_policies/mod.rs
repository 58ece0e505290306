//! Policy files written for DeepWork, Hegel and Gobby: they load, or the error says what to write.

mod deepwork;
mod file_names;
mod keys_and_words;

use serde_json::json;
use testkit::TestProject;

use crate::project;

const WORKFLOW: &str = "start_node: work\nnodes:\n  work:\n    prompt: Work.\n    rules:\n      - {command_pattern: '^danger', \
                    reason: Not here.}\n    transitions: [{when: work_complete, to: done}]\n";

fn problem_kinds(project: &TestProject) -> Vec<String> {
    let report = project.run(&["validate", "--json"]).json();
    report["problems"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|problem| problem["kind"].as_str().expect("a kind").to_owned())
        .collect()
}

fn fetch_decision(project: &TestProject) -> String {
    project.hook("claude", &project.tool_payload("WebFetch", &json!({"url": "https://example.com"}))).decision()
}

/// Returns the messages of `validate`, without the quoted lines of the file.
fn validate_messages(path: &str, text: &str) -> String {
    let project = project();
    project.file(path, text).file(".linchpin/guides/REVIEW-GUIDE.md", "Look twice.\n");
    let output = project.run(&["validate"]).stdout;
    let messages = output.lines().filter(|line| {
        ["error: ", "warning: "].iter().any(|start| line.starts_with(start)) || line.contains("= help: ")
    });
    messages.map(str::trim_start).collect::<Vec<_>>().join("\n")
}
