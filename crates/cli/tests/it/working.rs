//! Workflows at work: moves, interrupts, and what holds on a node, through the built binary.

use insta::assert_snapshot;
use serde_json::{Value, json};
use testkit::{AgentSession, Scratch};

use crate::pace::{patch, timeless};
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

#[test]
fn every_session_of_the_project_counts() {
    let scratch = with_rules(BUILDS);
    scratch.run(&["start", "work"]);
    for session in ["session-1", "session-2", "session-3"] {
        let mut agent = scratch.agent_session(session);
        agent.fail("cargo build");
    }
    assert_eq!(scratch.agent().linchpin(&["next"]).code, Some(3));
}

#[test]
fn live_block_holds_on_a_node_and_goes_with_continue() {
    let scratch = with_rules(
        "      - repeated_command: {pattern: make, threshold: 2, window: 600}\n        live: block\n        reason: Think.",
    );
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.fail("make");
    agent.fail("make");
    let refused = agent.before("make");
    assert_eq!(refused.decision(), "deny");
    assert!(refused.reason().contains("It returns the normal CODE phase prompt"), "{}", refused.reason());
    assert!(refused.reason().contains("Suggestion: Think.\n"), "{}", refused.reason());
    assert_eq!(agent.before("linchpin continue").decision(), "allow");
    assert_eq!(agent.linchpin(&["continue"]).stdout, "Write the code.\n");
    assert_eq!(agent.before("make").decision(), "allow");
}

#[test]
fn rules_of_a_node_hold_while_it_is_current() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: plan\nrule_definitions: {no-danger: {command_pattern: '^danger', reason: Not now.}}\nrules: \
         [{tools: [WebFetch], reason: No network.}]\nnodes:\n  plan: {prompt: Plan., rules: [no-danger], transitions: \
         [{when: plan_complete, to: code}]}\n  code: {prompt: Code., transitions: [{when: code_complete, to: done}]}\n",
    );
    let mut agent = scratch.agent();
    assert_eq!(agent.before("danger").decision(), "allow");
    scratch.run(&["start", "work"]);
    assert_eq!(
        agent.before("danger").reason().lines().next(),
        Some("Blocked by Linchpin rule `work/no-danger`: Not now. (It is about `danger`.)")
    );
    let fetch =
        |agent: &AgentSession| agent.hook("PreToolUse", "WebFetch", &json!({"url": "https://example.com"}), &json!({}));
    assert_eq!(fetch(&agent).decision(), "deny");
    agent.linchpin(&["next"]);
    assert_eq!(agent.before("danger").decision(), "allow");
    assert_eq!(fetch(&agent).decision(), "deny");
    agent.linchpin(&["next"]);
    assert_eq!(fetch(&agent).decision(), "allow");
}

#[test]
fn variables_observers_actions_and_gates() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nvariables: {tests_ran: false, rounds: 0}\nobservers:\n  - {name: ran, on: after_tool, match: \
         {command_pattern: '^cargo test', outcome: ok}, set: {tests_ran: true}}\nnodes:\n  code:\n    prompt: 'Code, round \
         {{ variables.rounds }}, visit {{ phase.visit }} of {{ workflow.history }}.'\n    on_enter: [{set: {tests_ran: false, \
         rounds: '{{ rounds + 1 }}'}}]\n    requires: [tests_ran, 'phase.commands >= 1']\n    transitions: [{when: \
         'claims.code_complete', to: review}]\n  review: {prompt: Review., transitions: [{when: review_complete, to: code}, \
         {when: code_complete, to: done}]}\n",
    );
    assert_eq!(scratch.run(&["start", "work"]).stdout, "Code, round 1, visit 1 of ['code'].\n");
    let mut agent = scratch.agent();
    assert_snapshot!(agent.linchpin(&["next"]).transcript(), @"
    exit 1
    --- stdout
    Still at `code`: what has to hold before it can be left does not.

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
fn file_rules_as_a_gate() {
    let scratch = project();
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.file("src/a.rs", "a").file("tests/a_test.rs", "a");
    scratch.git(&["add", "."]);
    scratch.git(&["commit", "-q", "-m", "first"]);
    scratch
        .rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}_test.rs']\nattribute: tree\n---\nChange both.\n");
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [pairing]}], transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    scratch.run(&["start", "work"]);
    scratch.file("src/a.rs", "b");
    assert_snapshot!(scratch.run(&["next"]).transcript(), @r#"
    exit 1
    --- stdout
    Still at `code`: what has to hold before it can be left does not.

    - code/1: ## pairing
    src/a.rs → tests/a_test.rs

    Change both.

    Where `pairing` does not apply: `linchpin ack pairing --reason "…"`.
    --- stderr
    "#);
    scratch.file("tests/a_test.rs", "b");
    assert_eq!(scratch.run(&["next"]).code, Some(0));
}

#[test]
fn file_rules_as_a_gate_do_not_tire() {
    for key in ["action: warn", "max_holds: 0"] {
        let scratch = project();
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        scratch.rule("docs", &format!("---\ntrigger: 'src/**'\nsafety: README.md\n{key}\n---\nLook.\n"));
        scratch.file(
            ".linchpin/workflows/work.yml",
            "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [docs]}], transitions: [{when: \
             code_complete, to: done}]}\n",
        );
        scratch.run(&["start", "work"]);
        scratch.file("src/a.rs", "b");
        // Said once, and then no more.
        for said in [true, false] {
            let stop = scratch.hook("claude", &scratch.event("Stop", &json!({"stop_hook_active": false})));
            assert_eq!(stop.stdout.contains("Look."), said, "{key}: {}", stop.stdout);
        }
        assert_eq!(scratch.run(&["next"]).code, Some(1), "{key}");
        scratch.run(&["ack", "docs", "--reason", "no change of behaviour"]);
        assert_eq!(scratch.run(&["next"]).code, Some(0), "{key}");
    }
}

#[test]
fn commits_are_required() {
    let scratch = with_rules("      - require_commits: {lookback_phases: 1}");
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "long ago"]);
    scratch.run(&["start", "work"]);
    let told = scratch.run(&["next"]);
    assert_eq!(told.code, Some(3), "{}", told.transcript());
    assert!(told.stdout.contains("Diagnostic: No commit was made in the CODE phase\nPhases looked at: CODE\n"));
    let mut commit = scratch.git_command(&["commit", "-q", "--allow-empty", "-m", "now"]);
    commit.env_remove("GIT_COMMITTER_DATE").env_remove("GIT_AUTHOR_DATE");
    assert!(commit.status().expect("git runs").success());
    assert_eq!(scratch.run(&["next"]).code, Some(0));
}

#[test]
fn a_commit_from_before_the_start_does_not_count() {
    let scratch = with_rules("      - require_commits: {lookback_phases: 1}");
    scratch.git(&["init", "-q", "-b", "main"]);
    let commit_now = |message: &str| {
        let mut commit = scratch.git_command(&["commit", "-q", "--allow-empty", "-m", message]);
        commit.env_remove("GIT_COMMITTER_DATE").env_remove("GIT_AUTHOR_DATE");
        assert!(commit.status().expect("git runs").success());
    };
    // In the same second as the start, as far as git can tell.
    commit_now("just before");
    scratch.run(&["start", "work"]);
    begin_phases_earlier(&scratch, 10_000);
    assert_eq!(scratch.run(&["next"]).code, Some(3));
    commit_now("since then");
    assert_eq!(scratch.run(&["next"]).code, Some(0));
}

#[test]
fn commits_of_a_phase_in_an_expression() {
    let scratch = project();
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., requires: ['phase.commits >= 1'], transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    scratch.run(&["start", "work"]);
    assert_eq!(scratch.run(&["next"]).code, Some(1));
    let mut commit = scratch.git_command(&["commit", "-q", "--allow-empty", "-m", "now"]);
    commit.env_remove("GIT_COMMITTER_DATE").env_remove("GIT_AUTHOR_DATE");
    assert!(commit.status().expect("git runs").success());
    assert_eq!(scratch.run(&["next"]).code, Some(0));
}

#[test]
fn people_pass_over_rules_and_agents_do_not() {
    let scratch = with_rules(BUILDS);
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    for _ in 0..3 {
        agent.fail("cargo build");
    }
    assert_eq!(agent.linchpin(&["next", "--force-all"]).code, Some(2));
    assert_snapshot!(scratch.run(&["next", "--force", "token_budget"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: no rule at `code` is called `token_budget`
    help: its pace rules are work/code/1
    ");
    assert_eq!(scratch.run(&["next", "--force", "repeated_command"]).code, Some(0));
    assert_snapshot!(agent.linchpin(&["abort"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `abort` is not for agents here
    help: a person can do it; `agent_may: [abort, …]` in config.yml lets agents do it too, in a repository's once you run `linchpin trust`
    ");
    assert_eq!(scratch.run(&["abort"]).code, Some(0));
}

#[test]
fn a_session_that_has_ended_makes_no_move() {
    for (event, by) in [
        (None, "agent"),
        (Some("Stop"), "person"),
        (Some("UserPromptSubmit"), "person"),
        (Some("SessionEnd"), "person"),
    ] {
        let scratch = with_rules(BUILDS);
        scratch.run(&["start", "work"]);
        // The call waits for `linchpin next`, and its end is never told.
        scratch.agent().before("linchpin next");
        if let Some(event) = event {
            scratch.hook("claude", &scratch.event(event, &json!({"prompt": "Go on.", "reason": "other"})));
        }
        assert_eq!(scratch.run(&["next"]).code, Some(0));
        let log = scratch.run(&["log"]).stdout;
        assert!(log.contains(&format!("move work: code → review, by the {by}")), "{event:?}: {log}");
    }
}

#[test]
fn continue_outside_of_a_workflow_counts_the_session_afresh() {
    let scratch = project();
    scratch.rule("circles", "---\nrepeated_command: {pattern: make, threshold: 2, window: 600}\nlive: block\n---\n");
    let mut agent = scratch.agent();
    assert_eq!(agent.linchpin(&["continue"]).code, Some(2));
    agent.fail("make");
    agent.fail("make");
    assert_eq!(agent.before("make").decision(), "deny");
    assert_snapshot!(agent.linchpin(&["continue"]).transcript(), @"
    exit 0
    --- stdout
    Noted. What these rules count begins again: circles.
    --- stderr
    ");
    assert_eq!(agent.before("make").decision(), "allow");
    assert_eq!(agent.linchpin(&["continue"]).code, Some(2));
}

#[test]
fn continue_is_a_persons_where_a_rule_says_so() {
    let scratch = with_rules("      - {type: repeated_command, threshold: 1, window: 60, ack: human}");
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.run("make");
    assert_snapshot!(agent.linchpin(&["continue"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: only a person may go on past rule `work/code/1` (`ack: human`)
    help: say what you tried and why you are stuck, and wait
    ");
    assert_snapshot!(timeless(&agent.linchpin(&["next"]).stdout), @"
    🚨 WORKFLOW INTERRUPT: Repeated Command Detected

    Diagnostic: make executed once in 1m
    Recent executions:
      - HH:MM:SS: make

    Suggestion: The same step keeps being taken, and its result does not move you on. Read the last error from its first line, say what you expect to be different before you run it again, and try the smallest thing that would show whether that is so: one test, one file, one printed value.

    ---

    REFLECT AND DECIDE:

    Only a person can let you go on past this rule.

      - Explain what you tried, and why you are stuck
      - Say briefly what you would do differently
      - Ask them to run: linchpin continue
      - Wait for their answer before you go on
    ");
    assert_eq!(scratch.run(&["continue"]).code, Some(0));
}

#[test]
fn continue_does_not_stand_for_a_commit_that_nobody_was_asked_for() {
    let scratch =
        with_rules("      - require_commits: {lookback_phases: 1}\n      - phase_timeout: {max_duration: 300}");
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "long ago"]);
    scratch.run(&["start", "work"]);
    assert_eq!(scratch.run(&["continue"]).code, Some(0));
    for _ in 0..2 {
        let told = scratch.run(&["next"]);
        assert_eq!(told.code, Some(3));
        assert!(told.stdout.contains("No commit was made in the CODE phase"), "{}", told.stdout);
    }
    assert_eq!(scratch.run(&["continue"]).code, Some(0));
    assert_eq!(scratch.run(&["next"]).stdout, "Review it.\n");
    // Another visit asks again.
    scratch.run(&["next", "needs_rework"]);
    assert_eq!(scratch.run(&["continue"]).code, Some(0));
    assert_eq!(scratch.run(&["next"]).code, Some(3));
}

#[test]
fn the_status_shows_how_near_each_rule_is() {
    let scratch = with_rules(&format!(
        "{BUILDS}\n      - repeated_file_edit: {{threshold: 8, window: 180}}\n      - repeated_command: {{threshold: 5, \
         window: 60, failures_only: true}}\n      - phase_timeout: {{max_duration: 2h}}\n      - token_budget: \
         {{max_tokens: 5000}}\n      - require_commits: {{lookback_phases: 1}}"
    ));
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    for path in ["src/a.rs", "src/b.rs", "src/b.rs", "src/c.rs"] {
        agent.edit(path);
    }
    for command in ["cargo build", "ls", "cargo test"] {
        agent.fail(command);
    }
    agent.fail("ls");
    let shown = || {
        let status = scratch.run(&["status"]).stdout;
        let lines = status.lines().filter(|line| line.contains("work/code/"));
        // How long the test takes is no matter here.
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
    // Only the rule that has fired counts afresh.
    agent.fail("cargo build");
    scratch.run(&["continue"]);
    assert_snapshot!(shown(), @"
    work/code/1                  0 of 3 commands in 10m
    work/code/2                  2 of 8 edits in 3m
    work/code/3                  2 of 5 failing commands in 1m
    …s of 2h
    work/code/5                  tokens: unknown
    work/code/6                  commits: unknown
    ");
}

#[test]
fn continue_says_so_where_no_rule_has_fired_and_passes_nothing() {
    let scratch = with_rules("      - phase_timeout: {max_duration: 300}");
    scratch.run(&["start", "work"]);
    assert_snapshot!(scratch.run(&["continue"]).transcript(), @"
    exit 0
    --- stdout
    No pace rule has fired at `code`, so there is nothing to go past.
    Write the code.
    --- stderr
    ");
    begin_phases_earlier(&scratch, 310_000);
    assert_eq!(scratch.run(&["next"]).code, Some(3));
}

#[test]
fn continue_lets_the_time_of_a_phase_be_used_up_once_more() {
    let scratch = with_rules("      - {type: phase_timeout, max_duration: 300, live: off}");
    scratch.run(&["start", "work"]);
    begin_phases_earlier(&scratch, 400_000);
    // Nobody was told yet.
    let early = scratch.run(&["continue"]).stdout;
    assert!(early.starts_with("No pace rule has fired"), "{early}");
    assert_eq!(scratch.run(&["next"]).code, Some(3));
    assert_eq!(scratch.run(&["continue"]).stdout, "Write the code.\n");
    begin_phases_earlier(&scratch, 310_000);
    let told = scratch.run(&["next"]);
    assert_eq!(told.code, Some(3));
    assert!(told.stdout.contains("Diagnostic: CODE phase running for 11m 5"), "{}", told.stdout);
    assert_eq!(scratch.run(&["continue"]).stdout, "Write the code.\n");
    assert_eq!(scratch.run(&["next"]).stdout, "Review it.\n");
}

#[test]
fn what_an_earlier_version_set_aside_stays_so_until_the_next_move() {
    let scratch =
        with_rules("      - phase_timeout: {max_duration: 300}\n      - require_commits: {lookback_phases: 1}");
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "long ago"]);
    scratch.run(&["start", "work"]);
    begin_phases_earlier(&scratch, 400_000);
    change_position(&scratch, |position| {
        position["continued"] = json!(1);
        position["is_past_totals"] = json!(true);
        position["is_past_commits"] = json!(true);
    });
    assert_eq!(scratch.run(&["next"]).stdout, "Review it.\n");
}

#[test]
fn a_patch_that_makes_it_too_many_is_seen_by_the_next_move() {
    let scratch = with_rules("      - repeated_file_edit: {path_pattern: '^src/', threshold: 3, window: 600}");
    scratch.run(&["start", "work"]);
    patch(&scratch, "apply_patch", "call-1", &["src/a.rs", "src/b.rs", "src/c.rs"]);
    let told = scratch.run(&["next"]);
    assert_eq!(told.code, Some(3));
    assert!(told.stdout.contains("Diagnostic: ^src/ matched 3 edits in 10m"), "{}", told.stdout);
}

#[test]
fn what_was_too_many_before_counts_once_at_a_move() {
    let scratch = with_rules("      - repeated_file_edit: {threshold: 2, window: 600}");
    scratch.run(&["start", "work"]);
    let calls =
        [&["src/a.rs"][..], &["src/a.rs"], &["src/b.rs"], &["src/b.rs"], &["src/c.rs"], &["src/a.rs", "src/c.rs"]];
    for (paths, number) in calls.into_iter().zip(1..) {
        patch(&scratch, "apply_patch", &format!("call-{number}"), paths);
    }
    let told = scratch.run(&["next"]);
    assert!(told.stdout.contains("Diagnostic: src/a.rs edited 3 times in 10m"), "{}", told.stdout);
}

#[test]
fn a_workflow_that_changed_under_way() {
    let scratch = with_rules(BUILDS);
    scratch.run(&["start", "work"]);
    let file = ".linchpin/workflows/work.yml";
    scratch.file(
        file,
        "start_node: other\nnodes:\n  other: {prompt: Other., transitions: [{when: other_complete, to: done}]}\n",
    );
    assert_snapshot!(scratch.run(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: workflow `work` has no node `code`
    help: the nodes are other
    ");
    assert_snapshot!(scratch.run(&["continue", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"NodeNotFound","message":"workflow `work` has no node `code`","node":"code","help":"the nodes are other"}}
    --- stderr
    "#);
    scratch.file(file, "start_node: [");
    assert_snapshot!(scratch.run(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: workflow `work` is at `code` and cannot be moved, because its file has an error; its rules count as they last were: .linchpin/workflows/work.yml:1:13: invalid YAML: unclosed bracket '['
    help: mend the file (`linchpin validate` shows all that is wrong), or leave with `linchpin abort`
    ");
    assert_eq!(scratch.run(&["abort"]).code, Some(0));
}

#[test]
fn of_two_that_move_at_once_one_moves() {
    let scratch = with_rules("      []");
    scratch.run(&["start", "work"]);
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = scratch.command(&["next", "code_complete", "--json"]);
            command.stdout(std::process::Stdio::piped()).spawn().expect("the program runs")
        })
        .collect();
    let answers: Vec<Value> = children
        .into_iter()
        .map(|child| serde_json::from_slice(&child.wait_with_output().expect("an end").stdout).expect("JSON"))
        .collect();
    let moved = answers.iter().filter(|answer| answer["moved"] == true).count();
    assert_eq!(moved, 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer["moved"] != true) {
        let is_told =
            answer["error"]["kind"] == "Moved" || answer["claims"] == json!(["review_complete", "needs_rework"]);
        assert!(is_told, "{answer}");
    }
    assert_eq!(scratch.run(&["repeat"]).stdout, "Review it.\n");
}

/// A gate asks what any session ran in this visit, and how it ended.
#[test]
fn commands_of_a_phase_in_a_gate() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nclaims: [needs_rework]\nnodes:\n  code: {prompt: Code., requires: [\"command_succeeded('^cargo \
         test')\"], transitions: [{when: code_complete, to: review}]}\n  review: {prompt: Review., requires: [\"not \
         command_ran('^cargo')\"], transitions: [{when: needs_rework, to: code}, {when: review_complete, to: done}]}\n",
    );
    let mut agent = scratch.agent();
    // Before the phase.
    agent.run("cargo test");
    scratch.run(&["start", "work"]);
    assert_snapshot!(agent.linchpin(&["next"]).transcript(), @"
    exit 1
    --- stdout
    Still at `code`: what has to hold before it can be left does not.

    - code/1: `command_succeeded('^cargo test')` is not true
    --- stderr
    ");
    agent.fail("cargo test");
    agent.run("cargo test | tail -5");
    agent.run("cargo test || true");
    agent.run("echo 'cargo test'");
    assert_eq!(agent.linchpin(&["next"]).code, Some(1));
    // Whichever session it was, and whoever moves.
    scratch.agent_session("session-2").run("cd api && cargo test -q");
    assert_eq!(agent.linchpin(&["next"]).stdout, "Review.\n");
    // Another phase begins with nothing, and a second visit too.
    assert_eq!(agent.linchpin(&["next", "needs_rework"]).stdout, "Code.\n");
    assert_eq!(agent.linchpin(&["next"]).code, Some(1));
    agent.run("cargo test");
    assert_eq!(agent.linchpin(&["next"]).stdout, "Review.\n");
    agent.fail("cargo build");
    assert_eq!(agent.linchpin(&["next"]).code, Some(1));
}

/// The same in a rule of a node. One of `rules/` looks at the session.
#[test]
fn commands_of_a_phase_in_a_rule() {
    let scratch = project();
    scratch.rule(
        "session",
        "---\ncommand_pattern: ^git push\nwhen: \"not command_ran('^make check')\"\n---\nCheck first.\n",
    );
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nrules: [{command_pattern: ^git commit, when: \"not command_succeeded('^make check')\", reason: Check \
         in this phase.}]\nnodes: {code: {prompt: Code., transitions: [{when: code_complete, to: done}]}}\n",
    );
    let mut agent = scratch.agent();
    agent.run("make check");
    scratch.run(&["start", "work"]);
    assert_eq!(agent.before("git push").decision(), "allow");
    assert_eq!(agent.before("git commit").decision(), "deny");
    scratch.agent_session("session-2").run("make check");
    assert_eq!(agent.before("git commit").decision(), "allow");
}

#[test]
fn continue_in_a_workflow_goes_on_past_rules_of_the_session() {
    let scratch = with_rules(BUILDS);
    scratch.rule("circles", "---\nrepeated_command: {pattern: make, threshold: 2, window: 600}\nlive: block\n---\n");
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.fail("make");
    agent.fail("make");
    assert_eq!(agent.before("make").decision(), "deny");
    assert_eq!(agent.linchpin(&["continue"]).stdout, "Write the code.\n");
    assert_eq!(agent.before("make").decision(), "allow");
}

#[test]
fn a_patch_in_a_shell_is_a_command_and_an_edit_of_the_phase() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: '{{ phase.commands }} and {{ phase.edits }}', transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    scratch.run(&["start", "work"]);
    patch(&scratch, "Bash", "call-1", &["src/a.rs", "src/b.rs"]);
    assert_eq!(scratch.run(&["repeat"]).stdout, "1 and 1\n");
    patch(&scratch, "apply_patch", "call-2", &["src/a.rs"]);
    assert_eq!(scratch.run(&["repeat"]).stdout, "1 and 2\n");
}

/// Every version of a rule that was judged by stays known, whoever saw it first.
#[test]
fn a_move_keeps_no_version_of_a_rule_from_the_journal() {
    let scratch = with_rules("      []");
    scratch.rule("no-danger", crate::NO_DANGER);
    scratch.run(&["start", "work"]);
    scratch.run(&["next"]);
    assert_eq!(scratch.decision("danger"), "deny");
    let journal = rusqlite::Connection::open(scratch.root().join(".linchpin/state.db")).expect("the journal");
    let versions = "SELECT count(*) FROM state WHERE kind = 'rule' AND name LIKE 'no-danger %'";
    assert_eq!(journal.query_row(versions, [], |row| row.get::<_, i64>(0)), Ok(1));
}

#[test]
fn the_journal_tells_how_it_was_moved() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code:\n    prompt: Code.\n    rules: [{name: builds, repeated_command: {pattern: '^make', \
         threshold: 1, window: 600}}]\n    transitions: [{when: code_complete, to: review}]\n  review:\n    prompt: Review.\n    \
         requires: ['phase.visit > 9', {approval: 'Ship it?'}]\n    transitions: [{when: review_complete, to: done}]\n",
    );
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.run("make");
    agent.linchpin(&["next"]);
    scratch.run(&["next", "--force", "builds"]);
    agent.linchpin(&["next"]);
    let mut approve = scratch.command(&["approve", "--yes"]);
    approve.env("USER", "ada");
    scratch.feed(approve, b"");
    scratch.run(&["prev"]);
    scratch.run(&["next", "--force-all"]);
    scratch.run(&["restart"]);
    scratch.run(&["restart"]);
    agent.run("make");
    agent.linchpin(&["continue"]);
    scratch.run(&["abort"]);
    let log = scratch.run(&["log", "--limit", "0"]).stdout;
    let told: Vec<&str> =
        log.lines().filter(|line| line.starts_with("note")).filter_map(|line| line.get(34..)).collect();
    assert_snapshot!(told.join("\n"), @"
    person start work at code, by the person
    claude held work at code: work/code/builds
    person move work: code → review, forced past builds, by the person
    claude held work at review: review/1, review/2
    person approve work: review/2, by ada
    person move work: review → code, back, by the person
    person move work: code → review, forced past all rules, by the person
    person move work: review → code, restarted, by the person
    person move work: restarted at code, by the person
    claude continue work: past work/code/builds, by the agent
    person abort work at code, by the person
    ");
}

#[test]
fn an_end_that_is_declared_says_its_text_and_is_over() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., transitions: [{when: code_complete, to: done}]}\n  done: {prompt: \
         Write a summary.}\n",
    );
    scratch.run(&["start", "work"]);
    assert_snapshot!(scratch.run(&["next"]).transcript());
    assert_eq!(scratch.run(&["next"]).code, Some(2));
    assert_eq!(scratch.run(&["start", "work"]).code, Some(0));
}

#[test]
fn a_gate_of_file_rules_stays_shut_where_git_cannot_say_what_changed() {
    let scratch = project();
    scratch.git(&["init", "--quiet", "--initial-branch=main"]);
    scratch.rule("pairing", "---\nset: [\"src/{path}.rs\", \"tests/{path}.rs\"]\n---\nChange the test too.\n");
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [pairing]}], transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "--message=first"]);
    scratch.run(&["start", "work"]);
    scratch.git(&["config", "core.repositoryformatversion", "99"]);
    assert_snapshot!(scratch.run(&["next"]).transcript());
}

#[test]
fn rules_of_the_project_know_the_workflow_that_is_active() {
    let scratch = with_rules("      []");
    scratch.rule(
        "code",
        "---\ncommand_pattern: ^danger\nwhen: workflow.name == 'work' and phase.name == 'code'\n---\nNot in code.\n",
    );
    scratch.rule("idle", "---\ncommand_pattern: ^hazard\nwhen: not workflow.active\n---\nStart a workflow.\n");
    scratch.rule("late", "---\ncommand_pattern: ^wait\nwhen: phase.elapsed > 300\n---\nToo late.\n");
    assert_eq!(scratch.run(&["validate"]).code, Some(0));
    let mut agent = scratch.agent();
    let mut decisions = || ["danger", "hazard", "wait"].map(|command| agent.before(command).decision());
    assert_eq!(decisions(), ["allow", "deny", "allow"]);
    scratch.run(&["start", "work"]);
    assert_eq!(decisions(), ["deny", "allow", "allow"]);
    begin_phases_earlier(&scratch, 400_000);
    assert_eq!(decisions(), ["deny", "allow", "deny"]);
    scratch.run(&["next"]);
    assert_eq!(decisions(), ["allow", "allow", "allow"]);
    // A replay knows what was asked for then.
    let replayed = scratch.run(&["replay", "--json"]).json();
    assert_eq!(replayed["summary"]["undecidable"], 0, "{replayed}");
}

#[test]
fn rules_of_the_project_know_the_claims_that_led_to_the_phase() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nclaims: [urgent]\nvariables: {hurried: false}\nnodes:\n  code: {prompt: Code., transitions: [{when: code_complete or urgent, to: \
         review}]}\n  review:\n    prompt: Review.\n    on_enter: [{set: {hurried: true}, when: urgent}]\n    transitions: [{when: \
         review_complete, to: code}]\n",
    );
    scratch.rule("calm", "---\ncommand_pattern: ^deploy\nwhen: claims.urgent\n---\nNot in a hurry.\n");
    assert_eq!(scratch.run(&["validate"]).code, Some(0), "{}", scratch.run(&["validate"]).stdout);
    let mut agent = scratch.agent();
    let mut deploys = || agent.before("deploy").decision();
    assert_eq!(deploys(), "allow");
    scratch.run(&["start", "work"]);
    assert_eq!(deploys(), "allow");
    scratch.run(&["next", "code_complete", "urgent"]);
    assert_eq!(deploys(), "deny");
    assert!(scratch.run(&["log", "--json"]).stdout.contains("hurried"), "`on_enter` knows the claims of the move");
    // A claim of the move before is gone, and going back is no claim.
    scratch.run(&["next"]);
    assert_eq!(deploys(), "allow");
    scratch.run(&["prev"]);
    assert_eq!(deploys(), "allow");
    let replayed = scratch.run(&["replay", "--json"]).json();
    assert_eq!(replayed["summary"]["undecidable"], 0, "{replayed}");
    assert_eq!(replayed["summary"]["changed"], 0, "{replayed}");
    scratch.run(&["abort"]);
    assert_eq!(deploys(), "allow");
}
