//! Workflows beside everything else: rules of the project, sessions that go on meanwhile, files that break.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use testkit::Scratch;

use crate::project;

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

#[test]
fn a_move_is_made_though_hooks_write_meanwhile() {
    let scratch = two_nodes("", "    requires: [{command: [sleep, '1'], timeout: 30s}]");
    scratch.git(&["init", "-q"]);
    scratch.run(&["trust", "--yes"]);
    scratch.run(&["start", "work"]);
    let mut next = scratch.command(&["next"]);
    let child = next.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let mut agent = scratch.agent();
    for _ in 0..5 {
        agent.run("ls");
        thread::sleep(Duration::from_millis(100));
    }
    let output = child.wait_with_output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Review.\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_workflow_is_left_though_hooks_write_meanwhile() {
    let scratch = two_nodes("", "");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for session in ["one", "two", "three"] {
            let (scratch, is_over) = (&scratch, &is_over);
            scope.spawn(move || {
                let mut agent = scratch.agent_session(session);
                while !is_over.load(Ordering::Relaxed) {
                    agent.run("ls");
                }
            });
        }
        let rounds = (0..20).map(|_| {
            scratch.run(&["start", "work"]);
            thread::sleep(Duration::from_millis(20));
            scratch.run(&["abort"])
        });
        let refused = rounds.filter(|abort| abort.code != Some(0)).map(|abort| abort.transcript()).next();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(refused, None);
    });
}

#[test]
fn the_way_back_leads_to_where_the_work_came_from() {
    let scratch = with_workflow(
        "start_node: a\nnodes:\n  a: {prompt: A., transitions: [{when: a_complete, to: b}]}\n  b: {prompt: B., transitions: \
         [{when: b_complete, to: c}]}\n  c: {prompt: C., transitions: [{when: c_complete, to: done}]}\n",
    );
    let said = |command: &str| scratch.run(&[command]).stdout;
    scratch.run(&["start", "work"]);
    assert_eq!(["next", "next", "prev", "prev"].map(said), ["B.\n", "C.\n", "B.\n", "A.\n"]);
    assert_eq!(scratch.run(&["prev"]).code, Some(2));
    assert_eq!(["next", "prev", "next", "next", "prev"].map(said), ["B.\n", "A.\n", "B.\n", "C.\n", "B.\n"]);
}

#[test]
fn a_call_that_a_person_let_through_counts() {
    let scratch =
        two_nodes("", "    rules: [{repeated_command: {pattern: danger, threshold: 1, window: 600}, live: off}]");
    scratch.rule("no-danger", "---\ncommand_pattern: danger\n---\nNo.\n");
    scratch.run(&["start", "work"]);
    let refused = scratch.hook("claude", &scratch.bash("danger"));
    let reason = refused.reason();
    let number = reason.rsplit_once("linchpin allow ").expect("a number").1.trim_end_matches('`').to_owned();
    assert_eq!(scratch.run(&["allow", &number, "--yes"]).code, Some(0));
    assert_eq!(scratch.hook("claude", &scratch.bash("danger")).decision(), "allow");
    assert_eq!(scratch.run(&["next"]).code, Some(3));
}

#[test]
fn rules_of_a_workflow_may_ask_about_those_of_the_project() {
    let rule = "{on: stop, when: \"not file_rule_met('docs')\", reason: Docs first.}";
    let scratch = two_nodes("", &format!("    rules: [{rule}]"));
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    scratch.rule("docs", "---\ntrigger: 'src/**'\nsafety: README.md\naction: warn\n---\nLook.\n");
    scratch.run(&["start", "work"]);
    let stop = || scratch.hook("claude", &scratch.event("Stop", &json!({"stop_hook_active": false}))).stdout;
    assert_eq!(stop(), "");
    scratch.file("src/a.rs", "a");
    let held = stop();
    assert!(held.contains("Docs first.") && !held.contains("at fault"), "{held}");
}

#[test]
fn a_rule_of_a_workflow_compares_with_the_prompt() {
    let rule = "{set: ['src/{p}.rs', 'tests/{p}.rs'], compare_to: prompt, attribute: tree, reason: Both.}";
    let scratch = two_nodes("", &format!("    rules: [{rule}]"));
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    scratch.run(&["start", "work"]);
    // Work that was there before the prompt is not asked about.
    scratch.file("src/a.rs", "a");
    scratch.hook("claude", &scratch.event("UserPromptSubmit", &json!({"prompt": "go on"})));
    let stop = || scratch.hook("claude", &scratch.event("Stop", &json!({"stop_hook_active": false}))).stdout;
    assert_eq!(stop(), "");
    scratch.file("src/b.rs", "b");
    let held = stop();
    assert!(held.contains("src/b.rs → tests/b.rs") && !held.contains("src/a.rs"), "{held}");
}

#[test]
fn a_file_that_breaks_under_way_is_told() {
    let scratch = two_nodes("", "    rules: [{tools: [WebFetch], reason: Not now.}]");
    scratch.run(&["start", "work"]);
    let fetch = || scratch.hook("claude", &scratch.tool("WebFetch", &json!({"url": "https://example.com"})));
    assert_eq!(fetch().decision(), "deny");
    scratch.file(".linchpin/workflows/work.yml", "start_node: [");
    // It counts as it last was, and a new session is told.
    assert_eq!(fetch().decision(), "deny");
    let mut begin = scratch.event("SessionStart", &json!({"source": "startup"}));
    begin["session_id"] = json!("session-2");
    assert_snapshot!(scratch.hook("claude", &begin).stdout);
}

#[test]
fn a_journal_that_is_gone_is_told() {
    let scratch = two_nodes("", "    blocked_commands: [make]");
    scratch.run(&["start", "work"]);
    for side in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(scratch.root().join(format!(".linchpin/state.db{side}")));
    }
    let reply = scratch.hook("claude", &scratch.bash("make"));
    assert!(reply.stdout.contains("was made anew, and what it kept is gone"), "{}", reply.transcript());
}

#[test]
fn variables_of_a_session_at_a_move() {
    let scratch = with_workflow(
        "start_node: a\nnodes:\n  a: {prompt: A., on_exit: [{set: {mood: left}}], transitions: [{when: a_complete, to: b}]}\n  \
         b: {prompt: 'B {{ variables.mood }} {{ variables.place }}.', on_enter: [{set: {place: here}}], transitions: [{when: \
         b_complete, to: done}]}\n",
    );
    scratch.config("variables: {mood: none, place: none}\n");
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.run("ls");
    assert_eq!(scratch.run(&["next", "--session", "session-1"]).stdout, "B left here.\n");
    assert_eq!(agent.linchpin(&["repeat"]).stdout, "B left here.\n");
    // Where no session is known, nobody's variable is set, and that is said.
    scratch.run(&["prev"]);
    assert_snapshot!(scratch.run(&["next"]).stdout, @"
    `on_exit` of workflow `work` did not set `mood`: variables of a session are needed, and it is not known which session runs this command. Name it: `linchpin next --session ID`
    `on_enter` of workflow `work` did not set `place`: variables of a session are needed, and it is not known which session runs this command. Name it: `linchpin next --session ID`
    B none none.
    ");
}

#[test]
fn a_trigger_sets_what_an_observer_set_before_it() {
    let scratch = two_nodes("triggers: {before_tool: [{set: {seen: '{{ variables.seen }}+trigger'}}]}", "");
    scratch
        .config("variables: {seen: none}\nobservers: [{name: o, on: before_tool, match: {}, set: {seen: observer}}]\n");
    scratch.run(&["start", "work"]);
    scratch.agent().run("ls");
    let variables = scratch.run(&["status", "--json"]).json()["session"]["variables"].clone();
    assert_eq!(variables["seen"], "observer+trigger", "{variables}");
}

#[test]
fn a_way_that_cannot_be_evaluated_is_told() {
    let scratch = with_workflow(
        "start_node: a\nvariables: {name: null}\nnodes:\n  a: {prompt: A., transitions: [{when: 'name + 1 > 1', to: b}, {when: \
         a_complete, to: done}]}\n  b: {prompt: B., transitions: [{when: b_complete, to: done}]}\n",
    );
    scratch.run(&["start", "work"]);
    assert_snapshot!(scratch.run(&["next"]).transcript());
}
