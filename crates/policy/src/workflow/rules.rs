//! The rules of a workflow or of one of its nodes, from every list that may hold them.
//!
//! What they are called: a rule that is named from elsewhere keeps its id. One of the workflow's own `rule_definitions` is
//! `WORKFLOW/NAME`. One that is written in a list is `WORKFLOW/NUMBER`, or `WORKFLOW/NODE/NUMBER` in a node, counted from
//! one over all lists of the place; with a `name` it goes by that in the number's place. So a workflow never takes a rule of
//! another id out of force.

use std::ops::Range;

use engine::rules::{AckBy, Rule};

use crate::config::Config;
use crate::listing::{ListOf, Listing, RuleItem, rule_lists};
use crate::people_only;
use crate::rule::definition::{Definition, Form};
use crate::rule::reader::RuleReader;
use crate::rule_list::{NamedRules, both, no_name, no_tool_rule, title_id};
use crate::text::diagnostic::Diagnostic;
use crate::text::fields::{Fields, Text};

/// A rule, and where the workflow says it.
#[derive(Debug)]
pub struct PlacedRule {
    pub rule: Rule,
    pub span: Range<usize>,
}

/// What the rules are of.
#[derive(Debug, Clone, Copy)]
pub enum Owner<'a> {
    Workflow,
    Node(&'a str),
    Hat(&'a str),
}

pub struct RuleGathering<'a> {
    workflow: &'a str,
    owner: Owner<'a>,
    reader: RuleReader<'a>,
    names: &'a NamedRules<'a>,
    config: &'a Config,
    /// How many entries there were so far.
    count: usize,
    rules: Vec<PlacedRule>,
    problems: Vec<Diagnostic>,
}

impl<'a> RuleGathering<'a> {
    pub fn new(
        workflow: &'a str,
        owner: Owner<'a>,
        reader: RuleReader<'a>,
        names: &'a NamedRules<'a>,
        config: &'a Config,
    ) -> Self {
        Self { workflow, owner, reader, names, config, count: 0, rules: Vec::new(), problems: Vec::new() }
    }

    /// An id of this place.
    pub fn id(&self, last: &str) -> String {
        match self.owner {
            Owner::Node(part) | Owner::Hat(part) => format!("{}/{part}/{last}", self.workflow),
            Owner::Workflow => format!("{}/{last}", self.workflow),
        }
    }

    pub fn finish(mut self, problems: &mut Vec<Diagnostic>) -> Vec<PlacedRule> {
        problems.append(&mut self.problems);
        let waits_for_a_person =
            |placed: &&PlacedRule| placed.rule.as_pace_rule().is_some() && placed.rule.ack == AckBy::Human;
        if let Some(PlacedRule { rule, span }) = self.rules.iter().find(waits_for_a_person) {
            let (rule, span) = (people_only::going_on(self.id("continue"), rule), span.clone());
            self.made(rule, span);
        }
        self.rules
    }

    /// `rules` and its other spellings.
    pub fn lists(&mut self, fields: &mut Fields) {
        for list in rule_lists(fields) {
            self.list(list);
        }
    }

    pub fn list(&mut self, Listing { key, of, items, when }: Listing) {
        for (at, item) in items.into_iter().enumerate() {
            self.count += 1;
            let entry = if key == "rules" { format!("rule {}", at + 1) } else { format!("`{key}` {}", at + 1) };
            match item {
                RuleItem::Name(name) if of == ListOf::ToolRules => {
                    self.say(no_name(key, name.span, self.reader.source), &entry);
                }
                RuleItem::Name(name) => self.named(&name, &entry),
                RuleItem::Inline(node, end) => {
                    let span = node.span.clone();
                    let id = self.id(&title_id(&node).unwrap_or_else(|| self.count.to_string()));
                    let text = self.reader.source.extent(span.start, end);
                    let reading = self.reader.entry(&id, Form::Inline, node, text);
                    reading.problems.into_iter().for_each(|problem| self.say(problem, &entry));
                    let Some(definition) = reading.definition else { continue };
                    let source = self.reader.source;
                    if let (ListOf::ToolRules, Some(problem)) =
                        (of, no_tool_rule(key, &definition, span.clone(), source))
                    {
                        self.say(problem, &entry);
                        continue;
                    }
                    self.put(definition, when.as_deref(), span);
                }
            }
        }
    }

    /// A rule that no list of rules holds.
    pub fn made(&mut self, rule: Rule, span: Range<usize>) {
        self.rules.push(PlacedRule { rule, span });
    }

    fn named(&mut self, name: &Text, entry: &str) {
        match self.names.get(name) {
            Ok(Some(found)) => {
                let found = own_id(found.clone(), self.workflow);
                // Named twice is in force once.
                if !self
                    .rules
                    .iter()
                    .any(|known| known.rule.id == found.rule.id && known.rule.digest == found.rule.digest)
                {
                    self.put(found, None, name.span.clone());
                }
            }
            Ok(None) => {}
            Err(problem) => self.say(*problem, entry),
        }
    }

    fn put(&mut self, mut definition: Definition, when: Option<&str>, span: Range<usize>) {
        if !definition.enabled {
            return;
        }
        definition.complete(self.config.max_holds(definition.owner));
        let mut rule = definition.rule;
        rule.when = both(when, rule.when);
        self.rules.push(PlacedRule { rule, span });
    }

    /// With the place in the list.
    fn say(&mut self, problem: Diagnostic, entry: &str) {
        let entry = Some(entry.to_owned());
        self.problems.push(match self.owner {
            Owner::Node(node) => problem.in_workflow(Some(node), entry),
            Owner::Workflow => problem.in_workflow(None, entry),
            Owner::Hat(hat) => problem.in_place(Some(format!("hat `{hat}`")), entry),
        });
    }
}

/// A rule of the workflow's own gets an id of the workflow's own.
pub fn own_id(mut definition: Definition, workflow: &str) -> Definition {
    if definition.form == Form::Local {
        definition.rule.id = format!("{workflow}/{}", definition.rule.id);
    }
    definition
}
