//! Shell patterns made of `*`, `?` and literal characters.

pub(super) struct Pattern {
    characters: Vec<char>,
}

/// Longer patterns are not matched, which bounds the cost of a match.
const MAX_PATTERN: usize = 32;

impl Pattern {
    /// Returns `None` for a pattern with character classes, quotes or expansions.
    pub(super) fn of(raw: &str) -> Option<Self> {
        let is_simple = raw.len() <= MAX_PATTERN && !raw.contains(['[', '(', '$', '`', '\\', '"', '\'']);
        is_simple.then(|| Self { characters: raw.chars().collect() })
    }

    /// True if the pattern matches the whole text.
    pub(super) fn matches(&self, text: &str) -> bool {
        let text_characters: Vec<char> = text.chars().collect();
        let (mut in_pattern, mut in_text) = (0, 0);
        // The position of the last `*` in the pattern, and the end of the text that this `*` matches.
        let mut star: Option<(usize, usize)> = None;
        while let Some(c) = text_characters.get(in_text) {
            match self.characters.get(in_pattern) {
                Some('*') => {
                    star = Some((in_pattern, in_text));
                    in_pattern += 1;
                }
                Some(expected) if *expected == '?' || expected == c => {
                    (in_pattern, in_text) = (in_pattern + 1, in_text + 1);
                }
                _ => match star {
                    Some((before, match_end)) => {
                        star = Some((before, match_end + 1));
                        (in_pattern, in_text) = (before + 1, match_end + 1);
                    }
                    None => return false,
                },
            }
        }
        self.characters.iter().skip(in_pattern).all(|c| *c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn stars_match_any_text() {
        let matches = |pattern: &str, text: &str| Pattern::of(pattern).map(|pattern| pattern.matches(text));
        assert_eq!(matches("*/", "a/b/"), Some(true));
        assert_eq!(matches(",*", "a,b"), Some(false));
        assert_eq!(matches("a?c*", "abcd"), Some(true));
        assert_eq!(matches("*b*b", "abab"), Some(true));
        assert_eq!(matches("[a]", "a"), None);
    }
}
