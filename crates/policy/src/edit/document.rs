//! A YAML text, or the YAML part of a Markdown rule, that can be changed without touching the rest of it.

use std::ops::Range;

use super::layout::Layout;
use super::refusal::EditRefusal;
use super::splice::{self, Splice};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::frontmatter;
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml, YamlKey, YamlNode};

#[derive(Debug)]
pub struct Document {
    source: Source,
    /// What is YAML in it.
    part: Range<usize>,
    root: YamlNode,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Yaml,
    Rule,
}

pub(super) type Entry = (YamlKey, YamlNode);

/// The ways to write a change, the best first: the first that reads as intended is taken.
pub(super) type Ways = Vec<Vec<Splice>>;

impl Document {
    /// `config.yml` or a rule library. `name` is how messages call it.
    pub fn of_yaml(name: &str, text: &str) -> Result<Self, Box<Diagnostic>> {
        Self::read(Source::new(name, text), Form::Yaml)
    }

    /// A Markdown rule; its body is never changed.
    pub fn of_rule(name: &str, text: &str) -> Result<Self, Box<Diagnostic>> {
        Self::read(Source::new(name, text), Form::Rule)
    }

    fn read(source: Source, form: Form) -> Result<Self, Box<Diagnostic>> {
        let part = match form {
            Form::Yaml => 0..source.text.len(),
            Form::Rule => frontmatter::split(&source)?.yaml,
        };
        let root = yaml::parse(&source, part.clone())?;
        if !matches!(root.value, Yaml::Map(_)) {
            let message = format!("expected a mapping, found {}", root.value.kind());
            return Err(Box::new(Diagnostic::error(ErrorKind::InvalidValue, message, &source, Some(root.span))));
        }
        Ok(Self { source, part, root, form })
    }

    /// The same file with another text.
    pub(super) fn with_text(&self, text: &str) -> Result<Self, Box<Diagnostic>> {
        Self::read(Source::new(&self.source.name, text), self.form)
    }

    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// The keys of the outermost mapping, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().map(|(key, _)| key.text.as_str())
    }

    pub fn is_mapping(&self, key: &str) -> bool {
        self.entries().iter().any(|(entry, node)| entry.text == key && matches!(node.value, Yaml::Map(_)))
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.entries().iter().find(|(entry, _)| entry.text == key)?.1.value {
            Yaml::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// A problem with the place of a text in a list.
    pub(super) fn item_problem(&self, list: &str, item: &str, kind: ErrorKind, message: &str) -> Option<Diagnostic> {
        let (_, value) = self.entries().iter().find(|(entry, _)| entry.text == list)?;
        let Yaml::List(items) = &value.value else { return None };
        let found = items.iter().find(|node| node.value == Yaml::Text(item.to_owned()))?;
        Some(Diagnostic::error(kind, message, &self.source, Some(found.span.clone())))
    }

    fn entries(&self) -> &[Entry] {
        match &self.root.value {
            Yaml::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn root(&self) -> &YamlNode {
        &self.root
    }

    pub(super) fn layout(&self) -> Layout<'_> {
        Layout::new(&self.source.text, self.part.clone())
    }

    /// The mapping that the keys lead to.
    pub(super) fn mapping(&self, keys: &[&str]) -> Result<(&YamlNode, &[Entry]), EditRefusal> {
        let mut node = &self.root;
        for wanted in keys {
            let found = match &node.value {
                Yaml::Map(entries) => entries.iter().find(|(key, _)| key.text == *wanted),
                _ => None,
            };
            node = &found.ok_or_else(|| self.not_editable(wanted))?.1;
        }
        match &node.value {
            Yaml::Map(entries) => Ok((node, entries)),
            _ => Err(self.not_editable(keys.last().unwrap_or(&"the file"))),
        }
    }

    /// The first way that reads as the tree which `change` makes of the present one.
    pub(super) fn settle(
        &self,
        what: &str,
        ways: &Ways,
        change: impl FnOnce(&mut YamlNode),
    ) -> Result<String, EditRefusal> {
        let mut intended = self.root.clone();
        change(&mut intended);
        let texts = ways.iter().filter_map(|splices| splice::apply(&self.source.text, splices));
        let mut sound = texts.filter(|text| self.reads_as(text, &intended));
        sound.next().ok_or_else(|| self.not_editable(what))
    }

    fn reads_as(&self, text: &str, intended: &YamlNode) -> bool {
        let source = Source::new(&self.source.name, text);
        let same_body = match self.form {
            Form::Yaml => true,
            Form::Rule => match (frontmatter::split(&self.source), frontmatter::split(&source)) {
                (Ok(old), Ok(new)) => old.body == new.body && old.yaml.start == new.yaml.start,
                _ => false,
            },
        };
        same_body && self.with_text(text).is_ok_and(|read| says_the_same(&read.root, intended))
    }

    pub(super) fn not_editable(&self, what: &str) -> EditRefusal {
        let message =
            format!("`{what}` in `{}` is written in a way that no command can change safely", self.source.name);
        EditRefusal::new(ErrorKind::NotEditable, message).help("change it by hand; `linchpin validate` checks it")
    }
}

/// Order counts, places do not.
fn says_the_same(one: &YamlNode, other: &YamlNode) -> bool {
    match (&one.value, &other.value) {
        (Yaml::List(one), Yaml::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| says_the_same(one, other))
        }
        (Yaml::Map(one), Yaml::Map(other)) => {
            let same = |(one, other): (&Entry, &Entry)| one.0.text == other.0.text && says_the_same(&one.1, &other.1);
            one.len() == other.len() && one.iter().zip(other).all(same)
        }
        (one, other) => one == other,
    }
}
