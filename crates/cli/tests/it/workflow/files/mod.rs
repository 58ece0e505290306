//! Workflow files: how they are read, listed and drawn, and the messages for their errors.

mod expressions;
mod gates;
mod listing;
mod nodes;
mod rules;

use testkit::TestProject;

use crate::project;

/// A workflow with only the required keys.
const MINIMAL: &str =
    "start_node: work\nnodes:\n  work:\n    prompt: Work.\n    transitions: [{when: work_complete, to: done}]\n";

fn with_workflow(text: &str) -> TestProject {
    let project = project();
    project.file(".linchpin/workflows/execution.yml", text);
    project.file(".linchpin/guides/SPEC_WRITING.md", "Say what, not how.\n");
    project
}

/// Returns the output of `validate` for a project with this workflow file.
fn validated(text: &str) -> String {
    with_workflow(text).run(&["validate"]).stdout
}
