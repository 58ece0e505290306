//! Reads lists of rules (`rules`, `check_rules` and `tool_rules`) without looking up the names in them.
//!
//! Configurations, workflows, nodes, hats and actions all have such lists.

use crate::text::diagnostic::DiagnosticKind;
use crate::text::fields::{Fields, SpannedText};
use crate::text::yaml::{Yaml, YamlNode};

/// The items that a list accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// Names of rules, and inline rules.
    Rules,
    /// Names of rules.
    Names,
    /// Inline tool rules.
    ToolRules,
}

/// A list of rules, under `rules` or another key.
#[derive(Debug, Clone, PartialEq)]
pub struct UnresolvedList {
    pub key: &'static str,
    pub kind: ListKind,
    pub items: Vec<RuleItem>,
    /// A condition that applies to all items.
    pub when: Option<String>,
}

/// An item of a `rules` list.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleItem {
    Name(SpannedText),
    /// An inline rule, and the offset at which the next item starts.
    Inline(YamlNode, usize),
}

/// Reads `rules`, `check_rules` and `tool_rules`.
pub fn read_rule_lists(fields: &mut Fields) -> [UnresolvedList; 3] {
    let list = |key, kind, items| UnresolvedList { key, kind, items, when: None };
    let rules = read_rule_items("rules", fields);
    let names = fields.texts("check_rules").unwrap_or_default().into_iter().map(RuleItem::Name).collect();
    let tool_rules = read_rule_items("tool_rules", fields);
    [
        list("rules", ListKind::Rules, rules),
        list("check_rules", ListKind::Names, names),
        list("tool_rules", ListKind::ToolRules, tool_rules),
    ]
}

/// Reads a list of names and inline rules.
pub fn read_rule_items(key: &str, fields: &mut Fields) -> Vec<RuleItem> {
    let Some(node) = fields.take(key) else { return Vec::new() };
    let Yaml::List(items) = node.value else {
        fields.refuse(
            DiagnosticKind::InvalidValue,
            format!("`{key}` must be a list of rules and rule names"),
            node.span,
        );
        return Vec::new();
    };
    let ends: Vec<usize> = items.iter().skip(1).map(|item| item.span.start).chain([fields.end_of(key)]).collect();
    let mut items_read = Vec::new();
    for (item, end) in items.into_iter().zip(ends) {
        match item.value {
            Yaml::Text(value) => items_read.push(RuleItem::Name(SpannedText { value, span: item.span })),
            Yaml::Map(_) => items_read.push(RuleItem::Inline(item, end)),
            other => fields.refuse(
                DiagnosticKind::InvalidValue,
                format!("`{key}` must list rules and rule names, not {}", other.kind()),
                item.span,
            ),
        }
    }
    items_read
}
