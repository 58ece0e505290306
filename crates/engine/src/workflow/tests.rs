//! Tests of workflow graphs, their diagrams, and the parts that need trust.

use std::collections::BTreeMap;
use std::time::Duration;

use insta::assert_snapshot;

use super::{Gate, Node, Requirement, Transition, Webhook, Workflow, diagram};
use crate::rules::Tier;

fn node(name: &str, transitions: &[(&str, &str)]) -> Node {
    let transition =
        |(when, to): &(&str, &str)| Transition { when: (*when).to_owned(), to: (*to).to_owned(), requires: vec![] };
    Node {
        name: name.to_owned(),
        prompt: String::new(),
        rules: vec![],
        requires: vec![],
        on_enter: vec![],
        on_exit: vec![],
        transitions: transitions.iter().map(transition).collect(),
    }
}

fn workflow(nodes: Vec<Node>) -> Workflow {
    Workflow {
        name: "work".to_owned(),
        tier: Tier::Project,
        source: "work.yml".to_owned(),
        digest: String::new(),
        start: "spec".to_owned(),
        variables: BTreeMap::new(),
        claims: vec!["needs_rework".to_owned()],
        rules: vec![],
        observers: vec![],
        gates: BTreeMap::new(),
        triggers: vec![],
        nodes,
        guides: BTreeMap::new(),
    }
}

fn required(id: &str, gate: Gate) -> Requirement {
    Requirement { id: id.to_owned(), gate }
}

fn command(text: &str) -> Gate {
    Gate::Command {
        text: text.to_owned(),
        words: vec![text.to_owned()],
        timeout: Duration::from_mins(1),
        protect: true,
    }
}

fn branching() -> Workflow {
    let mut code = node(
        "code",
        &[("code_complete and\n  reviewed == \"yes\"", "done"), ("needs_rework", "spec"), ("x < 1", "aborted")],
    );
    code.requires =
        vec![required("code/1", Gate::Expression("tests_ran".to_owned())), required("green", command("make"))];
    if let Some(transition) = code.transitions.first_mut() {
        transition.requires = vec![required("code/transitions/1/1", Gate::Approval("Ship it?".to_owned()))];
    }
    let trap = node("trap", &[("trap_complete", "trap")]);
    workflow(vec![
        node("spec", &[("spec_complete", "code"), ("lost", "trap")]),
        code,
        trap,
        node("island", &[("a", "done")]),
    ])
}

#[test]
fn unreachable_nodes_and_dead_ends_are_found() {
    let workflow = branching();
    assert_eq!(workflow.unreachable_nodes(), ["island"]);
    assert_eq!(workflow.dead_ends(), ["trap"]);
    let without_transitions = super::tests::workflow(vec![node("spec", &[])]);
    assert_eq!(without_transitions.unreachable_nodes(), [""; 0]);
    assert_eq!(without_transitions.dead_ends(), ["spec"]);
}

#[test]
fn every_work_node_has_a_completion_claim() {
    let claims: Vec<String> = branching().all_claims().collect();
    assert_eq!(claims, ["spec_complete", "code_complete", "trap_complete", "island_complete", "needs_rework"]);
}

#[test]
fn diagrams_show_nodes_and_transitions() {
    let workflow = branching();
    assert_snapshot!(diagram::text(&workflow), @r#"
    work, from spec

    spec
      → code when spec_complete
      → trap when lost

    code
      requires tests_ran
      requires command make
      → done when code_complete and reviewed == "yes"
          requires approval: Ship it?
      → spec when needs_rework
      → aborted when x < 1

    trap
      → trap when trap_complete

    island
      → done when a
    "#);
    assert_snapshot!(diagram::graph(&workflow).mermaid(), @r#"
    flowchart TD
      n0(["spec"])
      n1["code"]
      n2["trap"]
      n3["island"]
      n4(["done"])
      n5(["aborted"])
      n0 -->|"spec_complete"| n1
      n0 -->|"lost"| n2
      n1 -->|"code_complete and reviewed == #34;yes#34;"| n4
      n1 -->|"needs_rework"| n0
      n1 -->|"x #60; 1"| n5
      n2 -->|"trap_complete"| n2
      n3 -->|"a"| n4
    "#);
    assert_snapshot!(diagram::graph(&workflow).dot(), @r#"
    digraph "work" {
      "spec" [shape=oval];
      "code" [shape=box];
      "trap" [shape=box];
      "island" [shape=box];
      "done" [shape=oval];
      "aborted" [shape=oval];
      "spec" -> "code" [label="spec_complete"];
      "spec" -> "trap" [label="lost"];
      "code" -> "done" [label="code_complete and reviewed == \"yes\""];
      "code" -> "spec" [label="needs_rework"];
      "code" -> "aborted" [label="x < 1"];
      "trap" -> "trap" [label="trap_complete"];
      "island" -> "done" [label="a"];
    }
    "#);
}

#[test]
fn commands_and_webhooks_need_trust() {
    let mut workflow = branching();
    let url = "https://ci.example.com/gate".to_owned();
    let expect = super::ExpectedResponse { status: 200, json: None };
    let webhook = Webhook { url, method: "POST".to_owned(), headers: vec![], expect };
    workflow.gates.insert("green".to_owned(), command("make"));
    workflow.gates.insert("ci".to_owned(), Gate::Webhook(Box::new(webhook)));
    assert_snapshot!(workflow.parts_to_trust().join("\n"), @"
    gate `ci`: asks https://ci.example.com/gate
    gate `green`: runs `make`
    ");
    // Trust that a person gave to a workflow before gates had the field `protect` stays valid.
    let has_protect = |workflow: &Workflow| workflow.text_to_trust().contains("protect");
    assert!(!has_protect(&workflow));
    if let Some(Gate::Command { protect, .. }) = workflow.gates.get_mut("green") {
        *protect = false;
    }
    assert!(has_protect(&workflow));
    workflow.tier = Tier::User;
    assert_eq!(workflow.parts_to_trust(), [""; 0]);
}

#[test]
fn workflows_survive_serialization() {
    let workflow = branching();
    let bytes = postcard::to_stdvec(&workflow).expect("bytes");
    assert_eq!(postcard::from_bytes::<Workflow>(&bytes).expect("a workflow"), workflow);
}
