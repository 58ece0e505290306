//! Renders graphs in diagram languages. Each language has its own module.

mod dot;
mod mermaid;

/// A directed graph: the nodes of a workflow and the transitions between them, or the hats of a loop and the topics
/// that connect them.
pub struct Graph<'a> {
    pub name: &'a str,
    pub nodes: Vec<GraphNode<'a>>,
    pub edges: Vec<GraphEdge<'a>>,
}

pub struct GraphNode<'a> {
    pub name: &'a str,
    /// True for the start and the end of the graph, which are drawn in another shape.
    pub is_terminal: bool,
}

pub struct GraphEdge<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub label: String,
}
