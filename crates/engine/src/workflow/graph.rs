//! Reachability of nodes.

use std::collections::BTreeSet;

use super::Workflow;

impl Workflow {
    /// Declared nodes that cannot be reached from the start, in the file's order.
    pub fn unreachable_nodes(&self) -> Vec<&str> {
        let reached = closure(&[&self.start], |from| self.targets(from));
        self.declared().filter(|name| !reached.contains(name)).collect()
    }

    /// Declared nodes from which `done` cannot be reached, in the file's order.
    pub fn dead_ends(&self) -> Vec<&str> {
        let finishing = closure(&[Self::DONE], |to| self.sources(to));
        self.declared().filter(|name| !finishing.contains(name)).collect()
    }

    /// Declared nodes other than end nodes.
    fn declared(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.name.as_str()).filter(|name| !Self::is_end(name))
    }

    fn targets(&self, from: &str) -> Vec<&str> {
        let transitions = self.node(from).into_iter().flat_map(|node| &node.transitions);
        transitions.map(|transition| transition.to.as_str()).collect()
    }

    fn sources(&self, to: &str) -> Vec<&str> {
        let leads_there =
            self.nodes.iter().filter(|node| node.transitions.iter().any(|transition| transition.to == to));
        leads_there.map(|node| node.name.as_str()).collect()
    }
}

fn closure<'w>(from: &[&'w str], next: impl Fn(&str) -> Vec<&'w str>) -> BTreeSet<&'w str> {
    let mut found = BTreeSet::new();
    let mut open = from.to_vec();
    while let Some(name) = open.pop() {
        if found.insert(name) {
            open.extend(next(name));
        }
    }
    found
}
