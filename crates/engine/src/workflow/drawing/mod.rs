//! A workflow's graph, for people: as text, and for programs that draw. One file a form.

mod dot;
mod mermaid;
mod text;

pub use dot::dot;
pub use mermaid::mermaid;
pub use text::text;

use super::Workflow;

/// The nodes to draw: the declared ones, and the ends that something leads to.
fn nodes(workflow: &Workflow) -> Vec<&str> {
    let declared = workflow.nodes.iter().map(|node| node.name.as_str());
    let is_target = |end: &str| workflow.nodes.iter().flat_map(|node| &node.transitions).any(|way| way.to == end);
    let ends = Workflow::ENDS.into_iter().filter(|end| workflow.node(end).is_none() && is_target(end));
    declared.chain(ends).collect()
}

/// From, to, and what has to be true, in the file's order.
fn edges(workflow: &Workflow) -> impl Iterator<Item = (&str, &str, String)> {
    workflow.nodes.iter().flat_map(|node| {
        node.transitions.iter().map(|way| (node.name.as_str(), way.to.as_str(), super::gate::one_line(&way.when)))
    })
}
