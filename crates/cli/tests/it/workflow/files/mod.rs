//! Files of workflows: how they are read, listed and drawn, and what their errors say.

mod expressions;
mod gates;
mod listing;
mod nodes;
mod rules;

use testkit::Scratch;

use crate::project;

/// The least that a workflow has.
const LEAST: &str =
    "start_node: work\nnodes:\n  work:\n    prompt: Work.\n    transitions: [{when: work_complete, to: done}]\n";

fn with_workflow(text: &str) -> Scratch {
    let project = project();
    project.file(".linchpin/workflows/execution.yml", text);
    project.file(".linchpin/guides/SPEC_WRITING.md", "Say what, not how.\n");
    project
}

/// What `validate` prints about one workflow.
fn validated(text: &str) -> String {
    with_workflow(text).run(&["validate"]).stdout
}
