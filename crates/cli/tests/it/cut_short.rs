//! A move whose process is killed at any moment leaves the workflow where it was, or where it was going.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::project;

const WORKFLOW: &str = "start_node: one\nvariables: {visits: 0}\nnodes:\n  \
    one: {prompt: 'One, {{ visits }}.', on_exit: [{set: {visits: '{{ visits + 1 }}'}}], transitions: [{when: one_complete, to: two}]}\n  \
    two: {prompt: 'Two, {{ visits }}.', transitions: [{when: two_complete, to: one}]}\n";

#[test]
fn a_move_is_whole_or_none() {
    let scratch = project();
    scratch.file(".linchpin/workflows/work.yml", WORKFLOW);
    assert_eq!(scratch.run(&["start", "work"]).stdout, "One, 0.\n");
    let status = || scratch.run(&["status", "--json"]).json()["workflow"].clone();
    let mut seen = [0, 0];
    for round in 0..60_u64 {
        let before = status();
        let mut move_on = scratch.command(&["next"]);
        let mut child = move_on.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
        // From before it has opened anything to after it has ended.
        thread::sleep(Duration::from_micros(round * 700));
        if round >= 57 {
            child.wait().expect("an end");
        }
        child.kill().expect("killed, or at its end");
        child.wait().expect("an end");
        let after = status();
        let history = |status: &serde_json::Value| status["history"].as_array().map_or(0, Vec::len);
        let has_moved = before["node"] != after["node"];
        seen[usize::from(has_moved)] += 1;
        assert_eq!(history(&after), history(&before) + usize::from(has_moved), "{before} {after}");
        // What belongs to leaving `one` was done with it, once.
        let name = if after["node"] == "one" { "One" } else { "Two" };
        let visits = after["history"].as_array().into_iter().flatten().filter(|visit| visit["node"] == "two").count();
        assert_eq!(scratch.run(&["repeat"]).stdout, format!("{name}, {visits}.\n"));
    }
    assert!(seen.iter().all(|count| *count > 0), "killed too late or too early each time: {seen:?}");
}
