//! Support for DeepWork's syntax of two settings: `rules: {enabled: …, rules_dir: …}`.

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::keys::{self, Key, Mapping, ValueType};
use crate::text::source::Source;
use crate::text::yaml::{Yaml, YamlNode};

pub static NESTED_RULES: Mapping = Mapping::new(
    "rules settings",
    "DeepWork's syntax for two settings; they mean the same as next to `rules`.",
    &[KEYS],
);
static KEYS: &[Key] = &[
    Key::new("enabled", ValueType::Boolean, "the same as `enabled` of the configuration").with_default("true"),
    Key::new("rules_dir", ValueType::Text, "the same as `rules_dir` of the configuration"),
];

/// Moves the settings under a `rules` mapping to the top level.
pub fn move_to_top_level(root: &mut YamlNode, source: &Source) -> Vec<Diagnostic> {
    let Yaml::Map(entries) = &mut root.value else { return Vec::new() };
    let Some(index) = entries.iter().position(|(key, node)| key.text == "rules" && matches!(node.value, Yaml::Map(_)))
    else {
        return Vec::new();
    };
    let Yaml::Map(nested) = entries.remove(index).1.value else { return Vec::new() };
    let mut problems = Vec::new();
    for (key, node) in nested {
        let span = Some(key.span.clone());
        if !keys::all_keys(NESTED_RULES.keys).any(|known| known.name == key.text) {
            let message = format!("unknown key `{}` under `rules`", key.text);
            problems.push(Diagnostic::error(DiagnosticKind::UnknownKey, message, source, span).help(
                "`rules` may be a list of rules and rule names, or a mapping with `enabled` and `rules_dir`; define \
                 rules by name under `rule_definitions`",
            ));
        } else if entries.iter().any(|(known, _)| known.text == key.text) {
            let message = format!("duplicate key `{}`: it is set under `rules` and next to it", key.text);
            problems
                .push(Diagnostic::error(DiagnosticKind::InvalidValue, message, source, span).help("keep one of them"));
        } else {
            entries.push((key, node));
        }
    }
    problems
}
