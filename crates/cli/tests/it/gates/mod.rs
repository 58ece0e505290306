//! Gates: what has to hold before a workflow moves, and who may say so.

mod approvals;
mod commands;
mod order;
mod trust;
mod webhooks;

use std::fs;
use std::path::PathBuf;

use super::project;
use testkit::Scratch;

/// A git repository with a workflow `w` that is trusted and active, at `work`, which needs what `requires` says.
fn at_work(requires: &str) -> Scratch {
    at_work_with(requires, "")
}

/// The same, with more keys of the workflow.
fn at_work_with(requires: &str, more: &str) -> Scratch {
    let project = repository();
    workflow(&project, requires, more);
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(project.run(&["start", "w"]).code, Some(0));
    project
}

fn repository() -> Scratch {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.file("a.txt", "one\n");
    project.git(&["add", "--all"]);
    project.git(&["commit", "-q", "-m", "first"]);
    project
}

fn workflow(project: &Scratch, requires: &str, more: &str) {
    let text = format!(
        "start_node: work\nvariables: {{ready: false}}\nclaims: [again]\n{more}\nnodes:\n  work:\n    prompt: Work.\n    requires: {requires}\n    transitions: [{{when: again, to: work}}, {{when: work_complete, to: rest}}]\n  rest:\n    prompt: Rest.\n    transitions: [{{when: rest_complete, to: done}}]\n"
    );
    project.file(".linchpin/workflows/w.yml", text);
}

/// The folder for temporary files, which a confined command may write.
fn temporary(project: &Scratch) -> PathBuf {
    project.root().join("../tmp")
}

/// A command, as a gate's list of words, that notes in a file beside the project that it ran.
fn counted(name: &str, then: &str) -> String {
    let script = format!("echo ran >> $TMPDIR/{name}; {then}");
    format!("{{command: [sh, -c, '{}']}}", script.replace('\'', "''"))
}

/// How often it ran.
fn runs(name: &str, project: &Scratch) -> usize {
    fs::read_to_string(temporary(project).join(name)).unwrap_or_default().lines().count()
}
