//! The text of a workflow's file with all that it may name beside itself.

use engine::expr::Scope;
use engine::rules::Tier;
use engine::suggest;

use super::Around;
use super::rules::{Owner, RuleGathering};
use crate::rule::reader::RuleReader;
use crate::rule_list::NamedRules;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Text;
use crate::text::source::Source;

#[derive(Clone, Copy)]
pub struct WorkflowSource<'a> {
    pub name: &'a str,
    pub source: &'a Source,
    pub tier: Tier,
    pub around: &'a Around<'a>,
}

impl<'a> WorkflowSource<'a> {
    pub fn rule_reader<'s>(self, scope: &'s Scope) -> RuleReader<'s>
    where
        'a: 's,
    {
        let protected_branches = &self.around.loaded.context.protected_branches;
        RuleReader { source: self.source, owner: self.tier, scope, protected_branches }
    }

    pub fn gathering<'s>(self, owner: Owner<'s>, reader: RuleReader<'s>, names: &'s NamedRules<'s>) -> RuleGathering<'s>
    where
        'a: 's,
    {
        RuleGathering::new(self.name, owner, reader, names, &self.around.loaded.config)
    }

    /// `key`: where the node is named. `known`: the nodes that could be meant.
    pub fn unknown_node(self, key: &str, name: &Text, mut known: Vec<&str>) -> Diagnostic {
        known.dedup();
        let several: Vec<&str> = name.value.split(',').map(str::trim).collect();
        let help = if several.len() > 1 && several.iter().all(|name| known.contains(name)) {
            "it names one node; of several transitions the first whose `when` is true is taken".to_owned()
        } else {
            suggest::closest(&name.value, known.iter().copied())
                .map_or_else(|| format!("the nodes are {}", known.join(", ")), suggest::did_you_mean)
        };
        let message = format!("`{key}` names `{}`, and there is no such node", name.value);
        Diagnostic::error(ErrorKind::NodeNotFound, message, self.source, Some(name.span.clone())).help(help)
    }
}
