//! Workflows: their files, the moves between nodes, gates, and the rules in force at a node.

mod broken_while_active;
mod concurrent_moves;
mod continue_command;
mod error_kinds;
mod file_rule_gates;
mod files;
mod gates;
mod moves;
mod phase;
mod project_rules;
mod set;
mod toolchains;
mod triggers;

use serde_json::{Value, json};
use testkit::TestProject;

use crate::project;

/// A project with a workflow of two nodes. The node `code` has these rules.
pub(crate) fn with_rules(rules: &str) -> TestProject {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: code\nclaims: [needs_rework]\nnodes:\n  code:\n    prompt: Write the code.\n    rules:\n{rules}\n    \
             transitions: [{{when: code_complete, to: review}}]\n  review:\n    prompt: Review it.\n    \
             transitions: [{{when: review_complete, to: done}}, {{when: needs_rework, to: code}}]\n"
        ),
    );
    project
}

/// Changes the journal so that every phase began this many milliseconds earlier, as tests cannot wait for minutes.
pub(crate) fn begin_phases_earlier(project: &TestProject, by: i64) {
    change_position(project, |position| {
        for visit in position["history"].as_array_mut().into_iter().flatten() {
            visit["started"] = json!(visit["started"].as_i64().expect("a time") - by);
        }
    });
}

/// Changes the position of the workflow that is stored in the journal.
fn change_position(project: &TestProject, change: impl FnOnce(&mut Value)) {
    let journal = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
    let stored = "SELECT value FROM state WHERE kind = 'variable' AND name = '_at'";
    let stored: String = journal.query_row(stored, [], |row| row.get(0)).expect("a position");
    let mut position: Value = serde_json::from_str(&stored).expect("JSON");
    change(&mut position);
    let write = "UPDATE state SET value = ?1 WHERE kind = 'variable' AND name = '_at'";
    assert_eq!(journal.execute(write, [position.to_string()]), Ok(1));
}

pub(crate) const BUILDS: &str = "      - repeated_command: {pattern: 'cargo (build|test)', threshold: 3, window: 600}";

fn with_workflow(text: &str) -> TestProject {
    let project = project();
    project.file(".linchpin/workflows/work.yml", text);
    project
}

fn with_two_nodes(keys: &str, node_keys: &str) -> TestProject {
    with_workflow(&format!(
        "start_node: code\n{keys}\nnodes:\n  code:\n    prompt: Code.\n{node_keys}\n    transitions: [{{when: code_complete, to: \
         review}}]\n  review: {{prompt: Review., transitions: [{{when: review_complete, to: done}}]}}\n"
    ))
}
