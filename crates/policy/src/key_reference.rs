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
        listed: Vec::new(),
    };
    for format in &FORMATS {
        page.format(format);
    }
    page.text
}

struct Page {
    text: String,
    /// The groups of keys that are on the page already.
    listed: Vec<&'static [Key]>,
}

impl Page {
    fn format(&mut self, format: &FileFormat) {
        let _ = write!(self.text, "\n## {}\n\n`{}`", format.title, format.files);
        let mut mappings = format.mappings();
        if let ValueType::Mapping(whole) = format.value_type {
            let _ = writeln!(self.text, ": {}", whole.about);
            self.keys(whole);
            mappings.retain(|mapping| mapping.name != whole.name);
        } else {
            let _ = writeln!(self.text, ": {}.", in_words(&format.value_type));
        }
        for mapping in mappings {
            if mapping.keys.iter().all(|group| self.is_listed(group)) {
                continue;
            }
            let _ = writeln!(self.text, "\n### {}\n\n{}", mapping.name, mapping.about);
            self.keys(mapping);
        }
    }

    fn keys(&mut self, mapping: &Mapping) {
        let (listed, new): (Vec<&'static [Key]>, Vec<_>) =
            mapping.keys.iter().copied().partition(|group| self.is_listed(group));
        if !listed.is_empty() {
            let names = listed.iter().flat_map(|group| group.iter()).map(|key| format!("`{}`", key.name));
            let _ = writeln!(self.text, "\nAs above: {}.", names.collect::<Vec<_>>().join(", "));
        }
        self.text.push_str("\n| key | takes | default | meaning |\n|---|---|---|---|\n");
        for group in new {
            for key in group {
                self.key(key);
            }
            self.listed.push(group);
        }
        if let Some(others) = mapping.other_keys {
            let _ = writeln!(self.text, "| any other name | {} | | |", in_words(others));
        }
    }

    fn key(&mut self, key: &Key) {
        let default = key.default.map(|default| format!("`{default}` ")).unwrap_or_default();
        let _ = writeln!(self.text, "| `{}` | {} | {default}| {} |", key.name, in_words(&key.value_type), key.about);
    }

    fn is_listed(&self, group: &[Key]) -> bool {
        self.listed.iter().any(|listed| std::ptr::eq(*listed, group))
    }
}

fn in_words(takes: &ValueType) -> String {
    let listed = |words: Vec<&str>| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match takes {
        ValueType::Anything => "anything".to_owned(),
        ValueType::Flag => "`true` or `false`".to_owned(),
        ValueType::Count => "an integer".to_owned(),
        ValueType::Number => "a number".to_owned(),
        ValueType::Amount => "an amount: `200K`, `5M`".to_owned(),
        ValueType::Text => "text".to_owned(),
        ValueType::Texts => "texts".to_owned(),
        ValueType::Word(words) => listed(words()),
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
        ValueType::Named(inner) => format!("a mapping of names, each to {}", in_words(inner)),
        ValueType::List(inner) => format!("a list, each {}", in_words(inner)),
        ValueType::Either(several) => several.iter().map(in_words).collect::<Vec<_>>().join(" or "),
        ValueType::Mapping(mapping) => format!("[{}](#{})", mapping.name, mapping.name.replace(' ', "-")),
    }
}
