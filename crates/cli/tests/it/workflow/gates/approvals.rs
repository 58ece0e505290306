//! Approval gates, which only a person can pass.

use super::{with_gates, with_gates_and_keys};

const APPROVAL_GATE: &str = "[{approval: 'Ship it?'}]";

#[test]
fn an_approval_opens_the_gate() {
    let project = with_gates(APPROVAL_GATE);
    assert_eq!(project.run(&["next"]).code, Some(1));
    insta::assert_snapshot!(redacted(&project.run(&["approve"]).transcript()), @"
    exit 2
    --- stdout
    Workflow `w` at `work` (tree [TREE]) waits for this approval:
    work/1:
        Ship it?

    --- stderr
    error: cannot ask for confirmation without a terminal
    help: read what the gate asks, then run `linchpin approve --yes`
    ");
    insta::assert_snapshot!(redacted(&project.run(&["approve", "--yes"]).transcript()), @"
    exit 0
    --- stdout
    Workflow `w` at `work` (tree [TREE]) waits for this approval:
    work/1:
        Ship it?

    Approved gate `work/1`, for the tree as it is now.
    --- stderr
    ");
    assert_eq!(project.run(&["next"]).code, Some(0));
}

#[test]
fn approve_asks_on_a_terminal() {
    let project = with_gates(APPROVAL_GATE);
    let no = project.run_on_terminal(project.command(&["approve"]), "\n");
    assert_eq!(no.code, Some(2));
    assert!(no.stdout.contains("Ship it?") && no.stderr.contains("nothing was approved"), "{}", no.transcript());
    assert_eq!(project.run(&["next"]).code, Some(1));
    let yes = project.run_on_terminal(project.command(&["approve"]), "y\n");
    assert_eq!(yes.code, Some(0), "{}", yes.transcript());
    assert_eq!(project.run(&["next"]).code, Some(0));
}

#[test]
fn an_approval_counts_only_for_the_same_tree() {
    let project = with_gates(APPROVAL_GATE);
    let mut approve = project.command(&["approve", "--yes"]);
    approve.env("USER", "ada");
    assert_eq!(project.run_with_stdin(approve, b"").code, Some(0));
    project.file("a.txt", "another\n");
    let mut next = project.command(&["next"]);
    next.env("TZ", "UTC");
    let transcript = project.run_with_stdin(next, b"").transcript();
    let (time, _) = transcript.split_once(" approved on ").and_then(|(_, rest)| rest.split_once(',')).expect("a time");
    assert_eq!(time.len(), "2026-01-01 at 00:00:00".len(), "{transcript}");
    insta::assert_snapshot!(transcript.replace(time, "[TIME]"), @"
    exit 1
    --- stdout
    Still at `work`: its gates are not met.

    - work/1: a person must approve: Ship it?
    ada approved on [TIME], but the tree has changed since
    (ask a person to run `linchpin approve work/1`; the approval is valid until the tree changes)
    --- stderr
    ");
    project.file("a.txt", "one\n");
    assert_eq!(project.run(&["next"]).code, Some(0));
}

#[test]
fn an_approval_counts_only_for_one_visit() {
    let project = with_gates(APPROVAL_GATE);
    project.run(&["approve", "--yes"]);
    assert_eq!(project.run(&["next", "again"]).code, Some(0));
    let reply = project.run(&["next", "again"]);
    assert_eq!((reply.code, reply.stdout.contains("approved on")), (Some(1), false), "{}", reply.stdout);
}

#[test]
fn an_approval_counts_only_for_one_gate_and_question() {
    let project =
        with_gates_and_keys("[first, second]", "gates: {first: {approval: 'One?'}, second: {approval: 'Two?'}}");
    assert_eq!(project.run(&["approve", "first", "--yes"]).code, Some(0));
    let held = project.run(&["next", "--json"]).json();
    assert_eq!(held["lacks"].as_array().map(Vec::len), Some(1));
    assert_eq!(held["lacks"][0]["gate"], "second");
    assert_eq!(project.run(&["approve", "--yes", "--json"]).json()["approved"], serde_json::json!(["second"]));
    assert_eq!(project.run(&["next", "again"]).code, Some(0));

    let project = with_gates(APPROVAL_GATE);
    project.file(".gitignore", ".linchpin\n");
    project.run(&["approve", "--yes"]);
    // The question has changed, so it needs a new approval, although the tree is unchanged.
    super::write_workflow(&project, "[{approval: 'Ship all of it?'}]", "");
    assert_eq!(project.run(&["next"]).code, Some(1));
}

#[test]
fn approve_without_a_pending_approval_is_an_error() {
    let project = with_gates("[]");
    insta::assert_snapshot!(project.run(&["approve", "--yes"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: no approval is pending at `work`
    help: an approval is valid until the tree changes; `linchpin repeat` prints the prompt of the current phase
    ");
    let project = with_gates_and_keys("[ship]", "gates: {ship: {approval: 'Ship it?'}}");
    insta::assert_snapshot!(project.run(&["approve", "shp", "--yes"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no approval `shp` at `work`
    help: did you mean `ship`?
    ");
    project.run(&["approve", "--yes"]);
    assert_eq!(project.run(&["approve", "--yes"]).code, Some(2));
    project.run(&["abort"]);
    insta::assert_snapshot!(project.run(&["approve", "--yes"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: no workflow is active here
    help: `linchpin workflows` lists them, and `linchpin start NAME` starts one
    ");
}

#[test]
fn an_approval_is_recorded_with_person_and_time() {
    let project = with_gates_and_keys("[ship]", "gates: {ship: {approval: 'Ship it?'}}");
    let mut command = project.command(&["approve", "--yes"]);
    command.env("USER", "ada");
    assert!(command.output().expect("it runs").status.success());
    let entry = project.run(&["log", "--kind", "approve", "--json"]).json();
    assert_eq!((&entry["fields"]["who"], &entry["fields"]["gate"]), (&"ada".into(), &"ship".into()));
    assert_eq!((&entry["fields"]["visit"], &entry["fields"]["text"]), (&"1.1".into(), &"Ship it?".into()));
    assert!(entry["time"].is_i64() || entry["time"].is_string(), "{entry}");
    assert!(project.run(&["log", "--kind", "approve"]).stdout.contains("approve: workflow `w`, gate `ship`, by ada"));
}

#[test]
fn agents_may_not_approve() {
    let project = with_gates(APPROVAL_GATE);
    let mut command = project.command(&["approve", "--yes"]);
    command.env("CLAUDECODE", "1");
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("only people may run"));
    for wrapped in [
        "linchpin approve --yes",
        "sudo /usr/local/bin/linchpin approve ship",
        "bash -c 'env -u CLAUDECODE linchpin approve --yes'",
        "true && (cd /tmp; nohup linchpin approve --yes &)",
        "timeout 5 linchpin approve --yes",
        "cargo run -p linchpin -- approve --yes",
        "linchpin __gate '{}'",
    ] {
        assert_eq!(project.decision(wrapped), "deny", "{wrapped}");
    }
    assert_eq!(project.decision("linchpin approve --help"), "allow");
    assert_eq!(project.run(&["next"]).code, Some(1));
}

/// Replaces the digest of the tree.
fn redacted(text: &str) -> String {
    let Some((before, rest)) = text.split_once(" (tree ") else { return text.to_owned() };
    format!("{before} (tree [TREE]{}", &rest[12..])
}
