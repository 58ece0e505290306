//! The layout of YAML text: where lines, entries with their comments, and brackets start and end.
//!
//! The parser only gives the spans of scalars and the starts of collections. This module finds the rest by searching
//! the text, and may be wrong in rare cases: every edit is parsed again, and refused if the result is not as intended.

use std::ops::Range;

use crate::text::yaml::{Yaml, YamlKey, YamlNode};

pub struct Layout<'a> {
    pub text: &'a str,
    /// The part of the text that is YAML.
    pub yaml: Range<usize>,
}

impl<'a> Layout<'a> {
    pub fn new(text: &'a str, yaml: Range<usize>) -> Self {
        let has_bom = text.get(yaml.clone()).is_some_and(|text| text.starts_with('\u{feff}'));
        let start = yaml.start + if has_bom { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, yaml: start..yaml.end }
    }

    pub fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }

    pub fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.slice(0..at).ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    pub fn line_start(&self, offset: usize) -> usize {
        let before = self.slice(self.yaml.start..offset);
        self.yaml.start + before.rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// The offset after the line feed of the line that contains `offset`. If a line feed precedes `offset`, as after a
    /// block scalar, returns `offset`.
    pub fn line_end(&self, offset: usize) -> usize {
        if self.slice(self.yaml.start..offset).ends_with('\n') {
            return offset;
        }
        self.slice(offset..self.yaml.end).find('\n').map_or(self.yaml.end, |newline| offset + newline + 1)
    }

    pub fn is_flow(&self, node: &YamlNode) -> bool {
        matches!(node.value, Yaml::Map(_) | Yaml::List(_)) && self.slice(node.span.clone()).starts_with(['{', '['])
    }

    /// The indentation for new entries of the collection that has an entry at `offset`: the line up to `offset`, with
    /// every character except tabs replaced by a space.
    pub fn indentation(&self, offset: usize) -> String {
        let before = self.slice(self.line_start(offset)..offset);
        before.chars().map(|character| if character == '\t' { '\t' } else { ' ' }).collect()
    }

    /// The offset after the last character of a value.
    pub fn end_of(&self, node: &YamlNode) -> usize {
        let last = match &node.value {
            Yaml::Map(entries) => entries.last().map(|(key, value)| self.entry_end(key, value)),
            Yaml::List(items) => items.last().map(|item| self.end_of(item)),
            Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::Text(_) => None,
        };
        let end = last.unwrap_or(node.span.end);
        if self.is_flow(node) { (self.closing_bracket(end) + 1).min(self.yaml.end) } else { end }
    }

    pub fn entry_end(&self, key: &YamlKey, value: &YamlNode) -> usize {
        // The span of an empty value is at its key.
        self.end_of(value).max(self.colon_end(key))
    }

    pub fn colon_end(&self, key: &YamlKey) -> usize {
        let after = self.slice(key.span.end..self.yaml.end);
        let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
        let is_colon = after.get(blank..).is_some_and(|rest| rest.starts_with(':'));
        key.span.end + if is_colon { blank + 1 } else { 0 }
    }

    /// The offset of the closing bracket of a flow collection whose last value ends at `from`. Only blanks, commas and
    /// comments are between that value and the bracket.
    pub fn closing_bracket(&self, from: usize) -> usize {
        let mut in_comment = false;
        for (offset, character) in self.slice(from..self.yaml.end).char_indices() {
            match character {
                '\n' => in_comment = false,
                '#' => in_comment = true,
                ']' | '}' if !in_comment => return from + offset,
                _ => {}
            }
        }
        self.yaml.end
    }

    /// The start of the comment lines directly above `line` that have the same indentation, or else of `line` itself.
    pub fn with_comments_above(&self, line: usize) -> usize {
        let mut start = line;
        while start > self.yaml.start {
            let above = self.line_start(start - 1);
            if !self.is_comment_line(above) || self.indentation_width(above) != self.indentation_width(line) {
                break;
            }
            start = above;
        }
        start
    }

    pub fn is_blank_line(&self, line: usize) -> bool {
        line < self.yaml.end && self.slice(line..self.next_line(line)).trim().is_empty()
    }

    pub fn next_line(&self, line: usize) -> usize {
        self.slice(line..self.yaml.end).find('\n').map_or(self.yaml.end, |newline| line + newline + 1)
    }

    /// Possible ends of the lines of an entry, the most likely first: after the comments below the entry that are
    /// indented more and so belong to it; before trailing blank lines; after trailing blank lines, because these belong
    /// to the entry if its value is a block scalar.
    pub fn line_ends(&self, extent: &Range<usize>) -> Vec<usize> {
        let with_blank_lines = self.line_end(extent.end);
        let mut without_blank_lines = with_blank_lines;
        while without_blank_lines > self.yaml.start {
            let last = self.line_start(without_blank_lines - 1);
            if !self.is_blank_line(last) {
                break;
            }
            without_blank_lines = last;
        }
        let mut with_inner_comments = without_blank_lines;
        let width = self.indentation_width(self.line_start(extent.start));
        while self.is_comment_line(with_inner_comments) && self.indentation_width(with_inner_comments) > width {
            with_inner_comments = self.next_line(with_inner_comments);
        }
        let mut ends = vec![with_inner_comments, without_blank_lines, with_blank_lines];
        ends.dedup();
        ends
    }

    /// The indentation of a line, in bytes.
    fn indentation_width(&self, line: usize) -> usize {
        let text = self.slice(line..self.next_line(line));
        text.len() - text.trim_start_matches([' ', '\t']).len()
    }

    fn is_comment_line(&self, line: usize) -> bool {
        self.slice(line..self.next_line(line)).trim_start().starts_with('#')
    }
}
