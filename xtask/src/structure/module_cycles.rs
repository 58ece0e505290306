//! Checks that sibling modules do not import each other in a cycle. A module's imports include those of its submodules.
//! Imports between a module's own file and its submodules are allowed in both directions.

use std::collections::{BTreeMap, BTreeSet};

use super::module_graph::edges;
use super::source::Crate;
use super::{Check, Finding};

type Graph<'a> = BTreeMap<&'a [String], BTreeSet<&'a [String]>>;

pub fn check(krate: &Crate) -> Vec<Finding> {
    let edges = edges(krate);
    let parents: BTreeSet<&[String]> =
        edges.keys().filter_map(|module| module.split_last()).map(|(_, parent)| parent).collect();
    let cycles = parents.into_iter().flat_map(|parent| cycles(&edges_between_children(&edges, parent)));
    cycles.map(|cycle| finding(krate, &cycle)).collect()
}

fn finding(krate: &Crate, cycle: &[&[String]]) -> Finding {
    let names: Vec<String> =
        cycle.iter().map(|module| if module.is_empty() { "the root".to_owned() } else { module.join("::") }).collect();
    Finding { check: Check::ModuleCycle, location: krate.name.clone(), detail: names.join(", ") }
}

/// Returns the edges between the direct children of `parent`. An edge from or to a submodule counts as one of the child
/// that contains the submodule.
fn edges_between_children<'a>(edges: &'a BTreeMap<Vec<String>, BTreeSet<Vec<String>>>, parent: &[String]) -> Graph<'a> {
    let child = |module: &'a Vec<String>| module.get(..=parent.len()).filter(|child| child.starts_with(parent));
    let mut graph = Graph::new();
    for (from, used) in edges {
        let Some(from) = child(from) else { continue };
        let into = graph.entry(from).or_default();
        into.extend(used.iter().filter_map(child).filter(|to| *to != from));
    }
    graph
}

/// Returns the cycles: each set of modules that import each other, directly or through others of the set.
fn cycles<'a>(graph: &Graph<'a>) -> Vec<Vec<&'a [String]>> {
    let reached: BTreeMap<&[String], BTreeSet<&[String]>> =
        graph.keys().map(|child| (*child, reachable(graph, child))).collect();
    let mut cycles: BTreeSet<Vec<&[String]>> = BTreeSet::new();
    for (child, others) in &reached {
        if others.contains(child) {
            let reaches_back = |other: &&&[String]| reached.get(**other).is_some_and(|back| back.contains(child));
            cycles.insert(others.iter().filter(reaches_back).copied().collect());
        }
    }
    cycles.into_iter().collect()
}

fn reachable<'a>(graph: &Graph<'a>, from: &[String]) -> BTreeSet<&'a [String]> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&[String]> = graph.get(from).into_iter().flatten().copied().collect();
    while let Some(child) = next.pop() {
        if reached.insert(child) {
            next.extend(graph.get(child).into_iter().flatten());
        }
    }
    reached
}
