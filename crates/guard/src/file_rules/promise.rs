//! Promises: statements in an agent's last message that it has met the demand of a file rule.

use std::collections::HashMap;

use engine::rules::RuleSet;
use engine::{Event, Level, SectionKind, Verdict};

use crate::plain_text;

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";
/// Tick marks, with which some agents begin the names of finished items.
const TICKS: &[char] = &['✓', '✔', '✅', '☑', '\u{FE0F}'];

/// The rule ids and titles in the promises of a message, as the message spells them. Promises in code are ignored.
pub fn promises(message: &str) -> Vec<String> {
    let text = without_code(message);
    // Only ASCII is converted to lower case, so that byte offsets are the same in both texts.
    let lower = text.to_ascii_lowercase();
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(start) = lower.get(at..).and_then(|rest| rest.find(OPEN)).map(|offset| at + offset + OPEN.len()) {
        let Some(end) = lower.get(start..).and_then(|rest| rest.find(CLOSE)).map(|offset| start + offset) else {
            break;
        };
        let name = text.get(start..end).unwrap_or_default();
        names.push(name.trim().trim_start_matches(TICKS).trim().to_owned());
        at = end + CLOSE.len();
    }
    names
}

/// True if one of the names is the rule's id or title.
pub fn matches_rule(names: &[String], id: &str, title: &str) -> bool {
    let is_same = |name: &str, other: &str| name.to_lowercase() == other.to_lowercase();
    names.iter().any(|name| is_same(name, id) || is_same(name, title))
}

/// Those promises in the agent's last message at a stop that have matched no judged file rule so far.
pub struct UnmatchedPromises(Vec<String>);

impl UnmatchedPromises {
    pub fn of(event: &Event) -> Self {
        let message = event.message.as_deref().filter(|_| event.kind.is_stop());
        Self(message.map(promises).unwrap_or_default())
    }

    /// Drops the promises that match a judged file rule. `judged` has the ids of the rules in `rules` that were judged.
    pub fn drop_matching(&mut self, rules: &RuleSet, judged: &[String]) {
        self.0.retain(|name| {
            let is_promised =
                |rule: engine::rules::Rule| matches_rule(std::slice::from_ref(name), &rule.id, rule.display_title());
            !judged.iter().any(|id| rules.get(id).ok().flatten().is_some_and(is_promised))
        });
    }

    /// A hint for the agent about its unmatched promises, if its stop is held because of a demand that a promise can
    /// answer.
    pub fn hint(&self, verdict: &Verdict) -> Option<String> {
        let blocking = verdict.findings.iter().filter(|finding| finding.level == Level::Block);
        let demands = blocking.filter(|finding| finding.section == Some(SectionKind::Demand));
        let demands: Vec<String> = demands.map(|finding| format!("`<promise>{}</promise>`", finding.rule)).collect();
        if self.0.is_empty() || demands.is_empty() || !verdict.is_enforced() {
            return None;
        }
        let unmatched: Vec<String> =
            self.0.iter().map(|name| format!("`<promise>{}</promise>`", plain_text::single_line(name))).collect();
        Some(format!("No open demand matches {}. Open demands: {}.", unmatched.join(" or "), demands.join(", ")))
    }
}

/// The text without code. Code is: fenced and indented blocks, text in backquotes, and `<code>` and `<pre>` elements.
fn without_code(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let mut fence: Option<(char, usize)> = None;
    // Indented lines are code, except in lists and directly after a line of prose.
    let (mut may_be_code, mut is_in_list) = (true, false);
    for line in message.lines() {
        let trimmed = line.trim_start();
        let fence_character = trimmed.chars().next().filter(|first| matches!(first, '`' | '~'));
        let length =
            fence_character.map_or(0, |fence| trimmed.chars().take_while(|character| *character == fence).count());
        match (fence, fence_character) {
            (None, Some(character)) if length >= 3 => fence = Some((character, length)),
            (Some((open, min_length)), Some(character)) if character == open && length >= min_length => fence = None,
            (Some(_), _) => {}
            (None, _) if may_be_code && !is_in_list && !trimmed.is_empty() && is_indented_code(line) => continue,
            (None, _) => {
                push_without_code_spans(line, &mut text);
                text.push('\n');
            }
        }
        may_be_code = trimmed.is_empty() || fence.is_some();
        if !trimmed.is_empty() && !line.starts_with([' ', '\t']) {
            is_in_list = begins_list_item(trimmed);
        }
    }
    ["code", "pre"].into_iter().fold(text, |text, tag| without_element(&text, tag))
}

fn is_indented_code(line: &str) -> bool {
    line.starts_with("    ") || line.trim_start_matches(' ').starts_with('\t')
}

/// True for a list item: `- a`, `1. a`.
fn begins_list_item(line: &str) -> bool {
    let sign = line.strip_prefix(['-', '*', '+']);
    let number = || line.trim_start_matches(|character: char| character.is_ascii_digit()).strip_prefix(['.', ')']);
    sign.or_else(number).is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// Appends the line without its code spans. A code span ends with as many backquotes as it began with. Backquotes
/// without an end are plain text.
fn push_without_code_spans(line: &str, text: &mut String) {
    let after_last_run = bytes_after_last_run(line);
    let mut rest = line;
    while let Some((before, quoted)) = rest.split_once('`') {
        text.push_str(before);
        let inner = quoted.trim_start_matches('`');
        let length = quoted.len() - inner.len() + 1;
        // `after_last_run` avoids a quadratic search in text with many unclosed backquotes.
        let is_closed = after_last_run.get(&length).is_some_and(|bytes| *bytes < inner.len());
        rest = if is_closed { after_backquotes(inner, length).unwrap_or(inner) } else { inner };
    }
    text.push_str(rest);
}

/// Maps each length of a run of backquotes to the number of bytes after the last run of that length.
fn bytes_after_last_run(line: &str) -> HashMap<usize, usize> {
    let mut last = HashMap::new();
    let mut rest = line;
    while let Some((_, quotes)) = rest.split_once('`') {
        let after = quotes.trim_start_matches('`');
        last.insert(quotes.len() - after.len() + 1, after.len());
        rest = after;
    }
    last
}

/// The text after the next run of exactly `length` backquotes.
fn after_backquotes(text: &str, length: usize) -> Option<&str> {
    let mut rest = text;
    while let Some((_, quotes)) = rest.split_once('`') {
        let after = quotes.trim_start_matches('`');
        if quotes.len() - after.len() + 1 == length {
            return Some(after);
        }
        rest = after;
    }
    None
}

/// The text without HTML elements of this name.
fn without_element(text: &str, name: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut output = String::with_capacity(text.len());
    let mut at = 0;
    let find = |tag: &str, from: usize| lower.get(from..).and_then(|rest| rest.find(tag)).map(|offset| from + offset);
    while let Some((start, end)) = find(&open, at).and_then(|start| Some((start, find(&close, start)?))) {
        output.push_str(text.get(at..start).unwrap_or_default());
        at = end + close.len();
    }
    output.push_str(text.get(at..).unwrap_or_default());
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_found_in_prose_and_not_in_code() {
        assert_eq!(promises("Done. <promise>Source and test</promise>"), ["Source and test"]);
        assert_eq!(promises("<PROMISE> ✓ readme </Promise><promise>✔️ b</promise>"), ["readme", "b"]);
        assert_eq!(promises("```\n<promise>a</promise>\n```\n~~~~\n```\n<promise>b</promise>\n~~~~\n"), [""; 0]);
        assert_eq!(promises("Say `<promise>a</promise>` when done."), [""; 0]);
        assert_eq!(promises("It's ` open <promise>a</promise>"), ["a"]);
        assert_eq!(
            promises("Say ``<promise>a</promise>``, ``` `<promise>b</promise>` ``` or `` ` `` <promise>c</promise>."),
            ["c"]
        );
        assert_eq!(
            promises("Say <code>&lt;<promise>a</promise></code>, <PRE class=x>\n<promise>b</promise>\n</pre>"),
            [""; 0]
        );
        assert_eq!(
            promises("Say:\n\n    <promise>a</promise>\n    <promise>b</promise>\n\n\t<promise>c</promise>"),
            [""; 0]
        );
        assert_eq!(promises("Done, and so\n    <promise>a</promise>"), ["a"]);
        assert_eq!(promises("- Done:\n\n    <promise>a</promise>\n\n1. <promise>b</promise>"), ["a", "b"]);
        assert_eq!(promises("<code> open <promise>a</promise>"), ["a"]);
        assert_eq!(promises("<promise>a"), [""; 0]);
        assert_eq!(promises("İ<promise>É</promise>"), ["É"]);
    }

    #[test]
    fn a_promise_matches_a_rules_id_or_title_in_any_case() {
        let names = ["Source And Test".to_owned()];
        assert!(matches_rule(&names, "source-test", "Source and test"));
        assert!(matches_rule(&names, "SOURCE AND TEST", "x"));
        assert!(!matches_rule(&names, "source", "test"));
    }
}
