//! Which nodes can be reached, and from where.

use std::collections::BTreeSet;

use super::Workflow;

impl Workflow {
    /// The declared nodes that no way from the start leads to, in the file's order.
    pub fn unreachable_nodes(&self) -> Vec<&str> {
        let reached = closure(&[&self.start], |from| self.targets(from));
        self.declared().filter(|name| !reached.contains(name)).collect()
    }

    /// The declared nodes from which no way leads to `done`, in the file's order.
    pub fn dead_ends(&self) -> Vec<&str> {
        let finishing = closure(&[Self::DONE], |to| self.sources(to));
        self.declared().filter(|name| !finishing.contains(name)).collect()
    }

    /// Those that have to lead somewhere.
    fn declared(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.name.as_str()).filter(|name| !Self::is_end(name))
    }

    fn targets(&self, from: &str) -> Vec<&str> {
        let ways = self.node(from).into_iter().flat_map(|node| &node.transitions);
        ways.map(|transition| transition.to.as_str()).collect()
    }

    fn sources(&self, to: &str) -> Vec<&str> {
        let leads_there = self.nodes.iter().filter(|node| node.transitions.iter().any(|way| way.to == to));
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
