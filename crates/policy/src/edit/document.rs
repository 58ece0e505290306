//! A YAML file, or a Markdown rule with YAML frontmatter, that can be edited without changing anything else in it.

use std::ops::Range;

use super::layout::Layout;
use super::refusal::EditRefusal;
use super::splice::{self, Splice};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::frontmatter;
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml, YamlKey, YamlNode};

#[derive(Debug)]
pub struct Document {
    source: Source,
    /// The part of the source that is YAML.
    yaml_range: Range<usize>,
    root: YamlNode,
    kind: DocumentKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentKind {
    Yaml,
    Rule,
}

pub(super) type YamlEntry = (YamlKey, YamlNode);

/// Alternative splices for one change, the best first. The first that parses to the intended tree is used.
pub(super) type SpliceAlternatives = Vec<Vec<Splice>>;

impl Document {
    /// Parses `config.yml` or a rule library. `name` is the display name.
    pub fn of_yaml(name: &str, text: &str) -> Result<Self, Box<Diagnostic>> {
        Self::read(Source::new(name, text), DocumentKind::Yaml)
    }

    /// Parses a Markdown rule. Its body is never changed.
    pub fn of_rule(name: &str, text: &str) -> Result<Self, Box<Diagnostic>> {
        Self::read(Source::new(name, text), DocumentKind::Rule)
    }

    fn read(source: Source, kind: DocumentKind) -> Result<Self, Box<Diagnostic>> {
        let yaml_range = match kind {
            DocumentKind::Yaml => 0..source.text.len(),
            DocumentKind::Rule => frontmatter::split(&source)?.yaml,
        };
        let root = yaml::parse(&source, yaml_range.clone())?;
        if !matches!(root.value, Yaml::Map(_)) {
            let message = format!("expected a mapping, found {}", root.value.kind());
            return Err(Box::new(Diagnostic::error(DiagnosticKind::InvalidValue, message, &source, Some(root.span))));
        }
        Ok(Self { source, yaml_range, root, kind })
    }

    /// Parses a new text of the same file.
    pub(super) fn with_text(&self, text: &str) -> Result<Self, Box<Diagnostic>> {
        Self::read(Source::new(&self.source.name, text), self.kind)
    }

    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// The top-level keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().map(|(key, _)| key.text.as_str())
    }

    pub fn is_mapping(&self, key: &str) -> bool {
        self.entries().iter().any(|(entry, node)| entry.text == key && matches!(node.value, Yaml::Map(_)))
    }

    pub fn boolean(&self, key: &str) -> Option<bool> {
        match self.entries().iter().find(|(entry, _)| entry.text == key)?.1.value {
            Yaml::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// An error at a list item; `None` if the list does not have the item.
    pub(super) fn item_problem(
        &self,
        list: &str,
        item: &str,
        kind: DiagnosticKind,
        message: &str,
    ) -> Option<Diagnostic> {
        let (_, value) = self.entries().iter().find(|(entry, _)| entry.text == list)?;
        let Yaml::List(items) = &value.value else { return None };
        let item_node = items.iter().find(|node| node.value == Yaml::Text(item.to_owned()))?;
        Some(Diagnostic::error(kind, message, &self.source, Some(item_node.span.clone())))
    }

    fn entries(&self) -> &[YamlEntry] {
        match &self.root.value {
            Yaml::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn root(&self) -> &YamlNode {
        &self.root
    }

    pub(super) fn layout(&self) -> Layout<'_> {
        Layout::new(&self.source.text, self.yaml_range.clone())
    }

    /// The mapping at the path `keys`.
    pub(super) fn mapping(&self, keys: &[&str]) -> Result<(&YamlNode, &[YamlEntry]), EditRefusal> {
        let mut node = &self.root;
        for wanted in keys {
            let entry = match &node.value {
                Yaml::Map(entries) => entries.iter().find(|(key, _)| key.text == *wanted),
                _ => None,
            };
            node = &entry.ok_or_else(|| self.not_editable(wanted))?.1;
        }
        match &node.value {
            Yaml::Map(entries) => Ok((node, entries)),
            _ => Err(self.not_editable(keys.last().unwrap_or(&"the file"))),
        }
    }

    /// Applies the first alternative whose text parses to the tree that `change` makes of the current one. `key`: the
    /// changed key, for the error.
    pub(super) fn first_valid_text(
        &self,
        key: &str,
        alternatives: &SpliceAlternatives,
        change: impl FnOnce(&mut YamlNode),
    ) -> Result<String, EditRefusal> {
        let mut intended = self.root.clone();
        change(&mut intended);
        let texts = alternatives.iter().filter_map(|splices| splice::apply(&self.source.text, splices));
        let mut valid = texts.filter(|text| self.parses_to(text, &intended));
        valid.next().ok_or_else(|| self.not_editable(key))
    }

    fn parses_to(&self, text: &str, intended: &YamlNode) -> bool {
        let source = Source::new(&self.source.name, text);
        let has_same_body = match self.kind {
            DocumentKind::Yaml => true,
            DocumentKind::Rule => match (frontmatter::split(&self.source), frontmatter::split(&source)) {
                (Ok(old), Ok(new)) => old.body == new.body && old.yaml.start == new.yaml.start,
                _ => false,
            },
        };
        has_same_body && self.with_text(text).is_ok_and(|read| is_same_tree(&read.root, intended))
    }

    pub(super) fn not_editable(&self, key: &str) -> EditRefusal {
        let message = format!("`{key}` in `{}` cannot be changed safely by a command", self.source.name);
        EditRefusal::new(DiagnosticKind::NotEditable, message)
            .help("change it in an editor, then run `linchpin validate`")
    }
}

/// Compares two trees, ignoring spans.
fn is_same_tree(one: &YamlNode, other: &YamlNode) -> bool {
    match (&one.value, &other.value) {
        (Yaml::List(one), Yaml::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same_tree(one, other))
        }
        (Yaml::Map(one), Yaml::Map(other)) => {
            let is_same_entry =
                |(one, other): (&YamlEntry, &YamlEntry)| one.0.text == other.0.text && is_same_tree(&one.1, &other.1);
            one.len() == other.len() && one.iter().zip(other).all(is_same_entry)
        }
        (one, other) => one == other,
    }
}
