//! Hides expansions from the parser.
//!
//! The parser splits an expansion after `<<TAG` on the same line, as in `cat <<E > ${file}`. Such expansions are
//! replaced by markers before the script is parsed, and restored in the words that the parser returns.

use std::borrow::Cow;

use brush_parser::SourceSpan;

use crate::syntax::closing;

/// A marker is the number of the expansion between these private-use characters, which have no meaning in a shell.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// A script in which some expansions are replaced by markers.
#[derive(Debug, Default)]
pub(crate) struct HiddenExpansions {
    /// The script with markers.
    masked: String,
    expansions: Vec<String>,
}

impl HiddenExpansions {
    /// Replaces the expansions that the parser would split by markers.
    pub(crate) fn hide(text: &str) -> Self {
        if !text.contains("<<") || !text.contains('$') || text.contains([OPEN, CLOSE]) {
            return Self { masked: text.to_owned(), expansions: Vec::new() };
        }
        let ranges = closing::expansions_after_heredoc(text);
        let mut masked = String::with_capacity(text.len());
        let mut expansions = Vec::new();
        let mut copied = 0;
        for range in ranges {
            masked.push_str(text.get(copied..range.start).unwrap_or_default());
            masked.extend([OPEN.to_string(), expansions.len().to_string(), CLOSE.to_string()]);
            copied = range.end;
            expansions.push(text.get(range).unwrap_or_default().to_owned());
        }
        masked.push_str(text.get(copied..).unwrap_or_default());
        Self { masked, expansions }
    }

    /// The script to parse.
    pub(crate) fn masked(&self) -> &str {
        &self.masked
    }

    /// Returns the part of the parsed script in this span, or the whole script if the span is invalid.
    pub(crate) fn at(&self, span: &SourceSpan) -> &str {
        let mut offsets = self.masked.char_indices().map(|(offset, _)| offset).chain([self.masked.len()]);
        let start = offsets.nth(span.start.index);
        let length = span.end.index.checked_sub(span.start.index);
        let end = length.and_then(|length| if length == 0 { start } else { offsets.nth(length - 1) });
        start.zip(end).and_then(|(start, end)| self.masked.get(start..end)).unwrap_or(&self.masked)
    }

    /// Returns a part of the parsed script with the expansions in place of their markers.
    pub(crate) fn restore<'a>(&self, raw: &'a str) -> Cow<'a, str> {
        if self.expansions.is_empty() || !raw.contains(OPEN) {
            return Cow::Borrowed(raw);
        }
        let mut parts = raw.split(OPEN);
        let mut restored = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (number, after) = part.split_once(CLOSE).unwrap_or((part, ""));
            let expansion = number.parse::<usize>().ok().and_then(|number| self.expansions.get(number));
            restored.push_str(expansion.map_or(number, String::as_str));
            restored.push_str(after);
        }
        Cow::Owned(restored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_expansions_are_restored() {
        let text = "cat <<E > ${a}/b$(c) \"$[1]\"\nd\nE\n";
        let hidden = HiddenExpansions::hide(text);
        assert!(!hidden.masked().contains('$'), "{}", hidden.masked());
        assert_eq!(hidden.restore(hidden.masked()), text);
    }
}
