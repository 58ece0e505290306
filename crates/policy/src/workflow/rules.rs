//! Collects the rules of a workflow, node or hat from all its lists.
//!
//! Ids of the rules: A named rule from elsewhere keeps its id. A rule of the workflow's `rule_definitions` is
//! `WORKFLOW/NAME`. An inline rule is `WORKFLOW/NUMBER`, or `WORKFLOW/NODE/NUMBER` in a node, numbered from 1 over all
//! lists of the owner; if it has a `name`, that replaces the number. So a workflow's own rule never replaces a rule
//! from elsewhere.

use std::ops::Range;

use engine::rules::{AckBy, Rule};

use crate::config::Config;
use crate::list_resolver::{RuleLookup, both, refuse_name, refuse_non_tool_rule, title_id};
use crate::people_only;
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::Diagnostic;
use crate::text::fields::{Fields, SpannedText};
use crate::unresolved_list::{ListKind, RuleItem, UnresolvedList, rule_lists};

#[derive(Debug)]
pub struct SpannedRule {
    pub rule: Rule,
    pub span: Range<usize>,
}

/// The owner of a list of rules.
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
    names: &'a RuleLookup<'a>,
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
        names: &'a RuleLookup<'a>,
        config: &'a Config,
    ) -> Self {
        Self { workflow, owner, reader, names, config, count: 0, rules: Vec::new(), problems: Vec::new() }
    }

    /// The id with the owner's prefix.
    pub fn id(&self, last: &str) -> String {
        match self.owner {
            RuleOwner::Node(part) | RuleOwner::Hat(part) => format!("{}/{part}/{last}", self.workflow),
            RuleOwner::Workflow => format!("{}/{last}", self.workflow),
        }
    }

    pub fn finish(mut self, problems: &mut Vec<Diagnostic>) -> Vec<SpannedRule> {
        problems.append(&mut self.problems);
        let waits_for_a_person =
            |placed: &&SpannedRule| placed.rule.as_pace_rule().is_some() && placed.rule.ack == AckBy::Human;
        if let Some(SpannedRule { rule, span }) = self.rules.iter().find(waits_for_a_person) {
            let (rule, span) = (people_only::continue_command_rule(self.id("continue"), rule), span.clone());
            self.add(rule, span);
        }
        self.rules
    }

    /// Reads `rules` and its other spellings.
    pub fn lists(&mut self, fields: &mut Fields) {
        for list in rule_lists(fields) {
            self.list(list);
        }
    }

    pub fn list(&mut self, UnresolvedList { key, kind, items, when }: UnresolvedList) {
        for (at, item) in items.into_iter().enumerate() {
            self.count += 1;
            let entry = if key == "rules" { format!("rule {}", at + 1) } else { format!("`{key}` {}", at + 1) };
            match item {
                RuleItem::Name(name) if kind == ListKind::ToolRules => {
                    self.report(refuse_name(key, name.span, self.reader.source), &entry);
                }
                RuleItem::Name(name) => self.named(&name, &entry),
                RuleItem::Inline(node, end) => {
                    let span = node.span.clone();
                    let id = self.id(&title_id(&node).unwrap_or_else(|| self.count.to_string()));
                    let text = self.reader.source.extent(span.start, end);
                    let reading = self.reader.entry(&id, RuleOrigin::Inline, node, text);
                    reading.problems.into_iter().for_each(|problem| self.report(problem, &entry));
                    let Some(definition) = reading.definition else { continue };
                    let source = self.reader.source;
                    if let (ListKind::ToolRules, Some(problem)) =
                        (kind, refuse_non_tool_rule(key, &definition, span.clone(), source))
                    {
                        self.report(problem, &entry);
                        continue;
                    }
                    self.put(definition, when.as_deref(), span);
                }
            }
        }
    }

    /// Adds a rule that was not read from a list.
    pub fn add(&mut self, rule: Rule, span: Range<usize>) {
        self.rules.push(SpannedRule { rule, span });
    }

    fn named(&mut self, name: &SpannedText, entry: &str) {
        match self.names.get(name) {
            Ok(Some(found)) => {
                let found = with_workflow_prefix(found.clone(), self.workflow);
                // A rule that is named twice is added once.
                if !self
                    .rules
                    .iter()
                    .any(|known| known.rule.id == found.rule.id && known.rule.digest == found.rule.digest)
                {
                    self.put(found, None, name.span.clone());
                }
            }
            Ok(None) => {}
            Err(problem) => self.report(*problem, entry),
        }
    }

    fn put(&mut self, mut definition: RuleDefinition, when: Option<&str>, span: Range<usize>) {
        if !definition.enabled {
            return;
        }
        definition.set_default_max_holds(self.config.max_holds(definition.owner));
        let mut rule = definition.rule;
        rule.when = both(when, rule.when);
        self.rules.push(SpannedRule { rule, span });
    }

    /// Reports a problem of a list item.
    fn report(&mut self, problem: Diagnostic, entry: &str) {
        let entry = Some(entry.to_owned());
        self.problems.push(match self.owner {
            RuleOwner::Node(node) => problem.in_workflow(Some(node), entry),
            RuleOwner::Workflow => problem.in_workflow(None, entry),
            RuleOwner::Hat(hat) => problem.in_place(Some(format!("hat `{hat}`")), entry),
        });
    }
}

/// Prefixes the id of a rule from the workflow's own `rule_definitions`.
pub fn with_workflow_prefix(mut definition: RuleDefinition, workflow: &str) -> RuleDefinition {
    if definition.origin == RuleOrigin::Local {
        definition.rule.id = format!("{workflow}/{}", definition.rule.id);
    }
    definition
}
