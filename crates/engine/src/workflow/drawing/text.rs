use std::fmt::Write;

use super::super::gate::one_line;
use super::super::{Requirement, Workflow};

/// Every node with its ways out, for a terminal.
pub fn text(workflow: &Workflow) -> String {
    let mut text = format!("{}, from {}\n", workflow.name, workflow.start);
    for node in &workflow.nodes {
        let _ = write!(text, "\n{}\n", node.name);
        requirements(&node.requires, "  ", &mut text);
        for way in &node.transitions {
            let _ = writeln!(text, "  → {} when {}", way.to, one_line(&way.when));
            requirements(&way.requires, "      ", &mut text);
        }
    }
    text
}

fn requirements(requires: &[Requirement], indent: &str, text: &mut String) {
    for required in requires {
        let _ = writeln!(text, "{indent}requires {}", required.gate);
    }
}
