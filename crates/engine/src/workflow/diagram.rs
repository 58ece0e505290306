//! Renders a workflow's graph as text and for diagram programs.

use std::fmt::Write;

use super::gate::one_line;
use super::{Requirement, Workflow};
use crate::graph::{Graph, GraphEdge, GraphNode};
use crate::rules::Rule;

/// Lists every node with its transitions, for a terminal.
pub fn text(workflow: &Workflow) -> String {
    let mut text = format!("{}, from {}\n", workflow.name, workflow.start);
    rules(&workflow.rules, "", &mut text);
    for node in &workflow.nodes {
        let _ = write!(text, "\n{}\n", node.name);
        rules(&node.rules, "  ", &mut text);
        requirements(&node.requires, "  ", &mut text);
        for transition in &node.transitions {
            let _ = writeln!(text, "  → {} when {}", transition.to, one_line(&transition.when));
            requirements(&transition.requires, "      ", &mut text);
        }
    }
    text
}

/// Lists rules by id with a summary of each.
fn rules(rules: &[Rule], indent: &str, text: &mut String) {
    for rule in rules {
        let _ = writeln!(text, "{indent}rule {}: {}", rule.id, rule_summary(rule));
    }
}

fn rule_summary(rule: &Rule) -> String {
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

/// The declared nodes, and the end nodes that a transition leads to.
pub fn graph(workflow: &Workflow) -> Graph<'_> {
    let declared = workflow.nodes.iter().map(|node| node.name.as_str());
    let transitions =
        || workflow.nodes.iter().flat_map(|node| node.transitions.iter().map(move |transition| (node, transition)));
    let is_target = |end: &str| transitions().any(|(_, transition)| transition.to == end);
    let ends = Workflow::ENDS.into_iter().filter(|end| workflow.node(end).is_none() && is_target(end));
    let node = |name: &'_ str| Workflow::is_end(name) || name == workflow.start;
    Graph {
        name: &workflow.name,
        nodes: declared.chain(ends).map(|name| GraphNode { name, is_end: node(name) }).collect(),
        edges: transitions()
            .map(|(node, transition)| GraphEdge {
                from: &node.name,
                to: &transition.to,
                label: one_line(&transition.when),
            })
            .collect(),
    }
}
