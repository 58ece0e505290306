//! Expansions that the parser must not see.
//!
//! It tears apart what stands behind `<<TAG` on the same line, as in `cat <<E > ${file}`. So those expansions are taken
//! out before it runs, a mark in place of each, and put back into the words that come out.

use std::borrow::Cow;

use brush_parser::SourceSpan;

use crate::syntax::extent;

/// Around the number of an expansion. Private characters, which mean nothing to a shell.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// The text that is parsed.
    shown: String,
    expansions: Vec<String>,
}

impl Hidden {
    pub(crate) fn hide(text: &str) -> Self {
        if !text.contains("<<") || !text.contains('$') || text.contains([OPEN, CLOSE]) {
            return Self { shown: text.to_owned(), expansions: Vec::new() };
        }
        let ranges = extent::expansions_behind_here_documents(text);
        let mut shown = String::with_capacity(text.len());
        let mut expansions = Vec::new();
        let mut copied = 0;
        for range in ranges {
            shown.push_str(text.get(copied..range.start).unwrap_or_default());
            shown.extend([OPEN.to_string(), expansions.len().to_string(), CLOSE.to_string()]);
            copied = range.end;
            expansions.push(text.get(range).unwrap_or_default().to_owned());
        }
        shown.push_str(text.get(copied..).unwrap_or_default());
        Self { shown, expansions }
    }

    /// The text to parse.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// What stands at a place of the text that was parsed; all of it where the place is not there.
    pub(crate) fn at(&self, place: &SourceSpan) -> &str {
        let mut offsets = self.shown.char_indices().map(|(offset, _)| offset).chain([self.shown.len()]);
        let start = offsets.nth(place.start.index);
        let length = place.end.index.checked_sub(place.start.index);
        let end = length.and_then(|length| if length == 0 { start } else { offsets.nth(length - 1) });
        start.zip(end).and_then(|(start, end)| self.shown.get(start..end)).unwrap_or(&self.shown)
    }

    pub(crate) fn restore<'a>(&self, raw: &'a str) -> Cow<'a, str> {
        if self.expansions.is_empty() || !raw.contains(OPEN) {
            return Cow::Borrowed(raw);
        }
        let mut parts = raw.split(OPEN);
        let mut restored = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (number, behind) = part.split_once(CLOSE).unwrap_or((part, ""));
            let expansion = number.parse::<usize>().ok().and_then(|number| self.expansions.get(number));
            restored.push_str(expansion.map_or(number, String::as_str));
            restored.push_str(behind);
        }
        Cow::Owned(restored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_put_back() {
        let text = "cat <<E > ${a}/b$(c) \"$[1]\"\nd\nE\n";
        let hidden = Hidden::hide(text);
        assert!(!hidden.shown().contains('$'), "{}", hidden.shown());
        assert_eq!(hidden.restore(hidden.shown()), text);
    }
}
