//! The reader of a workflow: the file, and its context.

use engine::expr::Scope;
use engine::rules::Tier;
use engine::suggest;

use super::WorkflowContext;
use super::rules::{RuleCollector, RuleOwner};
use crate::list_resolver::RuleLookup;
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::SpannedText;
use crate::text::source::Source;

#[derive(Clone, Copy)]
pub struct WorkflowReader<'a> {
    pub name: &'a str,
    pub source: &'a Source,
    pub tier: Tier,
    pub context: &'a WorkflowContext<'a>,
}

impl<'a> WorkflowReader<'a> {
    pub fn rule_reader<'s>(self, scope: &'s Scope) -> RuleReader<'s>
    where
        'a: 's,
    {
        let protected_branches = &self.context.loaded.context.protected_branches;
        RuleReader { source: self.source, file_tier: self.tier, scope, protected_branches }
    }

    pub fn rule_collector<'s>(
        self,
        owner: RuleOwner<'s>,
        reader: RuleReader<'s>,
        rule_lookup: &'s RuleLookup<'s>,
    ) -> RuleCollector<'s>
    where
        'a: 's,
    {
        RuleCollector::new(self.name, owner, reader, rule_lookup, &self.context.loaded.config)
    }

    /// The error for an unknown node under `key`. `known_nodes`: the nodes that the message can suggest.
    pub fn unknown_node(self, key: &str, name: &SpannedText, mut known_nodes: Vec<&str>) -> Diagnostic {
        known_nodes.dedup();
        let split_names: Vec<&str> = name.value.split(',').map(str::trim).collect();
        let help = if split_names.len() > 1 && split_names.iter().all(|name| known_nodes.contains(name)) {
            "write the name of one node; of several transitions, the first whose `when` is true is taken".to_owned()
        } else {
            suggest::closest(&name.value, known_nodes.iter().copied())
                .map_or_else(|| format!("known nodes: {}", known_nodes.join(", ")), suggest::did_you_mean)
        };
        let message = format!("`{key}` names the unknown node `{}`", name.value);
        Diagnostic::error(DiagnosticKind::NodeNotFound, message, self.source, Some(name.span.clone())).help(help)
    }
}
