//! One configuration file, beside its settings: the rules that it names, imports and defines.

use super::Unaccepted;
use crate::listing::{Listing, rule_lists};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, Text};
use crate::text::yaml::{Yaml, YamlKey, YamlNode};

/// What one configuration file says that is more than a setting.
#[derive(Debug, Default)]
pub struct ConfigFile {
    /// `rules` and its other spellings, in the order in which rules are counted.
    pub lists: Vec<Listing>,
    /// `triggers`, and where they end: they are read once all names are known.
    pub triggers: Option<(YamlNode, usize)>,
    pub imports: Vec<Text>,
    /// `rule_definitions`: its entries, and where they end.
    pub definitions: (Vec<(YamlKey, YamlNode)>, usize),
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
