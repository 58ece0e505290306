//! `linchpin check`: judges file rules without an agent.

mod changes;
mod default_branch;
mod formats;
mod outside_of_sessions;
mod rules;

use testkit::{ProcessOutput, TestProject};

use crate::file_rules::{README_RULE, commit, with_rule};

/// A project with two unmet rules, one unmet rule that only warns, and one met rule.
fn with_unmet_rules() -> TestProject {
    let project = with_rule("readme", README_RULE);
    project.rule("source-test", "---\nname: Source and test together\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nTest {path}, 100% of it.\n");
    project.rule("license", "---\ncreated: '**/*.py'\naction: warn\n---\nNew files need a licence.\n");
    project.rule("other", "---\ntrigger: other/**\n---\nNo.\n");
    commit(&project, "Rules");
    project.file("src/a.py", "changed\n").file("src/new, odd.py", "new\n").file("tests/a_test.py", "new\n");
    project
}

fn with_head_placeholder(project: &TestProject, text: &str) -> String {
    text.replace(&project.git(&["rev-parse", "--short=12", "HEAD"]), "[HEAD]")
}

fn check_transcript(project: &TestProject, arguments: &[&str]) -> String {
    with_head_placeholder(project, &project.run(arguments).transcript())
}

/// Runs `check` on a list of changes.
fn check_changes(project: &TestProject, lines: &str, extra_arguments: &[&str]) -> ProcessOutput {
    let mut arguments = vec!["check", "--changed-from", "-"];
    arguments.extend(extra_arguments);
    project.run_with_stdin(project.command(&arguments), lines.as_bytes())
}
