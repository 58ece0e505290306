//! How much an agent is shown at once. The one place where what is said is cut, before any agent's own shape.

use std::borrow::Cow;
use std::fmt::Write;

use engine::Verdict;

/// The verdict with at most `limit` bytes of reasons, as many of notices and as many of other text. What does not fit is counted where it is cut.
pub(crate) fn fitted(verdict: Cow<'_, Verdict>, limit: usize) -> Cow<'_, Verdict> {
    let size: usize = verdict.reported_findings().map(|finding| finding.reason.len()).sum();
    let noticed: usize = verdict.notices.iter().map(String::len).sum();
    let added: usize = verdict.context.iter().map(String::len).sum();
    if size <= limit && noticed <= limit && added <= limit {
        return verdict;
    }
    let mut verdict = verdict.into_owned();
    cut(&mut verdict.findings, |finding| &mut finding.reason, limit);
    cut(&mut verdict.notices, |notice| notice, limit);
    cut(&mut verdict.context, |text| text, limit);
    Cow::Owned(verdict)
}

/// Cuts the text that does not fit and drops those after it: the first ones matter most.
fn cut<T>(items: &mut Vec<T>, text_of: impl Fn(&mut T) -> &mut String, limit: usize) {
    let mut room = limit;
    let mut last = None;
    for (index, item) in items.iter_mut().enumerate() {
        let length = text_of(item).len();
        if length > room {
            last = Some(index);
            break;
        }
        room -= length;
    }
    let Some(last) = last else { return };
    let left_out: usize = items.iter_mut().skip(last + 1).map(|item| text_of(item).len()).sum();
    let dropped = items.len() - last - 1;
    items.truncate(last + 1);
    if let Some(text) = items.last_mut().map(text_of) {
        let end = end_of_words(text, room);
        let left_out = left_out + text.len() - end;
        text.truncate(end);
        let others = match dropped {
            0 => String::new(),
            1 => ", 1 other reason among them".to_owned(),
            _ => format!(", {dropped} other reasons among them"),
        };
        let _ = write!(text, "\n[{left_out} bytes left out{others}]");
    }
}

/// Where the text ends that fits into so many bytes: at the end of a line where that keeps most of it, else of a word, else
/// between two letters.
fn end_of_words(text: &str, room: usize) -> usize {
    let fits = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
    let line = fits.rfind('\n').filter(|end| *end >= fits.len() / 2);
    line.or_else(|| fits.rfind(char::is_whitespace)).unwrap_or(fits.len())
}

#[cfg(test)]
mod tests {
    use engine::{Finding, Level};

    use super::*;

    fn finding(rule: &str, reason: &str) -> Finding {
        Finding {
            rule: rule.to_owned(),
            level: Level::Block,
            reason: reason.to_owned(),
            because: Vec::new(),
            digest: None,
            protects_guard: false,
            section: None,
            is_combined: false,
        }
    }

    fn reasons(findings: &[(&str, &str)], limit: usize) -> String {
        let verdict = Verdict::of(findings.iter().map(|(rule, reason)| finding(rule, reason)).collect());
        let fitted = fitted(Cow::Owned(verdict), limit);
        fitted
            .findings
            .iter()
            .map(|finding| format!("{}: {}", finding.rule, finding.reason))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(reasons(&[("a", "one two"), ("b", "three")], 12), "a: one two\nb: three");
    }

    #[test]
    fn the_rest_is_counted_where_it_is_cut() {
        insta::assert_snapshot!(reasons(&[("a", "one two three")], 9), @r"
        a: one two
        [6 bytes left out]
        ");
        insta::assert_snapshot!(reasons(&[("a", "first line\nsecond line")], 15), @r"
        a: first line
        [12 bytes left out]
        ");
        insta::assert_snapshot!(reasons(&[("a", "one two"), ("b", "three four"), ("c", "five")], 13), @r"
        a: one two
        b: three
        [9 bytes left out, 1 other reason among them]
        ");
        insta::assert_snapshot!(reasons(&[("a", "äää")], 3), @r"
        a: ä
        [4 bytes left out]
        ");
    }

    #[test]
    fn notices_have_a_limit_too() {
        let verdict = Verdict { notices: vec!["a b".to_owned(), "c d".to_owned()], ..Verdict::empty() };
        assert_eq!(fitted(Cow::Owned(verdict), 5).notices, ["a b", "c\n[2 bytes left out]"]);
    }
}
