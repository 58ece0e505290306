//! Collects the rules of a workflow, node or hat from all its lists.
//!
//! A named rule from elsewhere keeps its id. A rule of the workflow's `rule_definitions` has the id `WORKFLOW/NAME`. An
//! inline rule has the id `WORKFLOW/NUMBER`, or `WORKFLOW/NODE/NUMBER` in a node. The number counts from 1 over all
//! lists of the workflow or node; if the rule has a `name`, the name replaces the number. So a rule that a workflow
//! defines never replaces a rule from elsewhere.

use std::ops::Range;

use engine::rules::{AckBy, Rule};

use crate::config::Config;
use crate::list_resolver::{RuleLookup, id_from_title, join_conditions, name_in_tool_rules_error, non_tool_rule_error};
use crate::people_only;
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::Diagnostic;
use crate::text::fields::{Fields, SpannedText};
use crate::unresolved_list::{ListKind, RuleItem, UnresolvedList, read_rule_lists};

#[derive(Debug)]
pub struct SpannedRule {
    pub rule: Rule,
    pub span: Range<usize>,
}

/// The part of a file that a list of rules belongs to.
#[derive(Debug, Clone, Copy)]
pub enum RuleOwner<'a> {
    Workflow,
    Node(&'a str),
    Hat(&'a str),
}

pub struct RuleCollector<'a> {
    workflow: &'a str,
    owner: RuleOwner<'a>,
    reader: RuleReader<'a>,
    rule_lookup: &'a RuleLookup<'a>,
    config: &'a Config,
    /// The number of list items so far.
    count: usize,
    rules: Vec<SpannedRule>,
    problems: Vec<Diagnostic>,
}

impl<'a> RuleCollector<'a> {
    pub fn new(
        workflow: &'a str,
        owner: RuleOwner<'a>,
        reader: RuleReader<'a>,
        rule_lookup: &'a RuleLookup<'a>,
        config: &'a Config,
    ) -> Self {
        Self { workflow, owner, reader, rule_lookup, config, count: 0, rules: Vec::new(), problems: Vec::new() }
    }

    /// The id of a rule of this part of the file: `last` with the names of the workflow, and of the node or hat.
    pub fn id(&self, last: &str) -> String {
        match self.owner {
            RuleOwner::Node(part) | RuleOwner::Hat(part) => format!("{}/{part}/{last}", self.workflow),
            RuleOwner::Workflow => format!("{}/{last}", self.workflow),
        }
    }

    pub fn finish(mut self, problems: &mut Vec<Diagnostic>) -> Vec<SpannedRule> {
        problems.append(&mut self.problems);
        let needs_person =
            |spanned: &&SpannedRule| spanned.rule.as_pace_rule().is_some() && spanned.rule.ack == AckBy::Human;
        if let Some(SpannedRule { rule, span }) = self.rules.iter().find(needs_person) {
            let (rule, span) = (people_only::continue_command_rule(self.id("continue"), rule), span.clone());
            self.add(rule, span);
        }
        self.rules
    }

    /// Reads `rules`, `check_rules` and `tool_rules`.
    pub fn add_lists(&mut self, fields: &mut Fields) {
        for list in read_rule_lists(fields) {
            self.add_list(list);
        }
    }

    pub fn add_list(&mut self, UnresolvedList { key, kind, items, when }: UnresolvedList) {
        for (index, item) in items.into_iter().enumerate() {
            self.count += 1;
            let item_name =
                if key == "rules" { format!("rule {}", index + 1) } else { format!("`{key}` {}", index + 1) };
            match item {
                RuleItem::Name(name) if kind == ListKind::ToolRules => {
                    self.report(name_in_tool_rules_error(key, name.span, self.reader.source), &item_name);
                }
                RuleItem::Name(name) => self.add_named(&name, &item_name),
                RuleItem::Inline(node, end) => {
                    let span = node.span.clone();
                    let id = self.id(&id_from_title(&node).unwrap_or_else(|| self.count.to_string()));
                    let text = self.reader.source.entry_span(span.start, end);
                    let parsed = self.reader.read_entry(&id, RuleOrigin::Inline, node, text);
                    parsed.problems.into_iter().for_each(|problem| self.report(problem, &item_name));
                    let Some(definition) = parsed.definition else { continue };
                    let source = self.reader.source;
                    if let (ListKind::ToolRules, Some(problem)) =
                        (kind, non_tool_rule_error(key, &definition, span.clone(), source))
                    {
                        self.report(problem, &item_name);
                        continue;
                    }
                    self.add_definition(definition, when.as_deref(), span);
                }
            }
        }
    }

    /// Adds a rule that was not read from a list.
    pub fn add(&mut self, rule: Rule, span: Range<usize>) {
        self.rules.push(SpannedRule { rule, span });
    }

    fn add_named(&mut self, name: &SpannedText, item_name: &str) {
        match self.rule_lookup.get(name) {
            Ok(Some(definition)) => {
                let definition = with_workflow_prefix(definition.clone(), self.workflow);
                // A rule that is named twice is added once.
                if !self
                    .rules
                    .iter()
                    .any(|added| added.rule.id == definition.rule.id && added.rule.digest == definition.rule.digest)
                {
                    self.add_definition(definition, None, name.span.clone());
                }
            }
            Ok(None) => {}
            Err(problem) => self.report(*problem, item_name),
        }
    }

    fn add_definition(&mut self, mut definition: RuleDefinition, when: Option<&str>, span: Range<usize>) {
        if !definition.enabled {
            return;
        }
        definition.set_default_max_holds(self.config.max_holds(definition.file_tier));
        let mut rule = definition.rule;
        rule.when = join_conditions(when, rule.when);
        self.rules.push(SpannedRule { rule, span });
    }

    /// Reports a problem of a list item.
    fn report(&mut self, problem: Diagnostic, item_name: &str) {
        let item_name = Some(item_name.to_owned());
        self.problems.push(match self.owner {
            RuleOwner::Node(node) => problem.in_workflow(Some(node), item_name),
            RuleOwner::Workflow => problem.in_workflow(None, item_name),
            RuleOwner::Hat(hat) => problem.in_context(Some(format!("hat `{hat}`")), item_name),
        });
    }
}

/// Adds the workflow's name to the id of a rule from its `rule_definitions`.
pub fn with_workflow_prefix(mut definition: RuleDefinition, workflow: &str) -> RuleDefinition {
    if definition.origin == RuleOrigin::Local {
        definition.rule.id = format!("{workflow}/{}", definition.rule.id);
    }
    definition
}
