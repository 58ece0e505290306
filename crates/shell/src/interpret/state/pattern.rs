//! Shell patterns made of `*`, `?` and literal characters.

pub(super) struct Pattern {
    letters: Vec<char>,
}

/// Longer patterns are not matched, which bounds the cost of a match.
const MAX_PATTERN: usize = 32;

impl Pattern {
    /// Returns `None` for a pattern with character classes, quotes or expansions.
    pub(super) fn of(raw: &str) -> Option<Self> {
        let is_simple = raw.len() <= MAX_PATTERN && !raw.contains(['[', '(', '$', '`', '\\', '"', '\'']);
        is_simple.then(|| Self { letters: raw.chars().collect() })
    }

    /// True if the pattern matches the whole text.
    pub(super) fn matches(&self, text: &str) -> bool {
        let rest: Vec<char> = text.chars().collect();
        let (mut at, mut place) = (0, 0);
        // The position of the last star, and the end of what it matches.
        let mut star: Option<(usize, usize)> = None;
        while let Some(letter) = rest.get(place) {
            match self.letters.get(at) {
                Some('*') => {
                    star = Some((at, place));
                    at += 1;
                }
                Some(own) if *own == '?' || own == letter => (at, place) = (at + 1, place + 1),
                _ => match star {
                    Some((before, taken)) => {
                        star = Some((before, taken + 1));
                        (at, place) = (before + 1, taken + 1);
                    }
                    None => return false,
                },
            }
        }
        self.letters.iter().skip(at).all(|letter| *letter == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn stars_take_anything() {
        let matches = |pattern: &str, text: &str| Pattern::of(pattern).map(|pattern| pattern.matches(text));
        assert_eq!(matches("*/", "a/b/"), Some(true));
        assert_eq!(matches(",*", "a,b"), Some(false));
        assert_eq!(matches("a?c*", "abcd"), Some(true));
        assert_eq!(matches("*b*b", "abab"), Some(true));
        assert_eq!(matches("[a]", "a"), None);
    }
}
