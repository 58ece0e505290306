//! Checks a workflow as a whole: duplicate rule ids, and nodes that cannot be reached or left.

use std::collections::BTreeMap;

use engine::workflow::Workflow;

use super::rules::SpannedRule;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;
use crate::text::yaml::{YamlKey, YamlNode};

/// Refuses different rules with the same id anywhere in the workflow.
pub fn refuse_same_ids(rules: &[SpannedRule], source: &Source, problems: &mut Vec<Diagnostic>) {
    let mut digests: BTreeMap<&str, &str> = BTreeMap::new();
    for SpannedRule { rule, span } in rules {
        let first = digests.entry(&rule.id).or_insert(&rule.digest);
        if *first != rule.digest {
            let message = format!("duplicate rule name `{}` in this workflow", rule.id);
            problems.push(
                Diagnostic::error(DiagnosticKind::DuplicateRule, message, source, Some(span.clone()))
                    .help("change the `name` of one of them")
                    .of_rule(&rule.id),
            );
        }
    }
}

/// Warns of nodes that cannot be reached, and nodes from which `done` cannot be reached.
pub fn warn_of_unreachable_nodes(
    workflow: &Workflow,
    nodes: &[(YamlKey, YamlNode)],
    source: &Source,
    problems: &mut Vec<Diagnostic>,
) {
    let mut warn = |name: &str, kind: DiagnosticKind, message: String, help: &str| {
        let span = nodes.iter().find(|(key, _)| key.text == name).map(|(key, _)| key.span.clone());
        let mut problem = Diagnostic::warning(kind, message, source, span).help(help);
        problem.node = Some(name.to_owned());
        problems.push(problem);
    };
    for name in workflow.unreachable_nodes() {
        let message = format!("the node `{name}` is unreachable");
        warn(name, DiagnosticKind::UnreachableNode, message, "add a transition to it in another node, or remove it");
    }
    for name in workflow.dead_ends() {
        let message = format!("no path leads from the node `{name}` to `done`");
        warn(name, DiagnosticKind::NoWayToDone, message, "add a transition such as `{when: …, to: done}`");
    }
}
