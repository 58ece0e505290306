//! Applies `s/from/to/` to text. The patterns of `sed` are POSIX regular expressions.

use fancy_regex::{Captures, Regex, RegexBuilder};

/// Longer results count as unknown. The limit is necessary because each character may be replaced by many characters.
const MAX_TEXT: usize = 64 * 1024;
/// The maximum size of a compiled pattern.
const MAX_COMPILED: usize = 64 * 1024;

/// Returns the text after the substitution; `None` for a pattern or replacement that is not supported.
pub(super) fn substituted(text: &str, from: &str, to: &str, flags: &str, is_extended: bool) -> Option<String> {
    let pattern = pattern(from, is_extended)?;
    let ignores_case = if flags.contains(['i', 'I']) { "(?i)" } else { "" };
    let regex =
        RegexBuilder::new(&format!("{ignores_case}{pattern}")).delegate_size_limit(MAX_COMPILED).build().ok()?;
    let limit = usize::from(!flags.contains('g'));
    let lines = text.split_inclusive('\n').map(|line| {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        Some(replaced(&regex, line, to, limit)? + end)
    });
    let changed: String = lines.collect::<Option<_>>()?;
    (changed.len() <= MAX_TEXT).then_some(changed)
}

/// Replaces the matches in a line. `limit`: the maximum number of replacements; 0 means no limit.
fn replaced(regex: &Regex, line: &str, to: &str, limit: usize) -> Option<String> {
    let mut is_known = true;
    let changed = regex.try_replacen(line, limit, |found: &Captures<'_, str>| {
        let text = replacement(to, found);
        is_known &= text.is_some();
        text.unwrap_or_default()
    });
    changed.ok().filter(|_| is_known).map(std::borrow::Cow::into_owned)
}

/// Returns the replacement, with the matches inserted for `&` and `\1`.
fn replacement(to: &str, found: &Captures<'_, str>) -> Option<String> {
    let group = |number: usize| found.get(number).map_or("", |group| group.as_str());
    let mut text = String::new();
    let mut characters = to.chars();
    while let Some(c) = characters.next() {
        match c {
            '&' => text.push_str(group(0)),
            '\\' => match characters.next()? {
                digit if digit.is_ascii_digit() => text.push_str(group(usize::try_from(digit.to_digit(10)?).ok()?)),
                'n' => text.push('\n'),
                't' => text.push('\t'),
                other if other.is_ascii_alphabetic() => return None,
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    Some(text)
}

/// Translates a pattern into the syntax of the regex library.
fn pattern(from: &str, is_extended: bool) -> Option<String> {
    const SPECIAL: &[char] = &['(', ')', '{', '}', '+', '?', '|'];
    let mut pattern = String::new();
    let mut characters = from.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next()? {
                // In basic patterns, a backslash makes these characters special.
                '|' if !is_extended => return None,
                special if SPECIAL.contains(&special) && !is_extended => pattern.push(special),
                kind @ ('n' | 't' | 'w' | 'W' | 's' | 'S' | 'b' | 'B') => pattern.extend(['\\', kind]),
                other if other.is_ascii_alphanumeric() => return None,
                '/' => pattern.push('/'),
                special => pattern.extend(['\\', special]),
            },
            special if SPECIAL.contains(&special) && !is_extended => pattern.extend(['\\', special]),
            // Of two alternatives, POSIX takes the longest match, but the library takes the first. Some implementations
            // read `^` and `$` inside a pattern as ordinary characters.
            '|' => return None,
            '^' if !pattern.is_empty() && !pattern.ends_with('(') => return None,
            '$' if !matches!(characters.peek(), None | Some(')' | '\\')) => return None,
            // Bracket expressions of POSIX and of the library differ, so only plain bracket expressions are supported.
            '[' => {
                let inside: String = std::iter::from_fn(|| characters.next_if(|c| *c != ']')).collect();
                characters.next()?;
                let is_plain = !inside.trim_start_matches('^').is_empty() && !inside.contains(['[', '\\', '&', '~']);
                pattern.push_str(&Some(inside).filter(|_| is_plain).map(|inside| format!("[{inside}]"))?);
            }
            other => pattern.push(other),
        }
    }
    Some(pattern).filter(|pattern| !pattern.is_empty())
}

#[cfg(test)]
mod tests {
    use super::substituted;

    #[test]
    fn substitutions_match_sed() {
        let cases = [
            (("--soft", "soft", "hard", "", false), Some("--hard")),
            (("aXbX", "X", "-", "", false), Some("a-bX")),
            (("aXbX\ncX", "X", "-", "g", false), Some("a-b-\nc-")),
            (("a+b", "a+", "x", "", false), Some("xb")),
            (("aab", "a\\+", "x", "", false), Some("xb")),
            (("aab", "a+", "<&>", "", true), Some("<aa>b")),
            (("x-y", "\\(x\\)-\\(y\\)", "\\2-\\1", "", false), Some("y-x")),
            (("A.b", "a\\.", "", "I", false), Some("b")),
            (("abc", "[ab]", "", "g", false), Some("c")),
            (("abc", "[[:alpha:]]", "", "g", false), None),
            (("abc", "a|ab", "", "", true), None),
            (("a^b", "a^b", "", "", false), None),
            (("abc", "^ab", "", "", false), Some("c")),
            (("abc", "\\(bc\\)$", "<\\1>", "", false), Some("a<bc>")),
            (("abc", "a", "\\U&", "", false), None),
        ];
        for ((text, from, to, flags, is_extended), expected) in cases {
            assert_eq!(substituted(text, from, to, flags, is_extended).as_deref(), expected, "s/{from}/{to}/{flags}");
        }
    }
}
