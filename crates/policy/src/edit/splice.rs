//! Replaces ranges of a text.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    pub range: Range<usize>,
    pub text: String,
}

impl Splice {
    pub fn insert(offset: usize, text: impl Into<String>) -> Self {
        Self { range: offset..offset, text: text.into() }
    }

    pub fn cut(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }
}

/// Returns `None` if the splices overlap, are out of order, or start or end inside a character.
pub fn apply(text: &str, splices: &[Splice]) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut offset = 0;
    for splice in splices {
        result.push_str(text.get(offset..splice.range.start)?);
        result.push_str(&splice.text);
        offset = splice.range.end;
    }
    result.push_str(text.get(offset..)?);
    Some(result)
}
