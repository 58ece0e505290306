//! The text of a policy file, with places in it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A policy file's text and the name under which people know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Shown in messages: relative to the project where the file lies in it.
    pub name: String,
    pub text: Arc<str>,
}

/// Where in a file; both count from one, columns in characters.
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

    /// Where a part of a scalar's value lies in the file: exact where the value stands there as it is, or its line does in
    /// a text of several lines; the whole scalar where quotes or escapes are between them.
    pub fn within(&self, scalar: &Range<usize>, value: &str, part: &Range<usize>) -> Range<usize> {
        let raw = self.text.get(scalar.clone()).unwrap_or_default();
        let moved = |by: usize| scalar.start + by..scalar.start + by + part.len();
        match raw.find(value) {
            Some(at) if !value.is_empty() => moved(at + part.start),
            _ => line_within(raw, value, part).map_or_else(|| scalar.clone(), moved),
        }
    }

    /// The lines from `start` on that belong to one entry: what is blank or a comment at their end is about the next one.
    pub fn extent(&self, start: usize, next: usize) -> Range<usize> {
        let text = self.text.get(start..next).unwrap_or_default();
        let mut end = 0;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            at += line.len();
            let said = line.trim();
            // The dash of the next item of a list.
            if !said.is_empty() && !said.starts_with('#') && said != "-" {
                end = at - (line.len() - line.trim_end().len());
            }
        }
        start..start + end
    }
}

/// Where in the file's lines the part of a value is, if its line stands there once.
fn line_within(raw: &str, value: &str, part: &Range<usize>) -> Option<usize> {
    let start = value.get(..part.start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = value.get(start..)?.lines().next()?;
    if part.end > start + line.len() || line.trim().is_empty() {
        return None;
    }
    let mut places = raw.match_indices(line);
    let (at, _) = places.next()?;
    places.next().is_none().then_some(at + part.start - start)
}
