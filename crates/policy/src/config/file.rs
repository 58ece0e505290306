//! One configuration file, beside its settings: the rules that it names, imports and defines.

use super::Unaccepted;
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::fields::{Fields, Text};
use crate::yaml::{Key, Node, Yaml};

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
    pub rules: Vec<RuleItem>,
    pub imports: Vec<Text>,
    /// `rule_definitions`: its entries, and where they end.
    pub definitions: (Vec<(Key, Node)>, usize),
    pub settings: Vec<Unaccepted>,
    /// The texts of `variables`, on which a rule's `when` may depend.
    pub variables: String,
    /// The text of `observers`, likewise.
    pub observers: String,
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
        self.rules = rule_items("rules", fields);
    }
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
