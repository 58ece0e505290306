//! The text of a policy file, and positions in it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A policy file's text and display name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Relative to the project if the file is in it.
    pub name: String,
    pub text: Arc<str>,
}

/// A position in a file. Line and column start at 1; columns are counted in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourcePosition {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    pub fn position(&self, byte: usize) -> SourcePosition {
        let byte = self.text.floor_char_boundary(byte);
        let before = self.text.get(..byte).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        SourcePosition {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    }

    /// Returns the span in the file of a part of a scalar's value. Searches the scalar for the value, and then for the
    /// line of the value that contains the part. If neither is found, for example because of escapes, returns the span
    /// of the whole scalar.
    pub fn span_of_part(&self, scalar: &Range<usize>, value: &str, part: &Range<usize>) -> Range<usize> {
        let raw = self.text.get(scalar.clone()).unwrap_or_default();
        let span_at = |offset: usize| scalar.start + offset..scalar.start + offset + part.len();
        match raw.find(value) {
            Some(offset) if !value.is_empty() => span_at(offset + part.start),
            _ => offset_in_line(raw, value, part).map_or_else(|| scalar.clone(), span_at),
        }
    }

    /// The span of the entry that starts at `start`. Blank lines and comments at the end belong to the next entry,
    /// which starts at `next_entry`.
    pub fn entry_span(&self, start: usize, next_entry: usize) -> Range<usize> {
        let text = self.text.get(start..next_entry).unwrap_or_default();
        let mut end = 0;
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            offset += line.len();
            let trimmed = line.trim();
            // A lone dash belongs to the next list item.
            if !trimmed.is_empty() && !trimmed.starts_with('#') && trimmed != "-" {
                end = offset - (line.len() - line.trim_end().len());
            }
        }
        start..start + end
    }
}

/// The offset of a part of a value in `raw`, if the line with that part occurs there exactly once.
fn offset_in_line(raw: &str, value: &str, part: &Range<usize>) -> Option<usize> {
    let start = value.get(..part.start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = value.get(start..)?.lines().next()?;
    if part.end > start + line.len() || line.trim().is_empty() {
        return None;
    }
    let mut occurrences = raw.match_indices(line);
    let (offset, _) = occurrences.next()?;
    occurrences.next().is_none().then_some(offset + part.start - start)
}
