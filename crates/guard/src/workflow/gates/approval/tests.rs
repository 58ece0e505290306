//! Tests for which gate, text, phase and tree an approval counts.

use engine::hats::Loop;
use engine::workflow::Transition;
use serde_json::Map;

use super::*;
use crate::tests::{Scratch, active, workflow, write};

fn position(workflow: &str) -> Position {
    Position::start(workflow, "d", "code", 1000, &Map::new())
}

fn approval_at(position: &Position) -> Approval {
    Approval {
        workflow: position.workflow_name.clone(),
        gate: "review".to_owned(),
        text: "Good?".to_owned(),
        phase: position.phase_key(),
        tree_digest: Some("tree".to_owned()),
        who: None,
        time: 0,
    }
}

struct StoredApproval {
    _scratch: Scratch,
    approvals: Approvals,
}

fn stored(position: &Position) -> StoredApproval {
    let scratch = Scratch::new();
    let approvals = Approvals::of(&scratch.root, &scratch.environment);
    approvals.store(&approval_at(position), position).expect("written");
    StoredApproval { _scratch: scratch, approvals }
}

#[test]
fn an_approval_is_for_one_gate_one_text_and_one_tree() {
    let at = position("work");
    let StoredApproval { approvals, .. } = &stored(&at);
    assert!(approvals.includes("review", "Good?", &at, Some("tree")));
    assert!(!approvals.includes("tests", "Good?", &at, Some("tree")));
    assert!(!approvals.includes("review", "Good and done?", &at, Some("tree")));
    assert!(!approvals.includes("review", "Good?", &at, Some("other tree")));
    assert!(!approvals.includes("review", "Good?", &at, None));
}

#[test]
fn in_a_workflow_an_approval_is_for_one_phase() {
    let at = position("work");
    let StoredApproval { approvals, .. } = &stored(&at);
    let includes = |position: &Position| approvals.includes("review", "Good?", position, Some("tree"));
    // `linchpin continue` does not end the phase.
    assert!(includes(&at.after_continue()));
    for (other, what) in [
        (at.after_move("code", "d", 2000), "another phase at the same node"),
        (at.after_prev("code", "d", 2000), "back at the same node"),
        (position("other"), "another workflow"),
        (Position::start("work", "d", "code", 3000, &Map::new()), "another start with the same serial number"),
    ] {
        assert!(!includes(&other), "{what}");
    }
}

#[test]
fn in_a_loop_an_approval_is_for_the_whole_run() {
    let at = position(Loop::NAME);
    let StoredApproval { approvals, .. } = &stored(&at);
    let includes = |position: &Position| approvals.includes("review", "Good?", position, Some("tree"));
    assert!(includes(&at.after_move("reviewer", "d", 2000)));
    assert!(includes(&Position { dropped_phases: 7, ..at.clone() }));
    assert!(!includes(&Position { serial: at.serial + 1, ..at }));
}

#[test]
fn an_approval_of_another_tree_replaces_the_earlier_one() {
    let at = position("work");
    let StoredApproval { approvals, .. } = &stored(&at);
    let later = Approval { tree_digest: Some("later".to_owned()), ..approval_at(&at) };
    approvals.store(&later, &at).expect("written");
    assert!(approvals.includes("review", "Good?", &at, Some("later")));
    assert!(!approvals.includes("review", "Good?", &at, Some("tree")));
    assert_eq!(approvals.last("review", "Good?", &at), Some(later));
}

#[test]
fn a_damaged_approval_is_ignored() {
    let at = position("work");
    let StoredApproval { approvals, .. } = &stored(&at);
    write(&approvals.file("review", "Good?", &at), "{");
    assert_eq!(approvals.last("review", "Good?", &at), None);
}

#[test]
fn an_outdated_approval_names_its_person() {
    let at = position("work");
    assert!(approval_at(&at).outdated_text().starts_with("a person approved on "));
    let named = Approval { who: Some("Ada\nLovelace".to_owned()), ..approval_at(&at) };
    assert!(named.outdated_text().starts_with("Ada Lovelace approved on "), "{}", named.outdated_text());
}

#[test]
fn each_approval_on_the_transitions_is_requested_once() {
    let approval = |id: &str| Requirement { id: id.to_owned(), gate: Gate::Approval(format!("{id}?")) };
    let mut work = workflow("work");
    let node = &mut work.nodes[0];
    node.requires =
        vec![approval("review"), Requirement { id: "x".to_owned(), gate: Gate::Expression("true".to_owned()) }];
    let transition = |requires| Transition { when: "true".to_owned(), to: "done".to_owned(), requires };
    node.transitions = vec![transition(vec![approval("ship"), approval("review")]), transition(vec![approval("ship")])];
    let closing_gates = [approval("close"), approval("ship")];
    let gates: Vec<String> =
        required_approvals(&active(work), &closing_gates).into_iter().map(|(gate, _)| gate).collect();
    assert_eq!(gates, ["review", "ship", "close"]);
    // If the node no longer exists, its approvals are not known.
    let mut gone = active(workflow("work"));
    gone.workflow.nodes.clear();
    assert_eq!(required_approvals(&gone, &closing_gates), []);
}
