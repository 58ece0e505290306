use std::fmt::Write;

use super::Graph;

impl Graph<'_> {
    /// Renders the graph as a Mermaid flowchart. Nodes have numeric ids, because the name of a node can be a keyword of
    /// Mermaid.
    pub fn mermaid(&self) -> String {
        let id = |name: &str| self.nodes.iter().position(|node| node.name == name).unwrap_or_default();
        let mut text = String::from("flowchart TD\n");
        for node in &self.nodes {
            let (open, close) = if node.is_terminal { ("([", "])") } else { ("[", "]") };
            let _ = writeln!(text, "  n{}{open}\"{}\"{close}", id(node.name), node.name);
        }
        for edge in &self.edges {
            let _ = writeln!(text, "  n{} -->|\"{}\"| n{}", id(edge.from), escaped(&edge.label), id(edge.to));
        }
        text
    }
}

/// Escapes the characters that would end a label, or that Mermaid would interpret as markup.
fn escaped(label: &str) -> String {
    let mut text = String::with_capacity(label.len());
    for character in label.chars() {
        match character {
            '"' | '#' | '<' | '>' | '&' | '`' | '|' | '\\' => {
                let _ = write!(text, "#{};", u32::from(character));
            }
            other => text.push(other),
        }
    }
    text
}
