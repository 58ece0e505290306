//! Sets, adds and removes keys of a mapping.

use std::ops::Range;

use super::document::{Document, SpliceAlternatives, YamlEntry};
use super::layout::Layout;
use super::refusal::EditRefusal;
use super::splice::Splice;
use crate::text::scalar::Scalar;
use crate::text::yaml::{Yaml, YamlKey, YamlNode};

impl Document {
    /// Sets a key of the mapping at the path `within`. A new key is added at the end.
    pub fn set(&self, within: &[&str], key: &str, value: &Scalar) -> Result<String, EditRefusal> {
        let (mapping, entries) = self.mapping(within)?;
        let alternatives = if let Some((entry, old)) = entries.iter().find(|(entry, _)| entry.text == key) {
            self.alternatives_to_replace(entry, old, &value.render())
        } else {
            let text = format!("{}: {}", Scalar::Text(key.to_owned()).render(), value.render());
            self.layout().alternatives_to_append(mapping, entries, &text, &text)
        };
        self.first_valid_text(key, &alternatives, |root| set_value(root, within, key, value.to_yaml()))
    }

    /// Removes a key of the mapping at the path `within`, with its value and the comment lines directly above.
    pub fn remove(&self, within: &[&str], key: &str) -> Result<String, EditRefusal> {
        let (mapping, entries) = self.mapping(within)?;
        let layout = self.layout();
        let Some(index) = entries.iter().position(|(entry, _)| entry.text == key) else {
            return Ok(self.text().to_owned());
        };
        let extents: Vec<_> = entries.iter().map(|(key, value)| key.span.start..layout.entry_end(key, value)).collect();
        let alternatives = if layout.is_flow(mapping) {
            layout.alternatives_to_cut_from_flow(mapping, &extents, index)
        } else {
            extents.get(index).map_or_else(Vec::new, |extent| layout.alternatives_to_cut_lines(extent))
        };
        self.first_valid_text(key, &alternatives, |root| {
            if let Some(entries) = entries_at(root, within) {
                entries.retain(|(entry, _)| entry.text != key);
            }
        })
    }

    /// The text of a top-level entry, with the comment lines directly above it.
    pub fn entry_text(&self, key: &str) -> Option<&str> {
        let layout = self.layout();
        let (mapping, entries) = self.mapping(&[]).ok()?;
        let (entry, value) = entries.iter().find(|(entry, _)| entry.text == key)?;
        if layout.is_flow(mapping) {
            return None;
        }
        let end = layout.line_ends(&(entry.span.start..layout.entry_end(entry, value))).into_iter().next()?;
        Some(layout.slice(layout.with_comments_above(layout.line_start(entry.span.start))..end))
    }

    fn alternatives_to_replace(&self, key: &YamlKey, old: &YamlNode, text: &str) -> SpliceAlternatives {
        let layout = self.layout();
        let colon = layout.colon_end(key);
        match old.value {
            Yaml::Map(_) | Yaml::List(_) => Vec::new(),
            Yaml::Null if old.span.is_empty() => vec![vec![Splice::insert(colon, format!(" {text}"))]],
            // A tag, an anchor, or the header of a block scalar is between the key and the value.
            _ if !layout.slice(colon..old.span.start).trim().is_empty() => Vec::new(),
            _ => vec![vec![Splice { range: old.span.clone(), text: text.to_owned() }]],
        }
    }
}

impl Layout<'_> {
    /// Appends an entry: `block` as separate lines with the indentation of the other keys, or `flow` in a flow mapping.
    pub fn alternatives_to_append(
        &self,
        mapping: &YamlNode,
        entries: &[YamlEntry],
        block: &str,
        flow: &str,
    ) -> SpliceAlternatives {
        let newline = self.newline();
        let Some((first, last)) = entries.first().zip(entries.last()) else {
            if self.is_flow(mapping) {
                return vec![vec![Splice::insert(mapping.span.end, flow)]];
            }
            return vec![vec![self.insert_lines(self.yaml.end, block)]];
        };
        let end = self.entry_end(&last.0, &last.1);
        if self.is_flow(mapping) {
            return vec![vec![Splice::insert(end, format!(", {flow}"))]];
        }
        let indentation = self.indentation(first.0.span.start);
        let lines: Vec<String> = block.lines().map(|line| format!("{indentation}{line}")).collect();
        let ends = self.line_ends(&(last.0.span.start..end)).into_iter();
        ends.map(|end| vec![self.insert_lines(end, &lines.join(newline))]).collect()
    }

    /// Inserts lines after the line that ends at `offset`. The last line of a file may have no line feed.
    pub fn insert_lines(&self, offset: usize, lines: &str) -> Splice {
        let newline = self.newline();
        let before = self.slice(self.yaml.start..offset);
        if before.is_empty() || before.ends_with('\n') {
            Splice::insert(offset, format!("{lines}{newline}"))
        } else {
            Splice::insert(offset, format!("{newline}{lines}"))
        }
    }

    /// Removes the lines of an entry. No other entry may be on these lines.
    pub fn alternatives_to_cut_lines(&self, extent: &Range<usize>) -> SpliceAlternatives {
        let first = self.line_start(extent.start);
        let start = self.with_comments_above(first);
        let mut alternatives = Vec::new();
        for end in self.line_ends(extent) {
            // If the entry is between two blank lines, or after one at the end of the file, a blank line is removed
            // too.
            let above = self.line_start(start.saturating_sub(1));
            let follows_blank = start > self.yaml.start && self.is_blank_line(above);
            if follows_blank && (end == self.yaml.end || self.is_blank_line(end)) {
                alternatives.push(vec![Splice::cut(above..end)]);
            } else if start == self.yaml.start && self.is_blank_line(end) {
                alternatives.push(vec![Splice::cut(start..self.next_line(end))]);
            }
            alternatives.push(vec![Splice::cut(start..end)]);
        }
        alternatives
    }

    /// Removes one value of a flow collection: its own lines, or a range that includes one comma.
    pub fn alternatives_to_cut_from_flow(
        &self,
        node: &YamlNode,
        extents: &[Range<usize>],
        index: usize,
    ) -> SpliceAlternatives {
        let Some(extent) = extents.get(index) else { return Vec::new() };
        let mut alternatives = Vec::new();
        let line = self.line_start(extent.start);
        let is_alone = self.slice(line..extent.start).trim().is_empty();
        let after = self.slice(extent.end..self.line_end(extent.end)).trim_start().trim_start_matches(',').trim();
        if is_alone && (after.is_empty() || after.starts_with('#')) {
            alternatives.extend(self.alternatives_to_cut_lines(extent));
        }
        let before = index.checked_sub(1).and_then(|before| extents.get(before));
        match (before, extents.get(index + 1)) {
            (_, Some(next)) => alternatives.push(vec![Splice::cut(extent.start..next.start)]),
            (Some(before), None) => {
                if self.slice(before.end..extent.start).contains('#') {
                    // The comment belongs to the previous value. YAML allows the trailing comma that is left.
                    alternatives.push(vec![Splice::cut(extent.clone())]);
                }
                alternatives.push(vec![Splice::cut(before.end..extent.end)]);
            }
            (None, None) => {
                alternatives.push(vec![Splice::cut(extent.clone())]);
                alternatives.push(vec![Splice::cut(node.span.end..self.closing_bracket(extent.end))]);
            }
        }
        alternatives
    }
}

pub fn entries_at<'a>(root: &'a mut YamlNode, within: &[&str]) -> Option<&'a mut Vec<YamlEntry>> {
    let Yaml::Map(entries) = &mut root.value else { return None };
    match within.split_first() {
        None => Some(entries),
        Some((first, rest)) => {
            let (_, inner) = entries.iter_mut().find(|(key, _)| key.text == *first)?;
            entries_at(inner, rest)
        }
    }
}

pub fn set_value(root: &mut YamlNode, within: &[&str], key: &str, value: Yaml) {
    let Some(entries) = entries_at(root, within) else { return };
    match entries.iter_mut().find(|(entry, _)| entry.text == key) {
        Some((_, old)) => old.value = value,
        None => entries.push((YamlKey { text: key.to_owned(), span: 0..0 }, YamlNode { value, span: 0..0 })),
    }
}
