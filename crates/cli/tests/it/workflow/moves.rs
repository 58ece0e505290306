//! Moves between nodes: who may make them, what is counted, and what the journal records.

use insta::assert_snapshot;
use serde_json::json;

use super::{BUILDS, with_rules, with_workflow};
use crate::pace::call_with_patch;
use crate::project;

#[test]
fn only_people_may_force_a_move() {
    let project = with_rules(BUILDS);
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    for _ in 0..3 {
        agent.run_failing("cargo build");
    }
    assert_eq!(agent.linchpin(&["next", "--force-all"]).code, Some(2));
    assert_snapshot!(project.run(&["next", "--force", "token_budget"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no rule `token_budget` at `code`
    help: pace rules of this node: `work/code/1`; gates cannot be forced
    ");
    assert_eq!(project.run(&["next", "--force", "repeated_command"]).code, Some(0));
    assert_snapshot!(agent.linchpin(&["abort"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: agents may not run `abort` here
    help: a person can do it; `agent_may: [abort, …]` in config.yml lets agents do it too, in a repository's once you run `linchpin trust`
    ");
    assert_eq!(project.run(&["abort"]).code, Some(0));
}

#[test]
fn a_move_is_attributed_only_to_a_session_with_an_open_call() {
    for (event, by) in
        [(None, ", by the agent"), (Some("Stop"), ""), (Some("UserPromptSubmit"), ""), (Some("SessionEnd"), "")]
    {
        let project = with_rules(BUILDS);
        project.run(&["start", "work"]);
        // Only the hook before the call is run, so the call of `linchpin next` stays open.
        project.agent().before("linchpin next");
        if let Some(event) = event {
            project.hook("claude", &project.event_payload(event, &json!({"prompt": "Go on.", "reason": "other"})));
        }
        assert_eq!(project.run(&["next"]).code, Some(0));
        let log = project.run(&["log"]).stdout;
        assert!(log.contains(&format!("move: workflow `work`, `code` → `review`{by}\n")), "{event:?}: {log}");
    }
}

/// A person cannot be told from an agent whose call of the same command is open.
#[test]
fn an_open_call_of_an_agent_prevents_a_forced_move() {
    let project = with_rules(BUILDS);
    project.run(&["start", "work"]);
    project.agent().before("linchpin next");
    assert_snapshot!(project.run(&["next", "--force-all"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: only people may run `linchpin next --force`, and this may be a call of an agent: session `session-1` of claude has begun a call of the command, and its end was not reported
    help: run it again after that call or that session has ended
    ");
    project.hook("claude", &project.event_payload("SessionEnd", &json!({"reason": "other"})));
    assert_eq!(project.run(&["next", "--force-all"]).code, Some(0));
}

#[test]
fn a_patch_over_the_threshold_interrupts_the_next_move() {
    let project = with_rules("      - repeated_file_edit: {path_pattern: '^src/', threshold: 3, window: 600}");
    project.run(&["start", "work"]);
    call_with_patch(&project, "apply_patch", "call-1", &["src/a.rs", "src/b.rs", "src/c.rs"]);
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(3));
    assert!(reply.stdout.contains("Diagnostic: ^src/ matched 3 edits in 10m"), "{}", reply.stdout);
}

#[test]
fn the_file_with_the_most_edits_is_reported_at_a_move() {
    let project = with_rules("      - repeated_file_edit: {threshold: 2, window: 600}");
    project.run(&["start", "work"]);
    let calls =
        [&["src/a.rs"][..], &["src/a.rs"], &["src/b.rs"], &["src/b.rs"], &["src/c.rs"], &["src/a.rs", "src/c.rs"]];
    for (paths, number) in calls.into_iter().zip(1..) {
        call_with_patch(&project, "apply_patch", &format!("call-{number}"), paths);
    }
    let reply = project.run(&["next"]);
    assert!(reply.stdout.contains("Diagnostic: src/a.rs edited 3 times in 10m"), "{}", reply.stdout);
}

/// Every version of a rule that was in force is recorded in the journal, even if a command such as `linchpin next` read
/// it before any hook did.
#[test]
fn rule_texts_first_read_by_a_move_are_recorded() {
    let project = with_rules("      []");
    project.rule("no-danger", crate::NO_DANGER);
    project.run(&["start", "work"]);
    project.run(&["next"]);
    assert_eq!(project.decision("danger"), "deny");
    let journal = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
    let versions = "SELECT count(*) FROM state WHERE kind = 'rule' AND name LIKE 'no-danger %'";
    assert_eq!(journal.query_row(versions, [], |row| row.get::<_, i64>(0)), Ok(1));
}

#[test]
fn the_journal_records_moves() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code:\n    prompt: Code.\n    rules: [{name: builds, repeated_command: {pattern: '^make', \
         threshold: 1, window: 600}}]\n    transitions: [{when: code_complete, to: review}]\n  review:\n    prompt: Review.\n    \
         requires: ['phase.visit > 9', {approval: 'Ship it?'}]\n    transitions: [{when: review_complete, to: done}]\n",
    );
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    agent.run("make");
    agent.linchpin(&["next"]);
    project.run(&["next", "--force", "builds"]);
    agent.linchpin(&["next"]);
    let mut approve = project.command(&["approve", "--yes"]);
    approve.env("USER", "ada");
    project.run_with_stdin(approve, b"");
    project.run(&["prev"]);
    project.run(&["next", "--force-all"]);
    project.run(&["restart"]);
    project.run(&["restart"]);
    agent.run("make");
    agent.linchpin(&["continue"]);
    project.run(&["abort"]);
    let log = project.run(&["log", "--limit", "0"]).stdout;
    let notes: Vec<&str> =
        log.lines().filter(|line| line.starts_with("note")).filter_map(|line| line.get(34..)).collect();
    assert_snapshot!(notes.join("\n"), @"
    person start: workflow `work`, at `code`
    claude was held: workflow `work` stays at `code` because of `work/code/builds`
    person move: workflow `work`, `code` → `review`, forced past rule `builds`
    claude was held: workflow `work` stays at `review` because of `review/1`, `review/2`
    person approve: workflow `work`, gate `review/2`, by ada
    person move: workflow `work`, `review` → `code`, back
    person move: workflow `work`, `code` → `review`, forced past all rules
    person move: workflow `work`, `review` → `code`, restarted
    person move: workflow `work`, restarted at `code`
    claude continue: workflow `work`, past `work/code/builds`
    person abort: workflow `work`, at `code`
    ");
}

#[test]
fn a_declared_end_node_shows_its_prompt() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., transitions: [{when: code_complete, to: done}]}\n  done: {prompt: \
         Write a summary.}\n",
    );
    project.run(&["start", "work"]);
    assert_snapshot!(project.run(&["next"]).transcript());
    assert_eq!(project.run(&["next"]).code, Some(2));
    assert_eq!(project.run(&["start", "work"]).code, Some(0));
}

#[test]
fn prev_returns_to_the_previous_node() {
    let project = with_workflow(
        "start_node: a\nnodes:\n  a: {prompt: A., transitions: [{when: a_complete, to: b}]}\n  b: {prompt: B., transitions: \
         [{when: b_complete, to: c}]}\n  c: {prompt: C., transitions: [{when: c_complete, to: done}]}\n",
    );
    let output_of = |command: &str| project.run(&[command]).stdout;
    project.run(&["start", "work"]);
    assert_eq!(["next", "next", "prev", "prev"].map(output_of), ["B.\n", "C.\n", "B.\n", "A.\n"]);
    assert_eq!(project.run(&["prev"]).code, Some(2));
    assert_eq!(["next", "prev", "next", "next", "prev"].map(output_of), ["B.\n", "A.\n", "B.\n", "C.\n", "B.\n"]);
}

#[test]
fn moves_set_variables_of_the_session() {
    let project = with_workflow(
        "start_node: a\nnodes:\n  a: {prompt: A., on_exit: [{set: {mood: left}}], transitions: [{when: a_complete, to: b}]}\n  \
         b: {prompt: 'B {{ variables.mood }} {{ variables.place }}.', on_enter: [{set: {place: here}}], transitions: [{when: \
         b_complete, to: done}]}\n",
    );
    project.config("variables: {mood: none, place: none}\n");
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    agent.run("ls");
    assert_eq!(project.run(&["next", "--session", "session-1"]).stdout, "B left here.\n");
    assert_eq!(agent.linchpin(&["repeat"]).stdout, "B left here.\n");
    // If the session is unknown, no variable of a session is set, and the output says so.
    project.run(&["prev"]);
    assert_snapshot!(project.run(&["next"]).stdout, @"
    `on_exit` of workflow `work` did not set `mood`: variables of a session are needed, and Linchpin can't tell which session runs this command. Name it: `linchpin next --session ID`
    `on_enter` of workflow `work` did not set `place`: variables of a session are needed, and Linchpin can't tell which session runs this command. Name it: `linchpin next --session ID`
    B none none.
    ");
}

#[test]
fn on_enter_sees_the_session_variables_that_on_exit_set() {
    let project = with_workflow(
        "start_node: a\nnodes:\n  a: {prompt: A., on_exit: [{set: {count: '{{ count + 1 }}'}}], transitions: [{when: a_complete, \
         to: b}]}\n  b: {prompt: 'B {{ count }}.', on_enter: [{set: {count: '{{ count + 1 }}'}}], transitions: [{when: b_complete, \
         to: done}]}\n",
    );
    project.config("variables: {count: 0}\n");
    project.run(&["start", "work"]);
    project.agent().run("ls");
    assert_eq!(project.run(&["next", "--session", "session-1"]).stdout, "B 2.\n");
}
