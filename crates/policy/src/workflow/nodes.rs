//! The nodes of a workflow and the ways out of them.

use engine::expr::Scope;
use engine::rules::Rule;
use engine::suggest;
use engine::workflow::{Node, Requirement, Transition, Workflow};

use super::file::File;
use super::gates::GateReader;
use super::keys::{NODE, TRANSITION};
use super::rules::{Owner, PlacedRule};
use super::tool_lists;
use crate::actions::{ActionReader, Site, Templates};
use crate::rule_list::NamedRules;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, Text};
use crate::text::source::Source;
use crate::text::yaml::{self, Key, Yaml};
use crate::values::expression::check_expression;

/// What nodes are read by.
pub struct Ground<'a> {
    pub names: &'a NamedRules<'a>,
    /// For what is not about a move.
    pub scope: &'a Scope,
    pub moves: &'a Scope,
    pub gates: &'a GateReader<'a>,
    /// The nodes that a way can lead to.
    pub targets: Vec<&'a str>,
}

impl File<'_> {
    pub fn node(
        self,
        (key, node, end): (&Key, yaml::Node, usize),
        ground: &Ground,
        templates: &mut Templates,
        problems: &mut Vec<Diagnostic>,
    ) -> (Node, Vec<PlacedRule>) {
        let name = key.text.as_str();
        let mut fields = Fields::of(node, self.source, NODE.keys).until(end);
        fields.refuse_unknown();
        let prompt = self.prompt(key, &mut fields, templates);
        let mut rules = self.gathering(Owner::Node(name), self.rule_reader(ground.scope), ground.names);
        rules.lists(&mut fields);
        tool_lists::read(name, &mut rules, &mut fields);
        let requires = ground.gates.of_node(name, &mut fields);
        let mut blocked = |list| rules.list(list);
        let mut actions = |site: Site, key: &str, fields: &mut Fields| {
            let end = fields.end_of(key);
            let Some(node) = fields.take(key) else { return Vec::new() };
            let mut reader = ActionReader {
                site,
                source: self.source,
                tier: self.tier,
                scope: ground.moves,
                users_variables: &self.around.loaded.ground.users_variables,
                blocked: &mut blocked,
                templates,
                problems: &mut fields.problems,
            };
            reader.list(key, node, end)
        };
        let on_enter = actions(Site::Enter, "on_enter", &mut fields);
        let on_exit = actions(Site::Exit, "on_exit", &mut fields);
        let transitions = self.transitions(name, ground, &mut fields);
        let placed = rules.finish(problems);
        problems.extend(fields.problems.into_iter().map(|problem| problem.in_workflow(Some(name), None)));
        let rules: Vec<Rule> = placed.iter().map(|placed| placed.rule.clone()).collect();
        (Node { name: name.to_owned(), prompt, rules, requires, on_enter, on_exit, transitions }, placed)
    }

    fn prompt(self, key: &Key, fields: &mut Fields, templates: &mut Templates) -> String {
        let is_needed = !fields.has("prompt") && fields.problems.is_empty() && !Workflow::is_end(&key.text);
        let Some(prompt) = fields.text("prompt") else {
            if is_needed {
                fields.problems.push(
                    Diagnostic::error(
                        ErrorKind::MissingKey,
                        format!("the node `{}` has no `prompt`", key.text),
                        self.source,
                        Some(key.span.clone()),
                    )
                    .help("say what the agent is to do in this phase"),
                );
            }
            return String::new();
        };
        let before = templates.problems.len();
        let place = |part: &std::ops::Range<usize>| self.source.within(&prompt.span, &prompt.value, part);
        let text = templates.check(&prompt.value, self.source, place);
        // What is wrong with a guide is not the node's.
        for problem in templates.problems.iter_mut().skip(before).filter(|found| found.source.name == self.source.name)
        {
            *problem = problem.clone().in_workflow(Some(&key.text), None);
        }
        text
    }

    fn transitions(self, node: &str, ground: &Ground, fields: &mut Fields) -> Vec<Transition> {
        let key = fields.key_span("transitions");
        let Some(found) = fields.take("transitions") else { return Vec::new() };
        let Yaml::List(items) = found.value else {
            let message = format!("`transitions` takes a list, not {}", found.value.kind());
            fields.refuse(ErrorKind::InvalidValue, message, found.span);
            return Vec::new();
        };
        if let (true, false, Some(span)) = (Workflow::is_end(node), items.is_empty(), key) {
            fields.refuse(ErrorKind::InvalidValue, format!("nothing follows `{node}`"), span);
        }
        let items = items.into_iter().enumerate();
        items.filter_map(|(place, item)| self.transition(node, place + 1, item, ground, fields)).collect()
    }

    fn transition(
        self,
        node: &str,
        number: usize,
        item: yaml::Node,
        ground: &Ground,
        around: &mut Fields,
    ) -> Option<Transition> {
        let span = item.span.clone();
        let mut fields = Fields::of(item, self.source, TRANSITION.keys);
        let is_mapping = fields.problems.is_empty();
        fields.refuse_unknown();
        for key in ["when", "to"] {
            if is_mapping && !fields.has(key) {
                fields.refuse(ErrorKind::MissingKey, format!("transition {number} has no `{key}`"), span.clone());
            }
        }
        let when = fields.text("when");
        if let Some(when) = &when {
            check_expression(when, ground.moves, &mut fields);
        }
        let to = fields.text("to");
        if let Some(to) = to.as_ref().filter(|to| !ground.targets.contains(&to.value.as_str())) {
            let problem = unknown_node("to", to, ground.targets.clone(), self.source);
            fields.problems.push(problem);
        }
        let requires: Vec<Requirement> = ground.gates.of_transition(node, number, &mut fields);
        around.problems.append(&mut fields.problems);
        Some(Transition { when: when?.value, to: to?.value, requires })
    }
}

pub fn unknown_node(key: &str, name: &Text, mut known: Vec<&str>, source: &Source) -> Diagnostic {
    known.dedup();
    let several: Vec<&str> = name.value.split(',').map(str::trim).collect();
    let help = if several.len() > 1 && several.iter().all(|name| known.contains(name)) {
        "it names one node; of several transitions the first whose `when` is true is taken".to_owned()
    } else {
        suggest::closest(&name.value, known.iter().copied())
            .map_or_else(|| format!("the nodes are {}", known.join(", ")), suggest::did_you_mean)
    };
    let message = format!("`{key}` names `{}`, and there is no such node", name.value);
    Diagnostic::error(ErrorKind::NodeNotFound, message, source, Some(name.span.clone())).help(help)
}
