//! Reads lists of actions: `on_enter`, `on_exit`, and those of each event under `triggers`.

use std::collections::BTreeSet;

use engine::EventKind;
use engine::expr::{self, Scope};
use engine::observers::SetValue;
use engine::rules::Tier;
use engine::suggest;
use engine::workflow::{ActionKind, WorkflowAction};

use super::guides::Templates;
use super::keys::ACTION;
use crate::observers::contains_expression;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::text::yaml::{Yaml, YamlKey, YamlNode};
use crate::unresolved_list::{ListKind, UnresolvedList, read_rule_items};
use crate::values::expression::check_expression;
use crate::values::user_variable::conflict_with_user;

/// The list that an action is in, which determines when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionSite {
    Event(EventKind),
    Enter,
    Exit,
}

pub struct ActionReader<'a, 't> {
    pub site: ActionSite,
    pub source: &'a Source,
    pub tier: Tier,
    pub scope: &'a Scope,
    /// Variables of the user's policy, which a project cannot set.
    pub users_variables: &'a BTreeSet<String>,
    /// Receives the rules of `block_tools`.
    pub on_block_tools: &'a mut dyn FnMut(UnresolvedList),
    pub templates: &'a mut Templates<'t>,
    pub problems: &'a mut Vec<Diagnostic>,
}

impl ActionReader<'_, '_> {
    /// Reads the list of actions under `key`. `end`: an upper bound for the end of the list.
    pub fn read_list(&mut self, key: &str, node: YamlNode, end: usize) -> Vec<WorkflowAction> {
        let Yaml::List(items) = node.value else {
            let message = format!("`{key}` must be a list of actions, not {}", node.value.kind());
            self.problems.push(Diagnostic::error(DiagnosticKind::InvalidValue, message, self.source, Some(node.span)));
            return Vec::new();
        };
        let ends: Vec<usize> = items.iter().skip(1).map(|item| item.span.start).chain([end]).collect();
        let mut actions = Vec::new();
        for (item, end) in items.into_iter().zip(ends) {
            actions.extend(self.read_action(item, end));
        }
        actions
    }

    fn read_action(&mut self, node: YamlNode, end: usize) -> Option<WorkflowAction> {
        let span = node.span.clone();
        let mut fields = Fields::of(node, self.source, ACTION.keys).with_end(end);
        let is_mapping = fields.problems.is_empty();
        fields.refuse_unknown();
        let kinds: Vec<&str> =
            ["set", "inject", "block_tools", "action"].into_iter().filter(|kind| fields.has(kind)).collect();
        if is_mapping && kinds.len() != 1 {
            let message = "an action must have exactly one of `set`, `inject` and `block_tools`";
            fields.refuse(DiagnosticKind::MissingKey, message, span);
        }
        if let (false, Some(span)) = (fields.has("action"), fields.key_span("rules")) {
            let message = "`rules` is only allowed next to `action: block_tools`";
            let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, self.source, Some(span));
            fields.problems.push(problem.help("write `block_tools:` instead"));
        }
        let when = fields.text("when");
        let is_valid = when.as_ref().is_none_or(|when| check_expression(when, self.scope, &mut fields));
        let when = when.filter(|_| is_valid).map(|when| when.value);
        let kind = match kinds.as_slice() {
            ["set"] => self.read_set(&mut fields).map(ActionKind::Set),
            ["inject"] => self.read_inject(&mut fields).map(ActionKind::Inject),
            ["block_tools"] => {
                self.read_block_tools("block_tools", when.as_deref(), &mut fields);
                None
            }
            ["action"] => {
                self.read_named_action(when.as_deref(), &mut fields);
                None
            }
            _ => None,
        };
        self.problems.append(&mut fields.problems);
        Some(WorkflowAction { when, kind: kind? })
    }

    /// Reads Gobby's syntax: `action: block_tools` with `rules` next to it.
    fn read_named_action(&mut self, when: Option<&str>, fields: &mut Fields) {
        let Some(name) = fields.text("action") else { return };
        let help = match name.value.as_str() {
            "block_tools" if fields.has("rules") => {
                self.read_block_tools("rules", when, fields);
                return;
            }
            "block_tools" => {
                let message = "`action: block_tools` has no `rules`";
                fields.refuse(DiagnosticKind::MissingKey, message, name.span);
                return;
            }
            set if set.starts_with("set") => "write `set: {NAME: VALUE}`",
            inject if inject.starts_with("inject") => "write `inject: TEXT`",
            _ => "an action is `set: {…}`, `inject: TEXT` or `block_tools: […]`",
        };
        let message = format!("unknown action `{}`", name.value);
        let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, self.source, Some(name.span));
        fields.problems.push(problem.help(help));
    }

    /// Passes the rules under `key` to `on_block_tools`: they become rules of a workflow, a node or a configuration.
    fn read_block_tools(&mut self, key: &'static str, when: Option<&str>, fields: &mut Fields) {
        let span = fields.key_span(key).unwrap_or_default();
        let items = read_rule_items(key, fields);
        let (message, help) = match self.site {
            ActionSite::Event(EventKind::BeforeTool) | ActionSite::Enter => {
                let when = when.map(str::to_owned);
                (self.on_block_tools)(UnresolvedList { key: "block_tools", kind: ListKind::ToolRules, items, when });
                return;
            }
            ActionSite::Event(kind) => (
                format!("`block_tools` cannot block anything on `{}`: the event has no tool call", kind.name()),
                "move `block_tools` to `before_tool`, or move its rules to `rules`",
            ),
            ActionSite::Exit => (
                "`block_tools` has no effect in `on_exit`: the node no longer blocks anything".to_owned(),
                "move the rules to the `rules` of the node that they are for",
            ),
        };
        fields
            .problems
            .push(Diagnostic::error(DiagnosticKind::InvalidValue, message, self.source, Some(span)).help(help));
    }

    fn read_inject(&mut self, fields: &mut Fields) -> Option<String> {
        let text = fields.text("inject")?;
        let to_span = |part: &std::ops::Range<usize>| self.source.span_of_part(&text.span, &text.value, part);
        Some(self.templates.check(&text.value, self.source, to_span))
    }

    fn read_set(&mut self, fields: &mut Fields) -> Option<Vec<(String, SetValue)>> {
        let node = fields.take("set")?;
        let Yaml::Map(entries) = node.value else {
            let message = format!("`set` must be a mapping of variables to values, not {}", node.value.kind());
            fields.refuse(DiagnosticKind::InvalidValue, message, node.span);
            return None;
        };
        Some(entries.into_iter().filter_map(|(key, value)| self.read_variable(key, &value, fields)).collect())
    }

    fn read_variable(&self, key: YamlKey, value: &YamlNode, fields: &mut Fields) -> Option<(String, SetValue)> {
        if let Some(problem) = conflict_with_user(&key.text, self.tier, self.users_variables) {
            fields.problems.push(problem.diagnostic_at(self.source, key.span));
            return None;
        }
        if !self.scope.knows_variable(&key.text) {
            let help = suggest::closest(&key.text, self.scope.variables())
                .map_or_else(|| "declare it under `variables:`".to_owned(), suggest::did_you_mean);
            let message = format!("unknown variable `{}`", key.text);
            let problem = Diagnostic::error(DiagnosticKind::InvalidExpression, message, self.source, Some(key.span));
            fields.problems.push(problem.help(help));
            return None;
        }
        let Yaml::Text(text) = &value.value else {
            if contains_expression(value) {
                let message = "an expression must be the whole value of its variable, not part of a list or mapping";
                fields.refuse(DiagnosticKind::InvalidValue, message, value.span.clone());
            }
            return Some((key.text, SetValue::constant(&value.to_json())));
        };
        match SetValue::parse(text) {
            Ok((template, parts)) => {
                for part in parts {
                    let expression = text.get(part.clone()).unwrap_or_default();
                    for problem in expr::check(expression, self.scope) {
                        let span = part.start + problem.span.start..part.start + problem.span.end;
                        let span = self.source.span_of_part(&value.span, text, &span);
                        let diagnostic = Diagnostic::error(
                            DiagnosticKind::InvalidExpression,
                            problem.message,
                            self.source,
                            Some(span),
                        );
                        fields.problems.push(diagnostic.maybe_help(problem.help));
                    }
                }
                Some((key.text, template))
            }
            Err(problem) => {
                let span = self.source.span_of_part(&value.span, text, &problem.span);
                fields.refuse(DiagnosticKind::InvalidExpression, problem.message, span);
                None
            }
        }
    }
}
