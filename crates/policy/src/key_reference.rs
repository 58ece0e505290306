//! Generates the reference page of all keys of policy files from the key tables.

use std::fmt::Write;

use crate::format::{FORMATS, FileFormat};
use crate::text::keys::{Key, Mapping, ValueType};

/// The reference page as Markdown.
pub fn key_reference() -> String {
    let mut page = Page {
        text: String::from(
            "# Keys\n\n<!-- Made by `cargo xtask generate`. -->\n\nEvery key of every policy file, as `linchpin validate` \
             checks it. A plural type takes one value or a list.\n",
        ),
        listed_groups: Vec::new(),
    };
    for format in &FORMATS {
        page.push_format(format);
    }
    page.text
}

struct Page {
    text: String,
    /// The groups of keys that are on the page already.
    listed_groups: Vec<&'static [Key]>,
}

impl Page {
    fn push_format(&mut self, format: &FileFormat) {
        let _ = write!(self.text, "\n## {}\n\n`{}`", format.title, format.files);
        let mut mappings = format.mappings();
        if let ValueType::Mapping(root_mapping) = format.value_type {
            let _ = writeln!(self.text, ": {}", root_mapping.about);
            self.push_keys(root_mapping);
            mappings.retain(|mapping| mapping.name != root_mapping.name);
        } else {
            let _ = writeln!(self.text, ": {}.", describe_type(&format.value_type));
        }
        for mapping in mappings {
            if mapping.keys.iter().all(|group| self.is_listed(group)) {
                continue;
            }
            let _ = writeln!(self.text, "\n### {}\n\n{}", mapping.name, mapping.about);
            self.push_keys(mapping);
        }
    }

    fn push_keys(&mut self, mapping: &Mapping) {
        let (listed, new): (Vec<&'static [Key]>, Vec<_>) =
            mapping.keys.iter().copied().partition(|group| self.is_listed(group));
        if !listed.is_empty() {
            let names = listed.iter().flat_map(|group| group.iter()).map(|key| format!("`{}`", key.name));
            let _ = writeln!(self.text, "\nAs above: {}.", names.collect::<Vec<_>>().join(", "));
        }
        self.text.push_str("\n| key | takes | default | meaning |\n|---|---|---|---|\n");
        for group in new {
            for key in group {
                self.push_key(key);
            }
            self.listed_groups.push(group);
        }
        if let Some(other_keys) = mapping.other_keys {
            let _ = writeln!(self.text, "| any other name | {} | | |", describe_type(other_keys));
        }
    }

    fn push_key(&mut self, key: &Key) {
        let default = key.default.map(|default| format!("`{default}` ")).unwrap_or_default();
        let _ =
            writeln!(self.text, "| `{}` | {} | {default}| {} |", key.name, describe_type(&key.value_type), key.about);
    }

    fn is_listed(&self, group: &[Key]) -> bool {
        self.listed_groups.iter().any(|listed| std::ptr::eq(*listed, group))
    }
}

fn describe_type(value_type: &ValueType) -> String {
    let listed = |words: Vec<&str>| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match value_type {
        ValueType::Anything => "anything".to_owned(),
        ValueType::Boolean => "`true` or `false`".to_owned(),
        ValueType::Integer => "an integer".to_owned(),
        ValueType::Number => "a number".to_owned(),
        ValueType::Amount => "an amount: `200K`, `5M`".to_owned(),
        ValueType::Text => "text".to_owned(),
        ValueType::Texts => "texts".to_owned(),
        ValueType::Choice(words) => listed(words()),
        ValueType::Choices(words) => format!("any of {}", listed(words())),
        ValueType::Version => "a version: `0.2`, `1.0.3`".to_owned(),
        ValueType::Duration => "a duration: `500ms`, `2s`, `5m`, `1h`, `90d`".to_owned(),
        ValueType::Size => "a size: `16 KiB`".to_owned(),
        ValueType::Expression => "an [expression](../expressions.md)".to_owned(),
        ValueType::Regex => "a regex".to_owned(),
        ValueType::Regexes => "regexes".to_owned(),
        ValueType::Pattern => "[pattern](../patterns.md)".to_owned(),
        ValueType::Patterns => "[patterns](../patterns.md)".to_owned(),
        ValueType::Globs => "names, with `*` as a wildcard".to_owned(),
        ValueType::Named(inner) => format!("a mapping of names, each to {}", describe_type(inner)),
        ValueType::List(inner) => format!("a list, each {}", describe_type(inner)),
        ValueType::Either(several) => several.iter().map(describe_type).collect::<Vec<_>>().join(" or "),
        ValueType::Mapping(mapping) => format!("[{}](#{})", mapping.name, mapping.name.replace(' ', "-")),
    }
}
