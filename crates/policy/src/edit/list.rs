//! Texts in a list under a key of the outermost mapping: added, taken out.

use super::document::{Document, Ways};
use super::layout::Layout;
use super::mapping::{entries_at, put};
use super::refusal::EditRefusal;
use super::splice::Splice;
use crate::text::diagnostic::ErrorKind;
use crate::text::scalar::Scalar;
use crate::text::yaml::{Yaml, YamlKey, YamlNode};

impl Document {
    pub fn has_item(&self, list: &str, item: &str) -> bool {
        self.items(list).is_ok_and(|items| items.iter().any(|node| is_text(node, item)))
    }

    /// Puts a text at the end of a list; the list is made where there is none.
    pub fn add_item(&self, list: &str, item: &str) -> Result<String, EditRefusal> {
        let (mapping, entries) = self.mapping(&[])?;
        let layout = self.layout();
        let text = Scalar::Text(item.to_owned()).render();
        let ways = match entries.iter().find(|(entry, _)| entry.text == list) {
            None => {
                let key = Scalar::Text(list.to_owned()).render();
                let block = format!("{key}:\n  - {text}");
                layout.ways_to_append(mapping, entries, &block, &format!("{key}: [{text}]"))
            }
            Some((key, value)) if value.value == Yaml::Null => layout.ways_to_begin_list(key, value, &text),
            Some((_, value)) => layout.ways_to_add(value, self.items(list)?, &text),
        };
        let mut items = self.items(list)?.to_vec();
        items.push(YamlNode { value: Yaml::Text(item.to_owned()), span: 0..0 });
        self.settle(list, &ways, |root| put(root, &[], list, Yaml::List(items)))
    }

    /// Takes every item with this text out of a list, with the comment lines directly above it.
    pub fn remove_item(&self, list: &str, item: &str) -> Result<String, EditRefusal> {
        let items = self.items(list)?;
        let Some(place) = items.iter().position(|node| is_text(node, item)) else {
            return Ok(self.text().to_owned());
        };
        let (_, entries) = self.mapping(&[])?;
        let layout = self.layout();
        let ways = match entries.iter().find(|(entry, _)| entry.text == list) {
            Some((key, value)) => layout.ways_to_take_out(key, value, items, place),
            None => Vec::new(),
        };
        let text = self.settle(list, &ways, |root| {
            let entry = entries_at(root, &[]).and_then(|entries| entries.iter_mut().find(|(key, _)| key.text == list));
            if let Some((_, YamlNode { value: Yaml::List(items), .. })) = entry {
                items.remove(place);
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
                let message = format!("`{list}` takes a list, and here it is {}", other.kind());
                Err(EditRefusal::new(ErrorKind::InvalidValue, message).help("make it a list first"))
            }
        }
    }
}

fn is_text(node: &YamlNode, text: &str) -> bool {
    matches!(&node.value, Yaml::Text(value) if value == text)
}

impl Layout<'_> {
    fn ways_to_begin_list(&self, key: &YamlKey, value: &YamlNode, text: &str) -> Ways {
        if !value.span.is_empty() {
            return vec![vec![Splice { range: value.span.clone(), text: format!("[{text}]") }]];
        }
        let colon = self.colon_end(key);
        let indentation = self.indentation(key.span.start);
        let line = self.lines_at(self.line_end(colon), &format!("{indentation}  - {text}"));
        vec![vec![line], vec![Splice::insert(colon, format!(" [{text}]"))]]
    }

    fn ways_to_add(&self, list: &YamlNode, items: &[YamlNode], text: &str) -> Ways {
        let Some(final_item) = items.last() else {
            return vec![vec![Splice::insert(list.span.end, text)]];
        };
        let before = self.slice(self.line_start(final_item.span.start)..final_item.span.start);
        let end = self.end_of(final_item);
        if !self.is_flow(list) {
            let ends = self.line_ends(&(final_item.span.start..end)).into_iter();
            return ends.map(|end| vec![self.lines_at(end, &format!("{before}{text}"))]).collect();
        }
        let mut ways = Vec::new();
        if before.trim().is_empty() && !before.is_empty() {
            // One a line: a comment behind the last item stays with it.
            let line_end = self.line_end(end);
            ways.push(if self.slice(end..line_end).trim_start().starts_with(',') {
                vec![self.lines_at(line_end, &format!("{before}{text},"))]
            } else {
                vec![Splice::insert(end, ","), self.lines_at(line_end, &format!("{before}{text}"))]
            });
        }
        ways.push(vec![Splice::insert(end, format!(", {text}"))]);
        ways
    }

    fn ways_to_take_out(&self, key: &YamlKey, list: &YamlNode, items: &[YamlNode], place: usize) -> Ways {
        let extents: Vec<_> = items.iter().map(|item| item.span.start..self.end_of(item)).collect();
        if self.is_flow(list) {
            return self.ways_to_cut_from_flow(list, &extents, place);
        }
        let Some(extent) = extents.get(place) else { return Vec::new() };
        let mut ways = self.ways_to_cut_lines(extent);
        if items.len() == 1 {
            // A key with nothing behind it is no empty list.
            for way in &mut ways {
                way.insert(0, Splice::insert(self.colon_end(key), " []"));
            }
        }
        ways
    }
}
