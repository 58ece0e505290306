//! A workflow's graph, for people: as text, and for programs that draw.

use std::fmt::Write;

use super::gate::one_line;
use super::{Requirement, Workflow};
use crate::graph::{Graph, GraphEdge, GraphNode};
use crate::rules::Rule;

/// Every node with its ways out, for a terminal.
pub fn text(workflow: &Workflow) -> String {
    let mut text = format!("{}, from {}\n", workflow.name, workflow.start);
    rules(&workflow.rules, "", &mut text);
    for node in &workflow.nodes {
        let _ = write!(text, "\n{}\n", node.name);
        rules(&node.rules, "  ", &mut text);
        requirements(&node.requires, "  ", &mut text);
        for way in &node.transitions {
            let _ = writeln!(text, "  → {} when {}", way.to, one_line(&way.when));
            requirements(&way.requires, "      ", &mut text);
        }
    }
    text
}

/// By name, with what each is about.
fn rules(rules: &[Rule], indent: &str, text: &mut String) {
    for rule in rules {
        let _ = writeln!(text, "{indent}rule {}: {}", rule.id, about(rule));
    }
}

fn about(rule: &Rule) -> String {
    if let Some(pace) = rule.as_pace_rule() {
        return pace.limit.to_string();
    }
    let reason = one_line(rule.reason.lines().next().unwrap_or_default());
    let reason = if reason.is_empty() { String::new() } else { format!(", {reason}") };
    format!("{}{reason}", rule.action.name())
}

fn requirements(requires: &[Requirement], indent: &str, text: &mut String) {
    for required in requires {
        let _ = writeln!(text, "{indent}requires {}", required.gate);
    }
}

/// The declared nodes, and the ends that something leads to.
pub fn graph(workflow: &Workflow) -> Graph<'_> {
    let declared = workflow.nodes.iter().map(|node| node.name.as_str());
    let ways = || workflow.nodes.iter().flat_map(|node| node.transitions.iter().map(move |way| (node, way)));
    let is_target = |end: &str| ways().any(|(_, way)| way.to == end);
    let ends = Workflow::ENDS.into_iter().filter(|end| workflow.node(end).is_none() && is_target(end));
    let node = |name: &'_ str| Workflow::is_end(name) || name == workflow.start;
    Graph {
        name: &workflow.name,
        nodes: declared.chain(ends).map(|name| GraphNode { name, is_end: node(name) }).collect(),
        edges: ways()
            .map(|(node, way)| GraphEdge { from: &node.name, to: &way.to, label: one_line(&way.when) })
            .collect(),
    }
}
