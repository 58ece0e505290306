//! The page that lists every key of every policy file, from the tables that their readers use.

use std::fmt::Write;

use crate::format::{FORMATS, Format};
use crate::text::keys::{Key, Mapping, Takes};

/// As Markdown.
pub fn key_reference() -> String {
    let mut page = Page {
        text: String::from(
            "# Keys\n\n<!-- Made by `cargo xtask generate`. -->\n\nEvery key of every policy file, as `linchpin validate` knows \
             it. What is plural takes one or a list.\n",
        ),
        told: Vec::new(),
    };
    for format in &FORMATS {
        page.format(format);
    }
    page.text
}

struct Page {
    text: String,
    /// The groups of keys that have been listed.
    told: Vec<&'static [Key]>,
}

impl Page {
    fn format(&mut self, format: &Format) {
        let _ = write!(self.text, "\n## {}\n\n`{}`", format.title, format.files);
        let mut mappings = format.mappings();
        if let Takes::Mapping(whole) = format.holds {
            let _ = writeln!(self.text, ": {}", whole.about);
            self.keys(whole);
            mappings.retain(|mapping| mapping.name != whole.name);
        } else {
            let _ = writeln!(self.text, ": {}.", in_words(&format.holds));
        }
        for mapping in mappings {
            if mapping.keys.iter().all(|group| self.has_told(group)) {
                continue;
            }
            let _ = writeln!(self.text, "\n### {}\n\n{}", mapping.name, mapping.about);
            self.keys(mapping);
        }
    }

    fn keys(&mut self, mapping: &Mapping) {
        let (told, new): (Vec<&'static [Key]>, Vec<_>) =
            mapping.keys.iter().copied().partition(|group| self.has_told(group));
        if !told.is_empty() {
            let names = told.iter().flat_map(|group| group.iter()).map(|key| format!("`{}`", key.name));
            let _ = writeln!(self.text, "\nAs above: {}.", names.collect::<Vec<_>>().join(", "));
        }
        self.text.push_str("\n| key | takes | default | meaning |\n|---|---|---|---|\n");
        for group in new {
            for key in group {
                self.key(key);
            }
            self.told.push(group);
        }
        if let Some(others) = mapping.others {
            let _ = writeln!(self.text, "| any other name | {} | | |", in_words(others));
        }
    }

    fn key(&mut self, key: &Key) {
        let default = key.default.map(|default| format!("`{default}` ")).unwrap_or_default();
        let _ = writeln!(self.text, "| `{}` | {} | {default}| {} |", key.name, in_words(&key.takes), key.about);
    }

    fn has_told(&self, group: &[Key]) -> bool {
        self.told.iter().any(|told| std::ptr::eq(*told, group))
    }
}

fn in_words(takes: &Takes) -> String {
    let listed = |words: Vec<&str>| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match takes {
        Takes::Anything => "anything".to_owned(),
        Takes::Flag => "`true` or `false`".to_owned(),
        Takes::Count => "a whole number".to_owned(),
        Takes::Number => "a number".to_owned(),
        Takes::Amount => "an amount: `200K`, `5M`".to_owned(),
        Takes::Text => "text".to_owned(),
        Takes::Texts => "texts".to_owned(),
        Takes::Word(words) => listed(words()),
        Takes::Words(words) => format!("any of {}", listed(words())),
        Takes::Version => "a version: `0.2`, `1.0.3`".to_owned(),
        Takes::Duration => "a time: `500ms`, `2s`, `5m`, `1h`, `90d`".to_owned(),
        Takes::Size => "a size: `16 KiB`".to_owned(),
        Takes::Expression => "an [expression](../expressions.md)".to_owned(),
        Takes::Regex => "a regex".to_owned(),
        Takes::Regexes => "regexes".to_owned(),
        Takes::Pattern => "[pattern](../patterns.md)".to_owned(),
        Takes::Patterns => "[patterns](../patterns.md)".to_owned(),
        Takes::Globs => "names, which may have `*`".to_owned(),
        Takes::Named(inner) => format!("a mapping of names, each to {}", in_words(inner)),
        Takes::List(inner) => format!("a list, each {}", in_words(inner)),
        Takes::Either(several) => several.iter().map(in_words).collect::<Vec<_>>().join(" or "),
        Takes::Mapping(mapping) => format!("[{}](#{})", mapping.name, mapping.name.replace(' ', "-")),
    }
}
