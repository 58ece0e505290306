//! The parts of a configuration file that are not merged into [`Config`](super::Config): mainly its rules.

use super::SpannedSetting;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::yaml::{Yaml, YamlKey, YamlNode};
use crate::unresolved_list::{UnresolvedList, read_rule_lists};

#[derive(Debug, Default)]
pub struct ConfigFile {
    /// `rules`, `check_rules` and `tool_rules`, in the order in which inline rules are numbered.
    pub lists: Vec<UnresolvedList>,
    /// `triggers` and the offset of their end. They are read after all names were declared.
    pub triggers: Option<(YamlNode, usize)>,
    pub imports: Vec<SpannedText>,
    /// The entries of `rule_definitions`, and the offset of their end.
    pub definitions: (Vec<(YamlKey, YamlNode)>, usize),
    pub settings_needing_trust: Vec<SpannedSetting>,
    /// The text of `variables`, on which the `when` of rules may depend.
    pub variables_text: String,
    /// The text of `observers`, on which the `when` of rules may depend.
    pub observers_text: String,
    /// The text of `triggers`, on which the `when` of rules may depend.
    pub triggers_text: String,
    pub problems: Vec<Diagnostic>,
}

impl ConfigFile {
    pub(super) fn take_rules(&mut self, fields: &mut Fields) {
        self.imports = fields.texts("imports").unwrap_or_default();
        match fields.take("rule_definitions").map(|node| (node.span, node.value)) {
            Some((_, Yaml::Map(entries))) => self.definitions = (entries, fields.end_of("rule_definitions")),
            Some((span, other)) => fields.refuse(
                DiagnosticKind::InvalidValue,
                format!("`rule_definitions` must be a mapping of names to rules, not {}", other.kind()),
                span,
            ),
            None => {}
        }
        self.lists = read_rule_lists(fields).into();
        let end = fields.end_of("triggers");
        if let Some(span) = fields.key_span("triggers") {
            let text = fields.source().entry_span(span.start, end);
            self.triggers_text.push_str(fields.source().text.get(text).unwrap_or_default());
        }
        self.triggers = fields.take("triggers").map(|node| (node, end));
    }
}
