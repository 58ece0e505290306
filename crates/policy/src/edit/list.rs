//! Adds and removes strings in a list under a top-level key.

use super::document::{Document, SpliceAlternatives};
use super::layout::Layout;
use super::mapping::{entries_at, set_value};
use super::refusal::EditRefusal;
use super::splice::Splice;
use crate::text::diagnostic::DiagnosticKind;
use crate::text::scalar::Scalar;
use crate::text::yaml::{Yaml, YamlKey, YamlNode};

impl Document {
    pub fn has_item(&self, list: &str, item: &str) -> bool {
        self.items(list).is_ok_and(|items| items.iter().any(|node| is_text(node, item)))
    }

    /// Appends a string to a list, and creates the list if needed.
    pub fn add_item(&self, list: &str, item: &str) -> Result<String, EditRefusal> {
        let (mapping, entries) = self.mapping(&[])?;
        let layout = self.layout();
        let text = Scalar::Text(item.to_owned()).render();
        let alternatives = match entries.iter().find(|(entry, _)| entry.text == list) {
            None => {
                let key = Scalar::Text(list.to_owned()).render();
                let block = format!("{key}:\n  - {text}");
                layout.alternatives_to_append(mapping, entries, &block, &format!("{key}: [{text}]"))
            }
            Some((key, value)) if value.value == Yaml::Null => layout.alternatives_to_begin_list(key, value, &text),
            Some((_, value)) => layout.alternatives_to_append_item(value, self.items(list)?, &text),
        };
        let mut items = self.items(list)?.to_vec();
        items.push(YamlNode { value: Yaml::Text(item.to_owned()), span: 0..0 });
        self.first_valid_text(list, &alternatives, |root| set_value(root, &[], list, Yaml::List(items)))
    }

    /// Removes every item that equals `item`, with the comment lines directly above it.
    pub fn remove_item(&self, list: &str, item: &str) -> Result<String, EditRefusal> {
        let items = self.items(list)?;
        let Some(index) = items.iter().position(|node| is_text(node, item)) else {
            return Ok(self.text().to_owned());
        };
        let (_, entries) = self.mapping(&[])?;
        let layout = self.layout();
        let alternatives = match entries.iter().find(|(entry, _)| entry.text == list) {
            Some((key, value)) => layout.alternatives_to_remove_item(key, value, items, index),
            None => Vec::new(),
        };
        let text = self.first_valid_text(list, &alternatives, |root| {
            let entry = entries_at(root, &[]).and_then(|entries| entries.iter_mut().find(|(key, _)| key.text == list));
            if let Some((_, YamlNode { value: Yaml::List(items), .. })) = entry {
                items.remove(index);
            }
        })?;
        self.with_text(&text)?.remove_item(list, item)
    }

    fn items(&self, list: &str) -> Result<&[YamlNode], EditRefusal> {
        let Yaml::Map(entries) = &self.root().value else { return Ok(&[]) };
        match entries.iter().find(|(entry, _)| entry.text == list).map(|(_, node)| &node.value) {
            None | Some(Yaml::Null) => Ok(&[]),
            Some(Yaml::List(items)) => Ok(items),
            Some(other) => {
                let message = format!("`{list}` must be a list, but here it is {}", other.kind());
                Err(EditRefusal::new(DiagnosticKind::InvalidValue, message).help("change it to a list first"))
            }
        }
    }
}

fn is_text(node: &YamlNode, text: &str) -> bool {
    matches!(&node.value, Yaml::Text(value) if value == text)
}

impl Layout<'_> {
    fn alternatives_to_begin_list(&self, key: &YamlKey, value: &YamlNode, text: &str) -> SpliceAlternatives {
        if !value.span.is_empty() {
            return vec![vec![Splice { range: value.span.clone(), text: format!("[{text}]") }]];
        }
        let colon = self.colon_end(key);
        let indentation = self.indentation(key.span.start);
        let line = self.insert_lines(self.line_end(colon), &format!("{indentation}  - {text}"));
        vec![vec![line], vec![Splice::insert(colon, format!(" [{text}]"))]]
    }

    fn alternatives_to_append_item(&self, list: &YamlNode, items: &[YamlNode], text: &str) -> SpliceAlternatives {
        let Some(final_item) = items.last() else {
            return vec![vec![Splice::insert(list.span.end, text)]];
        };
        let before = self.slice(self.line_start(final_item.span.start)..final_item.span.start);
        let end = self.end_of(final_item);
        if !self.is_flow(list) {
            let ends = self.line_ends(&(final_item.span.start..end)).into_iter();
            return ends.map(|end| vec![self.insert_lines(end, &format!("{before}{text}"))]).collect();
        }
        let mut alternatives = Vec::new();
        if before.trim().is_empty() && !before.is_empty() {
            // One item per line: a comment after the last item stays on its line.
            let line_end = self.line_end(end);
            alternatives.push(if self.slice(end..line_end).trim_start().starts_with(',') {
                vec![self.insert_lines(line_end, &format!("{before}{text},"))]
            } else {
                vec![Splice::insert(end, ","), self.insert_lines(line_end, &format!("{before}{text}"))]
            });
        }
        alternatives.push(vec![Splice::insert(end, format!(", {text}"))]);
        alternatives
    }

    fn alternatives_to_remove_item(
        &self,
        key: &YamlKey,
        list: &YamlNode,
        items: &[YamlNode],
        index: usize,
    ) -> SpliceAlternatives {
        let extents: Vec<_> = items.iter().map(|item| item.span.start..self.end_of(item)).collect();
        if self.is_flow(list) {
            return self.alternatives_to_cut_from_flow(list, &extents, index);
        }
        let Some(extent) = extents.get(index) else { return Vec::new() };
        let mut alternatives = self.alternatives_to_cut_lines(extent);
        if items.len() == 1 {
            // A key without a value is null, not an empty list.
            for alternative in &mut alternatives {
                alternative.insert(0, Splice::insert(self.colon_end(key), " []"));
            }
        }
        alternatives
    }
}
