//! Reads the nodes of a workflow and their transitions.

use engine::expr::Scope;
use engine::rules::Rule;
use engine::workflow::{Node, Requirement, Transition, Workflow};

use super::gates::GateReader;
use super::keys::{NODE, TRANSITION};
use super::rules::{RuleOwner, SpannedRule};
use super::tool_lists;
use super::workflow_reader::WorkflowReader;
use crate::actions::{ActionReader, ActionSite, Templates};
use crate::list_resolver::RuleLookup;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::Fields;
use crate::text::yaml::{self, Yaml, YamlKey, YamlNode};
use crate::values::expression::check_expression;

/// The names that nodes can refer to.
pub struct NodeContext<'a> {
    pub rule_lookup: &'a RuleLookup<'a>,
    /// The scope of expressions that are not evaluated at a transition.
    pub scope: &'a Scope,
    /// The scope of expressions that are evaluated at a transition: its condition, gates, `on_enter` and `on_exit`.
    pub transition_scope: &'a Scope,
    pub gates: &'a GateReader<'a>,
    /// The possible targets of transitions.
    pub targets: Vec<&'a str>,
}

/// Maximum number of nodes. More would be a mistake, and hard to follow.
const NODES_LIMIT: usize = 100;

impl WorkflowReader<'_> {
    /// Reads the entries of `nodes`, and reports invalid names.
    pub fn read_node_entries(self, fields: &mut Fields) -> Vec<(YamlKey, YamlNode)> {
        let entries = match fields.take("nodes").map(|node| (node.span, node.value)) {
            Some((_, Yaml::Map(entries))) if !entries.is_empty() => entries,
            Some((span, Yaml::Map(_))) => {
                fields.refuse(DiagnosticKind::MissingKey, "the workflow has no nodes", span);
                return Vec::new();
            }
            Some((span, other)) => {
                let message = format!("`nodes` must be a mapping of names to nodes, not {}", other.kind());
                fields.refuse(DiagnosticKind::InvalidValue, message, span);
                return Vec::new();
            }
            None => {
                let problem = Diagnostic::error(
                    DiagnosticKind::MissingKey,
                    "the workflow has no `nodes`",
                    self.source,
                    Some(0..0),
                );
                // Gobby's lifecycle workflows have no nodes.
                let is_always_on = ["triggers", "tool_rules", "check_rules"].iter().any(|key| fields.has(key));
                let help = "write `triggers`, `tool_rules` and `check_rules` that are always active into \
                            `.linchpin/config.yml`";
                fields.problems.push(problem.maybe_help(is_always_on.then(|| help.to_owned())));
                return Vec::new();
            }
        };
        if entries.len() > NODES_LIMIT {
            let message = format!("the workflow has {} nodes, over the limit of {NODES_LIMIT}", entries.len());
            let span = fields.key_span("nodes").unwrap_or_default();
            fields.refuse(DiagnosticKind::InvalidValue, message, span);
            return Vec::new();
        }
        let is_valid = |key: &YamlKey| {
            key.text.starts_with(|first: char| first.is_ascii_alphabetic())
                && key.text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        };
        for (key, _) in entries.iter().filter(|(key, _)| !is_valid(key)) {
            let message = format!("invalid node name `{}`", key.text);
            fields.problems.push(
                Diagnostic::error(DiagnosticKind::InvalidValue, message, self.source, Some(key.span.clone())).help(
                    "use letters, digits and `_`, and start with a letter: expressions use `<node>_complete` as a \
                     name",
                ),
            );
        }
        entries
    }

    /// Reads the nodes. Also returns the rules of all nodes. `end`: an upper bound for the end of the entries.
    pub fn read_nodes(
        self,
        entries: &[(YamlKey, YamlNode)],
        end: usize,
        context: &NodeContext,
        templates: &mut Templates,
        problems: &mut Vec<Diagnostic>,
    ) -> (Vec<Node>, Vec<SpannedRule>) {
        let (mut nodes, mut rules) = (Vec::new(), Vec::new());
        for ((key, node), end) in entries.iter().zip(yaml::entry_ends(entries, end)) {
            let (node, mut spanned_rules) = self.read_node((key, node.clone(), end), context, templates, problems);
            nodes.push(node);
            rules.append(&mut spanned_rules);
        }
        (nodes, rules)
    }

    fn read_node(
        self,
        (key, node, end): (&YamlKey, YamlNode, usize),
        context: &NodeContext,
        templates: &mut Templates,
        problems: &mut Vec<Diagnostic>,
    ) -> (Node, Vec<SpannedRule>) {
        let name = key.text.as_str();
        let mut fields = Fields::of(node, self.source, NODE.keys).with_end(end);
        fields.refuse_unknown();
        let prompt = self.read_prompt(key, &mut fields, templates);
        let mut rules =
            self.rule_collector(RuleOwner::Node(name), self.rule_reader(context.scope), context.rule_lookup);
        rules.add_lists(&mut fields);
        tool_lists::read(name, &mut rules, &mut fields);
        let requires = context.gates.read_node_requirements(name, &mut fields);
        let mut collect_rules = |list| rules.add_list(list);
        let mut actions = |site: ActionSite, key: &str, fields: &mut Fields| {
            let end = fields.end_of(key);
            let Some(node) = fields.take(key) else { return Vec::new() };
            let mut reader = ActionReader {
                site,
                source: self.source,
                tier: self.tier,
                scope: context.transition_scope,
                users_variables: &self.context.loaded.context.users_variables,
                on_block_tools: &mut collect_rules,
                templates,
                problems: &mut fields.problems,
            };
            reader.read_list(key, node, end)
        };
        let on_enter = actions(ActionSite::Enter, "on_enter", &mut fields);
        let on_exit = actions(ActionSite::Exit, "on_exit", &mut fields);
        let transitions = self.read_transitions(name, context, &mut fields);
        let spanned_rules = rules.finish(problems);
        problems.extend(fields.problems.into_iter().map(|problem| problem.in_workflow(Some(name), None)));
        let rules: Vec<Rule> = spanned_rules.iter().map(|spanned| spanned.rule.clone()).collect();
        (Node { name: name.to_owned(), prompt, rules, requires, on_enter, on_exit, transitions }, spanned_rules)
    }

    fn read_prompt(self, key: &YamlKey, fields: &mut Fields, templates: &mut Templates) -> String {
        let is_needed = !fields.has("prompt") && fields.problems.is_empty() && !Workflow::is_end(&key.text);
        let Some(prompt) = fields.text("prompt") else {
            if is_needed {
                fields.problems.push(
                    Diagnostic::error(
                        DiagnosticKind::MissingKey,
                        format!("the node `{}` has no `prompt`", key.text),
                        self.source,
                        Some(key.span.clone()),
                    )
                    .help("write a `prompt` that says what the agent has to do in this phase"),
                );
            }
            return String::new();
        };
        let before = templates.problems.len();
        let to_span = |part: &std::ops::Range<usize>| self.source.span_of_part(&prompt.span, &prompt.value, part);
        let text = templates.check(&prompt.value, self.source, to_span);
        // Only problems in the workflow's own file are problems of the node; problems in guides are not.
        for problem in
            templates.problems.iter_mut().skip(before).filter(|problem| problem.source.name == self.source.name)
        {
            *problem = problem.clone().in_workflow(Some(&key.text), None);
        }
        text
    }

    fn read_transitions(self, node: &str, context: &NodeContext, fields: &mut Fields) -> Vec<Transition> {
        let key = fields.key_span("transitions");
        let Some(node_value) = fields.take("transitions") else { return Vec::new() };
        let Yaml::List(items) = node_value.value else {
            let message = format!("`transitions` must be a list, not {}", node_value.value.kind());
            fields.refuse(DiagnosticKind::InvalidValue, message, node_value.span);
            return Vec::new();
        };
        if let (true, false, Some(span)) = (Workflow::is_end(node), items.is_empty(), key) {
            fields.refuse(DiagnosticKind::InvalidValue, format!("`{node}` cannot have transitions"), span);
        }
        let items = items.into_iter().enumerate();
        items.filter_map(|(index, item)| self.read_transition(node, index + 1, item, context, fields)).collect()
    }

    fn read_transition(
        self,
        node: &str,
        number: usize,
        item: YamlNode,
        context: &NodeContext,
        node_fields: &mut Fields,
    ) -> Option<Transition> {
        let span = item.span.clone();
        let mut fields = Fields::of(item, self.source, TRANSITION.keys);
        let is_mapping = fields.problems.is_empty();
        fields.refuse_unknown();
        for key in ["when", "to"] {
            if is_mapping && !fields.has(key) {
                fields.refuse(DiagnosticKind::MissingKey, format!("transition {number} has no `{key}`"), span.clone());
            }
        }
        let when = fields.text("when");
        if let Some(when) = &when {
            check_expression(when, context.transition_scope, &mut fields);
        }
        let to = fields.text("to");
        if let Some(to) = to.as_ref().filter(|to| !context.targets.contains(&to.value.as_str())) {
            let problem = self.unknown_node("to", to, context.targets.clone());
            fields.problems.push(problem);
        }
        let requires: Vec<Requirement> = context.gates.read_transition_requirements(node, number, &mut fields);
        node_fields.problems.append(&mut fields.problems);
        Some(Transition { when: when?.value, to: to?.value, requires })
    }
}
