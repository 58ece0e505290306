//! Finds the nodes of a workflow that cannot be reached, and the nodes from which the end of the workflow cannot be
//! reached.

use std::collections::BTreeSet;

use super::Workflow;

impl Workflow {
    /// The declared nodes that cannot be reached from the start, in the order of the file.
    pub fn unreachable_nodes(&self) -> Vec<&str> {
        let reached = closure(&[&self.start], |from| self.targets(from));
        self.work_nodes().filter(|name| !reached.contains(name)).collect()
    }

    /// The declared nodes from which `done` cannot be reached, in the order of the file.
    pub fn dead_ends(&self) -> Vec<&str> {
        let can_finish = closure(&[Self::DONE], |to| self.sources(to));
        self.work_nodes().filter(|name| !can_finish.contains(name)).collect()
    }

    /// The names of the declared nodes, without end nodes.
    fn work_nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.name.as_str()).filter(|name| !Self::is_end(name))
    }

    fn targets(&self, from: &str) -> Vec<&str> {
        let transitions = self.node(from).into_iter().flat_map(|node| &node.transitions);
        transitions.map(|transition| transition.to.as_str()).collect()
    }

    fn sources(&self, to: &str) -> Vec<&str> {
        let sources = self.nodes.iter().filter(|node| node.transitions.iter().any(|transition| transition.to == to));
        sources.map(|node| node.name.as_str()).collect()
    }
}

/// Returns the names in `from` and all names that can be reached from them by repeated use of `next`.
fn closure<'w>(from: &[&'w str], next: impl Fn(&str) -> Vec<&'w str>) -> BTreeSet<&'w str> {
    let mut reached = BTreeSet::new();
    let mut unvisited = from.to_vec();
    while let Some(name) = unvisited.pop() {
        if reached.insert(name) {
            unvisited.extend(next(name));
        }
    }
    reached
}
