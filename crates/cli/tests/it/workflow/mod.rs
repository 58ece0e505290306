//! Workflows: their files, how they are moved, and what holds on a node.

mod broken_under_way;
mod concurrent_moves;
mod continuing;
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
use testkit::Scratch;

use crate::project;

/// Two phases and the way between them; `code` has these rules.
pub(crate) fn with_rules(rules: &str) -> Scratch {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: code\nclaims: [needs_rework]\nnodes:\n  code:\n    prompt: Write the code.\n    rules:\n{rules}\n    \
             transitions: [{{when: code_complete, to: review}}]\n  review:\n    prompt: Review it.\n    \
             transitions: [{{when: review_complete, to: done}}, {{when: needs_rework, to: code}}]\n"
        ),
    );
    scratch
}

/// Nobody waits for minutes here: the journal is told that every phase began so many milliseconds earlier.
pub(crate) fn begin_phases_earlier(scratch: &Scratch, by: i64) {
    change_position(scratch, |position| {
        for visit in position["history"].as_array_mut().into_iter().flatten() {
            visit["started"] = json!(visit["started"].as_i64().expect("a time") - by);
        }
    });
}

/// Changes where the workflow stands, as the journal keeps it.
fn change_position(scratch: &Scratch, change: impl FnOnce(&mut Value)) {
    let journal = rusqlite::Connection::open(scratch.root().join(".linchpin/state.db")).expect("the journal");
    let kept = "SELECT value FROM state WHERE kind = 'variable' AND name = '_at'";
    let kept: String = journal.query_row(kept, [], |row| row.get(0)).expect("a place");
    let mut position: Value = serde_json::from_str(&kept).expect("JSON");
    change(&mut position);
    let write = "UPDATE state SET value = ?1 WHERE kind = 'variable' AND name = '_at'";
    assert_eq!(journal.execute(write, [position.to_string()]), Ok(1));
}

pub(crate) const BUILDS: &str = "      - repeated_command: {pattern: 'cargo (build|test)', threshold: 3, window: 600}";

fn with_workflow(text: &str) -> Scratch {
    let scratch = project();
    scratch.file(".linchpin/workflows/work.yml", text);
    scratch
}

fn two_nodes(more: &str, of_node: &str) -> Scratch {
    with_workflow(&format!(
        "start_node: code\n{more}\nnodes:\n  code:\n    prompt: Code.\n{of_node}\n    transitions: [{{when: code_complete, to: \
         review}}]\n  review: {{prompt: Review., transitions: [{{when: review_complete, to: done}}]}}\n"
    ))
}
