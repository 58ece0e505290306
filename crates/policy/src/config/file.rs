//! One configuration file, beside its settings: the rules that it names, imports and defines.

use super::Unaccepted;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, Text};
use crate::text::yaml::{Key, Node, Yaml};

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
    Inline(Node, usize),
}

/// What one configuration file says that is more than a setting.
#[derive(Debug, Default)]
pub struct ConfigFile {
    /// `rules` and its other spellings, in the order in which rules are counted.
    pub lists: Vec<Listing>,
    /// `triggers`, and where they end: they are read once all names are known.
    pub triggers: Option<(Node, usize)>,
    pub imports: Vec<Text>,
    /// `rule_definitions`: its entries, and where they end.
    pub definitions: (Vec<(Key, Node)>, usize),
    pub settings: Vec<Unaccepted>,
    /// The texts of `variables`, on which a rule's `when` may depend.
    pub variables: String,
    /// The text of `observers`, likewise.
    pub observers: String,
    /// The text of `triggers`, likewise.
    pub triggers_text: String,
    pub problems: Vec<Diagnostic>,
}

impl ConfigFile {
    pub(super) fn take_rules(&mut self, fields: &mut Fields) {
        self.imports = fields.texts("imports").unwrap_or_default();
        match fields.take("rule_definitions").map(|node| (node.span, node.value)) {
            Some((_, Yaml::Map(entries))) => self.definitions = (entries, fields.end_of("rule_definitions")),
            Some((span, other)) => fields.refuse(
                ErrorKind::InvalidValue,
                format!("`rule_definitions` takes a mapping of names to rules, not {}", other.kind()),
                span,
            ),
            None => {}
        }
        self.lists = rule_lists(fields).into();
        let end = fields.end_of("triggers");
        if let Some(span) = fields.key_span("triggers") {
            let text = fields.source().extent(span.start, end);
            self.triggers_text.push_str(fields.source().text.get(text).unwrap_or_default());
        }
        self.triggers = fields.take("triggers").map(|node| (node, end));
    }
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
