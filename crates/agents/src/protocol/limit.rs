//! Truncates the texts of a verdict to what an agent accepts in total. Single texts, such as a command in a reason, may
//! have been shortened before.

use std::borrow::Cow;
use std::fmt::Write;

use engine::Verdict;

/// Limits the reasons of a verdict to `limit` bytes in total, and likewise its notices and its texts for the agent. A
/// note at the end of a truncated text says how much was left out; the limit does not include this note.
pub(crate) fn truncated(verdict: Cow<'_, Verdict>, limit: usize) -> Cow<'_, Verdict> {
    let size: usize = verdict.reported_findings().map(|finding| finding.reason.len()).sum();
    let noticed: usize = verdict.notices.iter().map(String::len).sum();
    let added: usize = verdict.agent_texts.iter().map(String::len).sum();
    if size <= limit && noticed <= limit && added <= limit {
        return verdict;
    }
    let mut verdict = verdict.into_owned();
    truncate(&mut verdict.findings, |finding| &mut finding.reason, limit, "reason");
    truncate(&mut verdict.notices, |notice| notice, limit, "notice");
    truncate(&mut verdict.agent_texts, |text| text, limit, "text");
    Cow::Owned(verdict)
}

/// Truncates the first text with which the total length exceeds the limit, and drops the texts after it, which are less
/// important. `noun`: the word for an item in the note about the dropped items.
fn truncate<T>(items: &mut Vec<T>, text_of: impl Fn(&mut T) -> &mut String, limit: usize, noun: &str) {
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
        let end = truncation_point(text, room);
        let left_out = left_out + text.len() - end;
        text.truncate(end);
        let others = match dropped {
            0 => String::new(),
            1 => format!(", 1 other {noun} among them"),
            _ => format!(", {dropped} other {noun}s among them"),
        };
        let _ = write!(text, "\n[{left_out} bytes left out{others}]");
    }
}

/// Returns where to truncate a text that has to fit into `room` bytes: at the end of a line if that keeps at least half
/// of what fits, else at the end of a word, else between two characters.
fn truncation_point(text: &str, room: usize) -> usize {
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
        let truncated = truncated(Cow::Owned(verdict), limit);
        truncated
            .findings
            .iter()
            .map(|finding| format!("{}: {}", finding.rule, finding.reason))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn reasons_that_fit_are_not_truncated() {
        assert_eq!(reasons(&[("a", "one two"), ("b", "three")], 12), "a: one two\nb: three");
    }

    #[test]
    fn a_truncated_reason_says_how_much_was_left_out() {
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
        assert_eq!(truncated(Cow::Owned(verdict), 5).notices, ["a b", "c\n[2 bytes left out]"]);
    }

    #[test]
    fn dropped_reasons_notices_and_texts_are_counted() {
        let texts = || ["a b", "c d", "e", "f"].map(str::to_owned).to_vec();
        let findings = vec![finding("a", "a b"), finding("b", "c d"), finding("c", "e"), finding("d", "f")];
        let verdict = Verdict { notices: texts(), agent_texts: texts(), ..Verdict::of(findings) };
        let truncated = truncated(Cow::Owned(verdict), 4);
        let reasons: Vec<&str> = truncated.findings.iter().map(|finding| finding.reason.as_str()).collect();
        assert_eq!(reasons, ["a b", "c\n[4 bytes left out, 2 other reasons among them]"]);
        assert_eq!(truncated.notices, ["a b", "c\n[4 bytes left out, 2 other notices among them]"]);
        assert_eq!(truncated.agent_texts, ["a b", "c\n[4 bytes left out, 2 other texts among them]"]);
    }
}
