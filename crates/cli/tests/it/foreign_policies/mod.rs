//! Policy files written for DeepWork, Hegel and Gobby: they load, or the error says what to write.

mod deepwork;
mod file_names;
mod keys_and_words;

use serde_json::json;
use testkit::TestProject;

use crate::project;

const FLOW: &str = "start_node: work\nnodes:\n  work:\n    prompt: Work.\n    rules:\n      - {command_pattern: '^danger', \
                    reason: Not here.}\n    transitions: [{when: work_complete, to: done}]\n";

fn kinds(project: &TestProject) -> Vec<String> {
    let told = project.run(&["validate", "--json"]).json();
    told["problems"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["kind"].as_str().expect("a kind").to_owned())
        .collect()
}

fn fetch(project: &TestProject) -> String {
    project.hook("claude", &project.tool("WebFetch", &json!({"url": "https://example.com"}))).decision()
}

/// Returns the messages of `validate`, without the quoted lines of the file.
fn said_of(path: &str, text: &str) -> String {
    let project = project();
    project.file(path, text).file(".linchpin/guides/REVIEW-GUIDE.md", "Look twice.\n");
    let said = project.run(&["validate"]).stdout;
    let told = said.lines().filter(|line| {
        ["error: ", "warning: "].iter().any(|start| line.starts_with(start)) || line.contains("= help: ")
    });
    told.map(str::trim_start).collect::<Vec<_>>().join("\n")
}
