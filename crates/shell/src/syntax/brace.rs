//! Brace expansion: `{a,b}` and `{1..3}` turn one word into several words.

use crate::syntax::word_scan::Unit;

/// The maximum number of words that one word expands to.
const MAX_WORDS: usize = 256;
/// The maximum number of opening braces in a word. The time for finding the closing braces is quadratic in this number.
const MAX_BRACES: usize = 64;
/// The maximum total number of units in all words that one word expands to.
const MAX_UNITS: usize = 64 * 1024;
/// The maximum width of a number with leading zeros, to which all numbers of the sequence are padded.
const MAX_WIDTH: usize = 64;

/// The expansion exceeds a limit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// Returns the words that a word expands to. The leftmost and outermost braces are expanded first, as in shells.
pub(crate) fn expand(word: Vec<Unit>) -> Result<Vec<Vec<Unit>>, TooMany> {
    let braces = word.iter().filter(|unit| **unit == Unit::Bare('{')).count();
    if braces == 0 {
        return Ok(vec![word]);
    }
    if braces > MAX_BRACES {
        return Err(TooMany);
    }
    let mut words = Vec::new();
    let mut units = 0;
    let mut pending = vec![word];
    while let Some(word) = pending.pop() {
        match first_group(&word)? {
            None => words.push(word),
            Some(group) => {
                let before = word.get(..group.open).unwrap_or_default();
                let after = word.get(group.close + 1..).unwrap_or_default();
                for alternative in group.alternatives.into_iter().rev() {
                    units += before.len() + alternative.len() + after.len();
                    if units > MAX_UNITS {
                        return Err(TooMany);
                    }
                    pending.push([before, &alternative, after].concat());
                }
            }
        }
        if words.len() + pending.len() > MAX_WORDS {
            return Err(TooMany);
        }
    }
    Ok(words)
}

/// The first pair of braces in a word, as indices of the word's units.
struct Group {
    open: usize,
    close: usize,
    alternatives: Vec<Vec<Unit>>,
}

fn first_group(word: &[Unit]) -> Result<Option<Group>, TooMany> {
    let opens = word.iter().enumerate().filter(|(_, unit)| **unit == Unit::Bare('{'));
    opens.map(|(open, _)| open).find_map(|open| group_at(word, open)).transpose()
}

fn group_at(word: &[Unit], open: usize) -> Option<Result<Group, TooMany>> {
    let mut alternatives = vec![Vec::new()];
    let mut depth = 0;
    for (at, unit) in word.iter().enumerate().skip(open + 1) {
        match unit {
            Unit::Bare('}') if depth == 0 => {
                if alternatives.len() == 1 {
                    match sequence(alternatives.first()?)? {
                        Ok(sequence) => alternatives = sequence,
                        Err(too_many) => return Some(Err(too_many)),
                    }
                }
                return Some(Ok(Group { open, close: at, alternatives }));
            }
            Unit::Bare(',') if depth == 0 => {
                alternatives.push(Vec::new());
                continue;
            }
            Unit::Bare('{') => depth += 1,
            Unit::Bare('}') => depth -= 1,
            _ => {}
        }
        alternatives.last_mut()?.push(unit.clone());
    }
    None
}

/// Expands `1..3`, `1..9..2` or `a..e`.
fn sequence(inside: &[Unit]) -> Option<Result<Vec<Vec<Unit>>, TooMany>> {
    let text: Option<String> =
        inside.iter().map(|unit| if let Unit::Bare(c) = unit { Some(*c) } else { None }).collect();
    let text = text?;
    let mut parts = text.split("..");
    let (first, last, step) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?.checked_abs()?.max(1);
    let bare = |text: &str| text.chars().map(Unit::Bare).collect::<Vec<_>>();
    if let (Ok(first_number), Ok(last_number)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let is_padded =
            |text: &str| text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0');
        let width = if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
        if width > MAX_WIDTH {
            return Some(Err(TooMany));
        }
        return Some(Ok(count(first_number, last_number, step).map(|n| bare(&format!("{n:0width$}"))).collect()));
    }
    let (mut first, mut last) = (first.chars(), last.chars());
    let (Some(from), None, Some(to), None) = (first.next(), first.next(), last.next(), last.next()) else {
        return None;
    };
    if !from.is_ascii_alphabetic() || !to.is_ascii_alphabetic() {
        return None;
    }
    let characters = count(i64::from(u32::from(from)), i64::from(u32::from(to)), step);
    characters
        .map(|code| Some(vec![Unit::Bare(char::from_u32(u32::try_from(code).ok()?)?)]))
        .collect::<Option<_>>()
        .map(Ok)
}

/// Counts from the first number to the last, up or down. Returns at most one number more than the limit, so that the
/// caller notices that the limit is exceeded.
fn count(first: i64, last: i64, step: i64) -> impl Iterator<Item = i64> {
    let step = if first <= last { step } else { -step };
    let not_past = move |number: &i64| if step > 0 { *number <= last } else { *number >= last };
    std::iter::successors(Some(first), move |number| number.checked_add(step)).take_while(not_past).take(MAX_WORDS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> String {
        let words = expand(text.chars().map(Unit::Bare).collect()).expect("few enough");
        let text = |word: &Vec<Unit>| {
            word.iter().map(|unit| if let Unit::Bare(c) = unit { *c } else { '?' }).collect::<String>()
        };
        words.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn expansion_matches_bash() {
        assert_eq!(expanded("a{b,c}d"), "abd acd");
        assert_eq!(expanded("{a,b}{1,2}"), "a1 a2 b1 b2");
        assert_eq!(expanded("{a,{b,c}d}"), "a bd cd");
        assert_eq!(expanded("{x}{a,b}"), "{x}a {x}b");
        assert_eq!(expanded("{{a,b}"), "{a {b");
        assert_eq!(expanded("{1..3}"), "1 2 3");
        assert_eq!(expanded("{3..1}"), "3 2 1");
        assert_eq!(expanded("{a..e..2}"), "a c e");
        assert_eq!(expanded("{08..10}"), "08 09 10");
        assert_eq!(expanded("{a,}"), "a ");
        for same in ["{}", "{a}", "{a..}", "{a,b", "a,b}", "{1..b}"] {
            assert_eq!(expanded(same), same);
        }
    }

    #[test]
    fn expansion_is_bounded() {
        let word = |text: &str| text.chars().map(Unit::Bare).collect::<Vec<_>>();
        assert_eq!(expand(word("{1..100000000000}")), Err(TooMany));
        assert_eq!(expand(word(&"{a,b}".repeat(20))), Err(TooMany));
        assert_eq!(expand(word(&"{".repeat(10_000))), Err(TooMany));
        assert_eq!(expand(word(&format!("{{{}..300}}", "0".repeat(60_000)))), Err(TooMany));
        assert_eq!(expand(word(&format!("{{{}}}{}", ",".repeat(200), "a".repeat(60_000)))), Err(TooMany));
    }
}
