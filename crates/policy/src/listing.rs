//! Lists of rules as files write them: `rules` and its other spellings, before any name is looked up.
//!
//! Knows no format: a configuration, a workflow, a node, a hat and an action all have such lists.

use crate::text::diagnostic::ErrorKind;
use crate::text::fields::{Fields, Text};
use crate::text::yaml::{Yaml, YamlNode};

/// What a list of rules may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOf {
    Rules,
    Names,
    ToolRules,
}

/// A list of rules, under `rules` or another key.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    pub key: &'static str,
    pub of: ListOf,
    pub items: Vec<RuleItem>,
    /// What must be true for all of them.
    pub when: Option<String>,
}

/// An item of a `rules` list.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleItem {
    Name(Text),
    /// A rule written there, with where the next item starts.
    Inline(YamlNode, usize),
}

/// `rules` and its other spellings.
pub fn rule_lists(fields: &mut Fields) -> [Listing; 3] {
    let listing = |key, of, items| Listing { key, of, items, when: None };
    let rules = rule_items("rules", fields);
    let names = fields.texts("check_rules").unwrap_or_default().into_iter().map(RuleItem::Name).collect();
    let tool_rules = rule_items("tool_rules", fields);
    [
        listing("rules", ListOf::Rules, rules),
        listing("check_rules", ListOf::Names, names),
        listing("tool_rules", ListOf::ToolRules, tool_rules),
    ]
}

/// A list of names and rules.
pub fn rule_items(key: &str, fields: &mut Fields) -> Vec<RuleItem> {
    let Some(node) = fields.take(key) else { return Vec::new() };
    let Yaml::List(items) = node.value else {
        fields.refuse(ErrorKind::InvalidValue, format!("`{key}` takes a list of names and rules"), node.span);
        return Vec::new();
    };
    let ends: Vec<usize> = items.iter().skip(1).map(|item| item.span.start).chain([fields.end_of(key)]).collect();
    let mut found = Vec::new();
    for (item, end) in items.into_iter().zip(ends) {
        match item.value {
            Yaml::Text(value) => found.push(RuleItem::Name(Text { value, span: item.span })),
            Yaml::Map(_) => found.push(RuleItem::Inline(item, end)),
            other => fields.refuse(
                ErrorKind::InvalidValue,
                format!("`{key}` takes names of rules, and rules, not {}", other.kind()),
                item.span,
            ),
        }
    }
    found
}
