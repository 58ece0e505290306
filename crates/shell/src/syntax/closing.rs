//! Finds the end of an expansion.
//!
//! Quotes, nested expansions, comments and heredocs inside the expansion are skipped, with an explicit stack.

use std::ops::Range;

use crate::limits::MAX_NESTING;

/// The kind of construct, which determines its closing character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Construct {
    /// `$(…)`, and parentheses inside it.
    Commands,
    /// `$((…))`, where `<<` and `#` are operators.
    Arithmetic,
    /// `${…}`; inside double quotes, single quotes have no special meaning.
    Parameter {
        in_double_quotes: bool,
    },
    /// `$[…]`
    Brackets,
    DoubleQuotes,
}

/// Returns the position of the character that closes the construct opened just before `start`; `None` if the construct
/// is not closed, or is nested too deeply.
pub(crate) fn closing(text: &str, start: usize, construct: Construct) -> Option<usize> {
    let mut scan = Scan { text, bytes: text.as_bytes(), at: start, open: vec![construct], heredocs: Vec::new() };
    loop {
        let innermost = *scan.open.last()?;
        let byte = *scan.bytes.get(scan.at)?;
        if byte == closing_byte(innermost) {
            scan.open.pop();
            if scan.open.is_empty() {
                return Some(scan.at);
            }
            scan.at += 1;
        } else {
            scan.step(innermost, byte)?;
        }
        if scan.open.len() > MAX_NESTING {
            return None;
        }
    }
}

/// True if the constructs in the text exceed the nesting limit.
pub(crate) fn nests_too_deeply(text: &str) -> bool {
    let open = vec![Construct::Commands];
    let mut scan = Scan { text, bytes: text.as_bytes(), at: 0, open, heredocs: Vec::new() };
    while let (Some(innermost), Some(byte)) = (scan.open.last().copied(), scan.bytes.get(scan.at).copied()) {
        if byte == closing_byte(innermost) {
            scan.open.pop();
            scan.at += 1;
        } else if scan.step(innermost, byte).is_none() {
            return false;
        }
        if scan.open.len() > MAX_NESTING {
            return true;
        }
    }
    false
}

/// Returns the ranges of the outermost expansions between the tag of a heredoc and the end of that line.
pub(crate) fn expansions_after_heredoc(text: &str) -> Vec<Range<usize>> {
    let open = vec![Construct::Commands];
    let mut scan = Scan { text, bytes: text.as_bytes(), at: 0, open, heredocs: Vec::new() };
    let mut found = Vec::new();
    let mut outermost: Option<(usize, usize)> = None;
    while let (Some(innermost), Some(byte)) = (scan.open.last().copied(), scan.bytes.get(scan.at).copied()) {
        if byte == closing_byte(innermost) {
            scan.at += 1;
            // Outside of all expansions, a `)` ends a pattern of a `case`, or is a mistake. It closes nothing.
            if scan.open.len() > 1 {
                scan.open.pop();
            }
            if let Some((start, depth)) = outermost
                && scan.open.len() == depth
            {
                found.push(start..scan.at);
                outermost = None;
            }
            continue;
        }
        let rest = scan.bytes.get(scan.at..).unwrap_or_default();
        let opens = opened_by_dollar(rest, false).is_some();
        if opens && outermost.is_none() && !scan.heredocs.is_empty() {
            outermost = Some((scan.at, scan.open.len()));
        }
        if scan.step(innermost, byte).is_none() || scan.open.len() > MAX_NESTING {
            break;
        }
    }
    found
}

/// Returns the text with spaces in place of quoted parts, comments and bodies of heredocs. `None` if a quote, an
/// expansion or a heredoc is not closed.
pub(crate) fn unquoted(text: &str) -> Option<String> {
    let open = vec![Construct::Commands];
    let mut scan = Scan { text, bytes: text.as_bytes(), at: 0, open, heredocs: Vec::new() };
    let mut kept = Vec::with_capacity(text.len());
    while let (Some(innermost), Some(byte)) = (scan.open.last().copied(), scan.bytes.get(scan.at).copied()) {
        let start = scan.at;
        if byte == closing_byte(innermost) {
            scan.at += 1;
            if scan.open.len() > 1 {
                scan.open.pop();
            }
        } else {
            scan.step(innermost, byte)?;
        }
        // A step over several bytes skips a quoted part, a comment or the body of a heredoc.
        let is_quoted =
            innermost == Construct::DoubleQuotes || (scan.at - start > 1 && matches!(byte, b'\'' | b'\n' | b'#'));
        let step = text.as_bytes().get(start..scan.at.min(text.len()))?;
        kept.extend(step.iter().map(|byte| if is_quoted && *byte != b'\n' { b' ' } else { *byte }));
        if scan.open.len() > MAX_NESTING {
            return None;
        }
    }
    (scan.open.len() == 1).then(|| String::from_utf8(kept).ok())?
}

/// Returns the position of the backquote that closes the backquote before `start`.
pub(crate) fn closing_backquote(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'`' => return Some(at),
            _ => at += 1,
        }
    }
}

/// Returns the position of the quote that closes the `$'` before `start`.
pub(crate) fn closing_ansi_c(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'\'' => return Some(at),
            _ => at += 1,
        }
    }
}

/// Returns the construct that `$` and the next bytes open, and the length of the opening.
pub(crate) fn opened_by_dollar(rest: &[u8], in_double_quotes: bool) -> Option<(Construct, usize)> {
    match rest {
        [b'$', b'(', b'(', ..] => Some((Construct::Arithmetic, 2)),
        [b'$', b'(', ..] => Some((Construct::Commands, 2)),
        [b'$', b'{', ..] => Some((Construct::Parameter { in_double_quotes }, 2)),
        [b'$', b'[', ..] => Some((Construct::Brackets, 2)),
        _ => None,
    }
}

fn closing_byte(construct: Construct) -> u8 {
    match construct {
        Construct::Commands | Construct::Arithmetic => b')',
        Construct::Parameter { .. } => b'}',
        Construct::Brackets => b']',
        Construct::DoubleQuotes => b'"',
    }
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    open: Vec<Construct>,
    heredocs: Vec<Heredoc>,
}

struct Heredoc {
    delimiter: String,
    strips_tabs: bool,
}

impl Scan<'_> {
    /// Advances inside the construct `innermost`, over a byte that does not close this construct.
    fn step(&mut self, innermost: Construct, byte: u8) -> Option<()> {
        let quoted = match innermost {
            Construct::DoubleQuotes => true,
            Construct::Parameter { in_double_quotes } => in_double_quotes,
            _ => false,
        };
        let rest = self.bytes.get(self.at..)?;
        if let Some((construct, length)) = opened_by_dollar(rest, quoted) {
            self.open.push(construct);
            self.at += length;
            return Some(());
        }
        match byte {
            b'\\' => self.at += 2,
            b'`' => self.at = closing_backquote(self.text, self.at + 1)? + 1,
            b'"' if innermost != Construct::DoubleQuotes => {
                self.open.push(Construct::DoubleQuotes);
                self.at += 1;
            }
            b'$' if !quoted && rest.get(1) == Some(&b'\'') => self.at = closing_ansi_c(self.text, self.at + 2)? + 1,
            b'\'' if !quoted => self.at += 2 + rest.get(1..)?.iter().position(|byte| *byte == b'\'')?,
            b'(' if matches!(innermost, Construct::Commands | Construct::Arithmetic) => {
                self.open.push(innermost);
                self.at += 1;
            }
            b'[' if innermost == Construct::Brackets => {
                self.open.push(innermost);
                self.at += 1;
            }
            _ if innermost == Construct::Commands => self.step_in_commands(byte)?,
            _ => self.at += 1,
        }
        Some(())
    }

    /// Like [`Self::step`], inside commands, where comments and heredocs may start.
    fn step_in_commands(&mut self, byte: u8) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        match byte {
            b'#' if self.starts_word() => {
                self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            }
            b'<' if rest.starts_with(b"<<<") => self.at += 3,
            b'<' if rest.starts_with(b"<<") => self.read_heredoc_operator(),
            b'\n' => {
                self.at += 1;
                for heredoc in std::mem::take(&mut self.heredocs) {
                    self.skip_body(&heredoc)?;
                }
            }
            _ => self.at += 1,
        }
        Some(())
    }

    /// True if a word may start at the current position.
    fn starts_word(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        before.is_none_or(|byte| b" \t\n;&|()".contains(byte))
    }

    fn read_heredoc_operator(&mut self) {
        self.at += 2;
        let strips_tabs = self.bytes.get(self.at) == Some(&b'-');
        self.at += usize::from(strips_tabs);
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        let mut quote = None;
        while let Some(byte) = self.bytes.get(self.at) {
            match (quote, *byte) {
                (None, byte) if b" \t\n;&|()<>".contains(&byte) => break,
                (None, byte @ (b'\'' | b'"')) => quote = Some(byte),
                (Some(open), byte) if open == byte => quote = None,
                _ => {}
            }
            self.at += 1;
        }
        let word = self.text.get(start..self.at).unwrap_or_default();
        self.heredocs.push(Heredoc { delimiter: word.replace(['\'', '"', '\\'], ""), strips_tabs });
    }

    /// Skips the body of a heredoc and its closing tag.
    fn skip_body(&mut self, heredoc: &Heredoc) -> Option<()> {
        loop {
            let rest = self.text.get(self.at..)?;
            let line = rest.lines().next()?;
            let content = if heredoc.strips_tabs { line.trim_start_matches('\t') } else { line };
            self.at = (self.at + line.len() + 1).min(self.text.len());
            if content == heredoc.delimiter {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_parts_become_spaces() {
        let cases = [
            ("a 'b=(c)d' e", Some("a          e")),
            ("a \"b\" c", Some("a \"   c")),
            ("a \"$(b)\" c", Some("a \"  b)  c")),
            ("a # it's\nb", Some("a       \nb")),
            ("a <<'E'\nb=(c)d\nE\nf", Some("a <<'E'\n      \n \nf")),
            ("a 'b", None),
            ("a \"b", None),
        ];
        for (text, expected) in cases {
            assert_eq!(unquoted(text).as_deref(), expected, "{text}");
        }
    }
}
