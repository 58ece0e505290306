//! The current node: its rules, and what is counted in its phase.

use insta::assert_snapshot;
use serde_json::json;
use testkit::SimulatedAgent;

use super::{BUILDS, begin_phases_earlier, with_rules};
use crate::pace::call_with_patch;
use crate::project;

#[test]
fn commands_of_every_session_count() {
    let project = with_rules(BUILDS);
    project.run(&["start", "work"]);
    for session in ["session-1", "session-2", "session-3"] {
        let mut agent = project.agent_session(session);
        agent.run_failing("cargo build");
    }
    assert_eq!(project.agent().linchpin(&["next"]).code, Some(3));
}

#[test]
fn rules_of_a_node_apply_while_it_is_current() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: plan\nrule_definitions: {no-danger: {command_pattern: '^danger', reason: Not now.}}\nrules: \
         [{tools: [WebFetch], reason: No network.}]\nnodes:\n  plan: {prompt: Plan., rules: [no-danger], transitions: \
         [{when: plan_complete, to: code}]}\n  code: {prompt: Code., transitions: [{when: code_complete, to: done}]}\n",
    );
    let mut agent = project.agent();
    assert_eq!(agent.before("danger").decision(), "allow");
    project.run(&["start", "work"]);
    assert_eq!(
        agent.before("danger").reason().lines().next(),
        Some("Blocked by Linchpin rule `work/no-danger`: Not now. Matched: `danger`")
    );
    let fetch = |agent: &SimulatedAgent| {
        agent.hook("PreToolUse", "WebFetch", &json!({"url": "https://example.com"}), &json!({}))
    };
    assert_eq!(fetch(&agent).decision(), "deny");
    agent.linchpin(&["next"]);
    assert_eq!(agent.before("danger").decision(), "allow");
    assert_eq!(fetch(&agent).decision(), "deny");
    agent.linchpin(&["next"]);
    assert_eq!(fetch(&agent).decision(), "allow");
}

#[test]
fn observers_and_actions_set_variables_that_gates_require() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nvariables: {tests_ran: false, rounds: 0}\nobservers:\n  - {name: ran, on: after_tool, match: \
         {command_pattern: '^cargo test', outcome: ok}, set: {tests_ran: true}}\nnodes:\n  code:\n    prompt: 'Code, round \
         {{ variables.rounds }}, visit {{ phase.visit }} of {{ workflow.history }}.'\n    on_enter: [{set: {tests_ran: false, \
         rounds: '{{ rounds + 1 }}'}}]\n    requires: [tests_ran, 'phase.commands >= 1']\n    transitions: [{when: \
         'claims.code_complete', to: review}]\n  review: {prompt: Review., transitions: [{when: review_complete, to: code}, \
         {when: code_complete, to: done}]}\n",
    );
    assert_eq!(project.run(&["start", "work"]).stdout, "Code, round 1, visit 1 of ['code'].\n");
    let mut agent = project.agent();
    assert_snapshot!(agent.linchpin(&["next"]).transcript(), @"
    exit 1
    --- stdout
    Still at `code`: its gates are not met.

    - code/1: `tests_ran` is not true

    - code/2: `phase.commands >= 1` is not true
    --- stderr
    ");
    agent.run("cargo test -q");
    assert_eq!(agent.linchpin(&["next"]).stdout, "Review.\n");
    assert_eq!(agent.linchpin(&["next"]).stdout, "Code, round 2, visit 2 of ['code', 'review', 'code'].\n");
    assert_eq!(agent.linchpin(&["next"]).code, Some(1));
}

#[test]
fn require_commits_interrupts_without_a_commit() {
    let project = with_rules("      - require_commits: {lookback_phases: 1}");
    project.git(&["init", "-q", "-b", "main"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "long ago"]);
    project.run(&["start", "work"]);
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(3), "{}", reply.transcript());
    assert!(reply.stdout.contains("Diagnostic: No commit was made in the CODE phase\nPhases checked: CODE\n"));
    let mut commit = project.git_command(&["commit", "-q", "--allow-empty", "-m", "now"]);
    commit.env_remove("GIT_COMMITTER_DATE").env_remove("GIT_AUTHOR_DATE");
    assert!(commit.status().expect("git runs").success());
    assert_eq!(project.run(&["next"]).code, Some(0));
}

#[test]
fn a_commit_from_before_the_start_does_not_count() {
    let project = with_rules("      - require_commits: {lookback_phases: 1}");
    project.git(&["init", "-q", "-b", "main"]);
    let commit_now = |message: &str| {
        let mut commit = project.git_command(&["commit", "-q", "--allow-empty", "-m", message]);
        commit.env_remove("GIT_COMMITTER_DATE").env_remove("GIT_AUTHOR_DATE");
        assert!(commit.status().expect("git runs").success());
    };
    // Git stores times in seconds, so this commit could have the same time as the start of the workflow.
    commit_now("just before");
    project.run(&["start", "work"]);
    begin_phases_earlier(&project, 10_000);
    assert_eq!(project.run(&["next"]).code, Some(3));
    commit_now("since then");
    assert_eq!(project.run(&["next"]).code, Some(0));
}

#[test]
fn expressions_see_the_commits_of_a_phase() {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., requires: ['phase.commits >= 1'], transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    project.run(&["start", "work"]);
    assert_eq!(project.run(&["next"]).code, Some(1));
    let mut commit = project.git_command(&["commit", "-q", "--allow-empty", "-m", "now"]);
    commit.env_remove("GIT_COMMITTER_DATE").env_remove("GIT_AUTHOR_DATE");
    assert!(commit.status().expect("git runs").success());
    assert_eq!(project.run(&["next"]).code, Some(0));
}

#[test]
fn status_shows_the_progress_of_each_rule() {
    let project = with_rules(&format!(
        "{BUILDS}\n      - repeated_file_edit: {{threshold: 8, window: 180}}\n      - repeated_command: {{threshold: 5, \
         window: 60, failures_only: true}}\n      - phase_timeout: {{max_duration: 2h}}\n      - token_budget: \
         {{max_tokens: 5000}}\n      - require_commits: {{lookback_phases: 1}}"
    ));
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    for path in ["src/a.rs", "src/b.rs", "src/b.rs", "src/c.rs"] {
        agent.edit(path);
    }
    for command in ["cargo build", "ls", "cargo test"] {
        agent.run_failing(command);
    }
    agent.run_failing("ls");
    let shown = || {
        let status = project.run(&["status"]).stdout;
        let lines = status.lines().filter(|line| line.contains("work/code/"));
        // Replaces the duration of the phase, which depends on the speed of the test.
        let line =
            |line: &str| if line.ends_with("s of 2h") { "  …s of 2h\n".to_owned() } else { format!("{line}\n") };
        lines.map(line).collect::<String>()
    };
    assert_snapshot!(shown(), @"
    work/code/1                  2 of 3 commands in 10m
    work/code/2                  2 of 8 edits in 3m
    work/code/3                  2 of 5 failing commands in 1m
    …s of 2h
    work/code/5                  tokens: unknown
    work/code/6                  commits: unknown
    ");
    // `linchpin continue` resets only the count of the rule that has fired.
    agent.run_failing("cargo build");
    project.run(&["continue"]);
    assert_snapshot!(shown(), @"
    work/code/1                  0 of 3 commands in 10m
    work/code/2                  2 of 8 edits in 3m
    work/code/3                  2 of 5 failing commands in 1m
    …s of 2h
    work/code/5                  tokens: unknown
    work/code/6                  commits: unknown
    ");
}

/// A gate can depend on the commands that any session has run since the phase began, and on whether they succeeded.
#[test]
fn gates_see_the_commands_of_a_phase() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nclaims: [needs_rework]\nnodes:\n  code: {prompt: Code., requires: [\"command_succeeded('^cargo \
         test')\"], transitions: [{when: code_complete, to: review}]}\n  review: {prompt: Review., requires: [\"not \
         command_ran('^cargo')\"], transitions: [{when: needs_rework, to: code}, {when: review_complete, to: done}]}\n",
    );
    let mut agent = project.agent();
    // This command runs before the phase begins, so the gate does not count it.
    agent.run("cargo test");
    project.run(&["start", "work"]);
    assert_snapshot!(agent.linchpin(&["next"]).transcript(), @"
    exit 1
    --- stdout
    Still at `code`: its gates are not met.

    - code/1: `command_succeeded('^cargo test')` is not true
    --- stderr
    ");
    agent.run_failing("cargo test");
    agent.run("cargo test | tail -5");
    agent.run("cargo test || true");
    agent.run("echo 'cargo test'");
    assert_eq!(agent.linchpin(&["next"]).code, Some(1));
    // The commands of every session count, whichever session runs `linchpin next`.
    project.agent_session("session-2").run("cd api && cargo test -q");
    assert_eq!(agent.linchpin(&["next"]).stdout, "Review.\n");
    // Only commands since the last move count, also in a second visit of the phase.
    assert_eq!(agent.linchpin(&["next", "needs_rework"]).stdout, "Code.\n");
    assert_eq!(agent.linchpin(&["next"]).code, Some(1));
    agent.run("cargo test");
    assert_eq!(agent.linchpin(&["next"]).stdout, "Review.\n");
    agent.run_failing("cargo build");
    assert_eq!(agent.linchpin(&["next"]).code, Some(1));
}

/// For a rule of a workflow, `command_ran` and `command_succeeded` are about the commands of the phase, in any session.
/// For a rule in `rules/`, they are about the commands of the session.
#[test]
fn rules_see_the_commands_of_a_phase() {
    let project = project();
    project.rule(
        "session",
        "---\ncommand_pattern: ^git push\nwhen: \"not command_ran('^make check')\"\n---\nCheck first.\n",
    );
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nrules: [{command_pattern: ^git commit, when: \"not command_succeeded('^make check')\", reason: Check \
         in this phase.}]\nnodes: {code: {prompt: Code., transitions: [{when: code_complete, to: done}]}}\n",
    );
    let mut agent = project.agent();
    agent.run("make check");
    project.run(&["start", "work"]);
    assert_eq!(agent.before("git push").decision(), "allow");
    assert_eq!(agent.before("git commit").decision(), "deny");
    project.agent_session("session-2").run("make check");
    assert_eq!(agent.before("git commit").decision(), "allow");
}

#[test]
fn a_patch_in_a_shell_is_a_command_and_an_edit_of_the_phase() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: '{{ phase.commands }} and {{ phase.edits }}', transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    project.run(&["start", "work"]);
    call_with_patch(&project, "Bash", "call-1", &["src/a.rs", "src/b.rs"]);
    assert_eq!(project.run(&["repeat"]).stdout, "1 and 1\n");
    call_with_patch(&project, "apply_patch", "call-2", &["src/a.rs"]);
    assert_eq!(project.run(&["repeat"]).stdout, "1 and 2\n");
}
