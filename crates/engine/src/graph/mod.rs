//! A graph for people, in the languages of programs that draw. One file a language.

mod dot;
mod mermaid;

/// What is drawn: where work is, and how it moves on.
pub struct Graph<'a> {
    pub name: &'a str,
    pub nodes: Vec<GraphNode<'a>>,
    pub edges: Vec<GraphEdge<'a>>,
}

pub struct GraphNode<'a> {
    pub name: &'a str,
    /// Where the work begins or ends.
    pub is_end: bool,
}

pub struct GraphEdge<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub label: String,
}
