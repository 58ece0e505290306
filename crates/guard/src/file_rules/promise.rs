//! Promises: how an agent says in its last message that it has seen to a rule.

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";
/// Some agents tick what they have done.
const TICKS: &[char] = &['✓', '✔', '✅', '☑', '\u{FE0F}'];

/// The names that a message promises, outside of code: a rule's id or its title, as it is written.
pub fn promises(message: &str) -> Vec<String> {
    let text = without_code(message);
    // As long in lower case as it is, so that places in one are places in the other.
    let lower = text.to_ascii_lowercase();
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(start) = lower.get(at..).and_then(|rest| rest.find(OPEN)).map(|found| at + found + OPEN.len()) {
        let Some(end) = lower.get(start..).and_then(|rest| rest.find(CLOSE)).map(|found| start + found) else { break };
        let name = text.get(start..end).unwrap_or_default();
        names.push(name.trim().trim_start_matches(TICKS).trim().to_owned());
        at = end + CLOSE.len();
    }
    names
}

/// Whether one of the names is this rule's.
pub fn names_rule(names: &[String], id: &str, title: &str) -> bool {
    let is_same = |name: &str, other: &str| name.to_lowercase() == other.to_lowercase();
    names.iter().any(|name| is_same(name, id) || is_same(name, title))
}

/// The text without fenced blocks and without what stands between backquotes.
fn without_code(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let mut fence: Option<(char, usize)> = None;
    for line in message.lines() {
        let trimmed = line.trim_start();
        let mark = trimmed.chars().next().filter(|first| matches!(first, '`' | '~'));
        let length = mark.map_or(0, |mark| trimmed.chars().take_while(|letter| *letter == mark).count());
        match (fence, mark) {
            (None, Some(mark)) if length >= 3 => fence = Some((mark, length)),
            (Some((open, least)), Some(mark)) if mark == open && length >= least => fence = None,
            (Some(_), _) => {}
            (None, _) => {
                push_outside_of_quotes(line, &mut text);
                text.push('\n');
            }
        }
    }
    text
}

fn push_outside_of_quotes(line: &str, text: &mut String) {
    let parts: Vec<&str> = line.split('`').collect();
    for (place, part) in parts.iter().enumerate() {
        // A backquote that nothing closes is only a sign.
        let is_code = place % 2 == 1 && place + 1 < parts.len();
        if !is_code {
            text.push_str(part);
        }
    }
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
        assert_eq!(promises("<promise>a"), [""; 0]);
        assert_eq!(promises("İ<promise>É</promise>"), ["É"]);
    }

    #[test]
    fn a_rule_is_named_by_its_id_or_title_in_any_case() {
        let names = ["Source And Test".to_owned()];
        assert!(names_rule(&names, "source-test", "Source and test"));
        assert!(names_rule(&names, "SOURCE AND TEST", "x"));
        assert!(!names_rule(&names, "source", "test"));
    }
}
