use std::fmt::Write;

use super::Graph;

impl Graph<'_> {
    /// A Mermaid flowchart. Nodes go by numbers there, since some names mean something to Mermaid.
    pub fn mermaid(&self) -> String {
        let id = |name: &str| self.nodes.iter().position(|node| node.name == name).unwrap_or_default();
        let mut text = String::from("flowchart TD\n");
        for node in &self.nodes {
            let (open, close) = if node.is_end { ("([", "])") } else { ("[", "]") };
            let _ = writeln!(text, "  n{}{open}\"{}\"{close}", id(node.name), node.name);
        }
        for edge in &self.edges {
            let _ = writeln!(text, "  n{} -->|\"{}\"| n{}", id(edge.from), escaped(&edge.label), id(edge.to));
        }
        text
    }
}

/// What would end a label or be read as markup.
fn escaped(label: &str) -> String {
    let mut text = String::with_capacity(label.len());
    for letter in label.chars() {
        match letter {
            '"' | '#' | '<' | '>' | '&' | '`' | '|' | '\\' => {
                let _ = write!(text, "#{};", u32::from(letter));
            }
            other => text.push(other),
        }
    }
    text
}
