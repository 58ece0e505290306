//! Expansions that the parser must not see.
//!
//! It tears apart what stands behind `<<TAG` on the same line, as in `cat <<E > ${file}`. So those expansions are taken
//! out before it runs, a mark in place of each, and put back into the words that come out.

use std::borrow::Cow;

use super::extent;

/// Around the number of an expansion. Private characters, which mean nothing to a shell.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

#[derive(Debug, Default)]
pub(super) struct Hidden {
    expansions: Vec<String>,
}

impl Hidden {
    /// The text to parse, and what is hidden in it.
    pub(super) fn hide(text: &str) -> (Cow<'_, str>, Self) {
        if !text.contains("<<") || !text.contains('$') || text.contains([OPEN, CLOSE]) {
            return (Cow::Borrowed(text), Self::default());
        }
        let ranges = extent::expansions_behind_here_documents(text);
        let mut shown = String::with_capacity(text.len());
        let mut expansions = Vec::new();
        let mut copied = 0;
        for range in ranges {
            shown.push_str(text.get(copied..range.start).unwrap_or_default());
            shown.push_str(&mark(expansions.len()));
            copied = range.end;
            expansions.push(text.get(range).unwrap_or_default().to_owned());
        }
        shown.push_str(text.get(copied..).unwrap_or_default());
        (Cow::Owned(shown), Self { expansions })
    }

    pub(super) fn restore<'a>(&self, raw: &'a str) -> Cow<'a, str> {
        if self.expansions.is_empty() || !raw.contains(OPEN) {
            return Cow::Borrowed(raw);
        }
        let mut restored = raw.to_owned();
        for (number, expansion) in self.expansions.iter().enumerate() {
            restored = restored.replace(&mark(number), expansion);
        }
        Cow::Owned(restored)
    }
}

fn mark(number: usize) -> String {
    format!("{OPEN}{number}{CLOSE}")
}
