//! Shows which hat hands over to which other hat, as text and as a graph for diagram programs.

use std::fmt::Write;

use super::Loop;
use crate::graph::{Graph, GraphEdge, GraphNode};
use crate::workflow::Requirement;

/// Lists every hat with the topics that trigger the hat and the topics that the hat publishes, for a terminal.
pub fn text(the_loop: &Loop) -> String {
    let mut text = String::new();
    for hat in &the_loop.hats {
        let triggers: Vec<String> = hat.triggers.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "{} ({}) on {}", hat.id, hat.name, triggers.join(", "));
        for topic in &hat.publishes {
            let to = match the_loop.hat_for(topic) {
                _ if *topic == the_loop.completion.topic => Loop::DONE,
                Some(next_hat) => next_hat.id.as_str(),
                None => "no hat",
            };
            let _ = writeln!(text, "  {topic} → {to}");
            if *topic == the_loop.completion.topic && !the_loop.completion.after.is_empty() {
                let _ = writeln!(text, "      after {}", the_loop.completion.after.join(", "));
            }
            for Requirement { id, gate } in the_loop.requires(topic) {
                let is_named = the_loop.gates.contains_key(id);
                let shown = if is_named { format!("{id} ({gate})") } else { gate.to_string() };
                let _ = writeln!(text, "      requires {shown}");
            }
        }
    }
    text
}

/// Returns the hats and the end of the run, connected by topics.
pub fn graph(the_loop: &Loop) -> Graph<'_> {
    let first = the_loop.hat_for(&the_loop.start).map(|hat| hat.id.as_str());
    let hats = the_loop.hats.iter().map(|hat| GraphNode { name: &hat.id, is_terminal: first == Some(&hat.id) });
    let edges = the_loop.hats.iter().flat_map(|hat| {
        hat.publishes.iter().filter_map(move |topic| {
            let is_last = *topic == the_loop.completion.topic;
            let to =
                if is_last { Some(Loop::DONE) } else { the_loop.hat_for(topic).map(|next_hat| next_hat.id.as_str()) };
            Some(GraphEdge { from: &hat.id, to: to?, label: topic.clone() })
        })
    });
    Graph {
        name: "loop",
        nodes: hats.chain([GraphNode { name: Loop::DONE, is_terminal: true }]).collect(),
        edges: edges.collect(),
    }
}
