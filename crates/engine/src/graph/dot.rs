use std::fmt::Write;

use super::Graph;

impl Graph<'_> {
    /// Renders the graph in Graphviz's DOT language.
    pub fn dot(&self) -> String {
        let mut text = format!("digraph {} {{\n", quoted(self.name));
        for node in &self.nodes {
            let shape = if node.is_terminal { "oval" } else { "box" };
            let _ = writeln!(text, "  {} [shape={shape}];", quoted(node.name));
        }
        for edge in &self.edges {
            let _ = writeln!(text, "  {} -> {} [label={}];", quoted(edge.from), quoted(edge.to), quoted(&edge.label));
        }
        text.push_str("}\n");
        text
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
