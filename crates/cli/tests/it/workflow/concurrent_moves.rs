//! Moves at the same time as hooks and other moves, and moves whose process is killed.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{with_rules, with_two_nodes};
use crate::project;

#[test]
fn only_one_of_concurrent_moves_succeeds() {
    let project = with_rules("      []");
    project.run(&["start", "work"]);
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = project.command(&["next", "code_complete", "--json"]);
            command.stdout(Stdio::piped()).spawn().expect("the program runs")
        })
        .collect();
    let answers: Vec<Value> = children
        .into_iter()
        .map(|child| serde_json::from_slice(&child.wait_with_output().expect("an end").stdout).expect("JSON"))
        .collect();
    let moved = answers.iter().filter(|answer| answer["moved"] == true).count();
    assert_eq!(moved, 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer["moved"] != true) {
        let is_explained =
            answer["error"]["kind"] == "Moved" || answer["claims"] == json!(["review_complete", "needs_rework"]);
        assert!(is_explained, "{answer}");
    }
    assert_eq!(project.run(&["repeat"]).stdout, "Review it.\n");
}

#[test]
fn a_move_succeeds_while_hooks_write() {
    let project = with_two_nodes("", "    requires: [{command: [sleep, '1'], timeout: 30s}]");
    project.git(&["init", "-q"]);
    project.run(&["trust", "--yes"]);
    project.run(&["start", "work"]);
    let mut next = project.command(&["next"]);
    let child = next.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let mut agent = project.agent();
    for _ in 0..5 {
        agent.run("ls");
        thread::sleep(Duration::from_millis(100));
    }
    let output = child.wait_with_output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Review.\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn abort_succeeds_while_hooks_write() {
    let project = with_two_nodes("", "");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for session in ["one", "two", "three"] {
            let (project, is_over) = (&project, &is_over);
            scope.spawn(move || {
                let mut agent = project.agent_session(session);
                while !is_over.load(Ordering::Relaxed) {
                    agent.run("ls");
                }
            });
        }
        let rounds = (0..20).map(|_| {
            project.run(&["start", "work"]);
            thread::sleep(Duration::from_millis(20));
            project.run(&["abort"])
        });
        let refused = rounds.filter(|abort| abort.code != Some(0)).map(|abort| abort.transcript()).next();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(refused, None);
    });
}

const WORKFLOW: &str = "start_node: one\nvariables: {visits: 0}\nnodes:\n  \
    one: {prompt: 'One, {{ visits }}.', on_exit: [{set: {visits: '{{ visits + 1 }}'}}], transitions: [{when: one_complete, to: two}]}\n  \
    two: {prompt: 'Two, {{ visits }}.', transitions: [{when: two_complete, to: one}]}\n";

#[test]
fn a_killed_move_is_atomic() {
    let project = project();
    project.file(".linchpin/workflows/work.yml", WORKFLOW);
    assert_eq!(project.run(&["start", "work"]).stdout, "One, 0.\n");
    let status = || project.run(&["status", "--json"]).json()["workflow"].clone();
    let mut counts = [0, 0];
    for round in 0..60_u64 {
        let before = status();
        let mut next = project.command(&["next"]);
        let mut child = next.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
        // Each round kills the process a little later: in the first rounds before it has opened any file, in the last
        // rounds after it has ended.
        thread::sleep(Duration::from_micros(round * 700));
        if round >= 57 {
            child.wait().expect("an end");
        }
        child.kill().expect("killed, or at its end");
        child.wait().expect("an end");
        let after = status();
        let history = |status: &Value| status["history"].as_array().map_or(0, Vec::len);
        let has_moved = before["node"] != after["node"];
        counts[usize::from(has_moved)] += 1;
        assert_eq!(history(&after), history(&before) + usize::from(has_moved), "{before} {after}");
        // The `on_exit` actions of the node `one` ran exactly once for each move that was made.
        let name = if after["node"] == "one" { "One" } else { "Two" };
        let visits = after["history"].as_array().into_iter().flatten().filter(|visit| visit["node"] == "two").count();
        assert_eq!(project.run(&["repeat"]).stdout, format!("{name}, {visits}.\n"));
    }
    assert!(counts.iter().all(|count| *count > 0), "killed too late or too early each time: {counts:?}");
}
