//! Renders graphs in diagram languages, one file per language.

mod dot;
mod mermaid;

/// A directed graph of work states (nodes, hats) and transitions.
pub struct Graph<'a> {
    pub name: &'a str,
    pub nodes: Vec<GraphNode<'a>>,
    pub edges: Vec<GraphEdge<'a>>,
}

pub struct GraphNode<'a> {
    pub name: &'a str,
    /// True for the first and last states.
    pub is_end: bool,
}

pub struct GraphEdge<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub label: String,
}
