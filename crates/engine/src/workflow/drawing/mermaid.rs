use std::fmt::Write;

use super::super::Workflow;

/// A Mermaid flowchart. Nodes go by numbers there, since some names mean something to Mermaid.
pub fn mermaid(workflow: &Workflow) -> String {
    let nodes = super::nodes(workflow);
    let id = |name: &str| nodes.iter().position(|node| *node == name).unwrap_or_default();
    let mut text = String::from("flowchart TD\n");
    for name in &nodes {
        let (open, close) = if Workflow::is_end(name) || *name == workflow.start { ("([", "])") } else { ("[", "]") };
        let _ = writeln!(text, "  n{}{open}\"{name}\"{close}", id(name));
    }
    for (from, to, when) in super::edges(workflow) {
        let _ = writeln!(text, "  n{} -->|\"{}\"| n{}", id(from), escaped(&when), id(to));
    }
    text
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
