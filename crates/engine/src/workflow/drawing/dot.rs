use std::fmt::Write;

use super::super::Workflow;

/// A graph in Graphviz's language.
pub fn dot(workflow: &Workflow) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&workflow.name));
    for name in super::nodes(workflow) {
        let shape = if Workflow::is_end(name) || name == workflow.start { "oval" } else { "box" };
        let _ = writeln!(text, "  {} [shape={shape}];", quoted(name));
    }
    for (from, to, when) in super::edges(workflow) {
        let _ = writeln!(text, "  {} -> {} [label={}];", quoted(from), quoted(to), quoted(&when));
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
