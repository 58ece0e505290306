//! Shows the nodes and transitions of a workflow, as text and as a graph for diagram programs.

use std::fmt::Write;

use super::gate::one_line;
use super::{Requirement, Workflow};
use crate::graph::{Graph, GraphEdge, GraphNode};
use crate::rules::Rule;

/// Lists every node with its transitions, for a terminal.
pub fn text(workflow: &Workflow) -> String {
    let mut text = format!("{}, from {}\n", workflow.name, workflow.start);
    write_rules(&workflow.rules, "", &mut text);
    for node in &workflow.nodes {
        let _ = write!(text, "\n{}\n", node.name);
        write_rules(&node.rules, "  ", &mut text);
        write_requirements(&node.requires, "  ", &mut text);
        for transition in &node.transitions {
            let _ = writeln!(text, "  → {} when {}", transition.to, one_line(&transition.when));
            write_requirements(&transition.requires, "      ", &mut text);
        }
    }
    text
}

/// Writes each rule with its id and a summary.
fn write_rules(rules: &[Rule], indent: &str, text: &mut String) {
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

fn write_requirements(requires: &[Requirement], indent: &str, text: &mut String) {
    for required in requires {
        let _ = writeln!(text, "{indent}requires {}", required.gate);
    }
}

/// Returns the declared nodes, the end nodes to which a transition leads, and the transitions.
pub fn graph(workflow: &Workflow) -> Graph<'_> {
    let declared = workflow.nodes.iter().map(|node| node.name.as_str());
    let transitions =
        || workflow.nodes.iter().flat_map(|node| node.transitions.iter().map(move |transition| (node, transition)));
    let is_target = |end: &str| transitions().any(|(_, transition)| transition.to == end);
    let ends = Workflow::ENDS.into_iter().filter(|end| workflow.node(end).is_none() && is_target(end));
    let is_terminal = |name: &str| Workflow::is_end(name) || name == workflow.start;
    Graph {
        name: &workflow.name,
        nodes: declared.chain(ends).map(|name| GraphNode { name, is_terminal: is_terminal(name) }).collect(),
        edges: transitions()
            .map(|(node, transition)| GraphEdge {
                from: &node.name,
                to: &transition.to,
                label: one_line(&transition.when),
            })
            .collect(),
    }
}
