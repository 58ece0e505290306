//! Wildcards (`*`) for names of programs, operands and branches.

use serde::{Deserialize, Serialize};

use path::pattern::{Pattern, PatternError};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wildcard(String);

/// Replaces `/`, which is an ordinary character in wildcards.
const SLASH: &str = "\u{1}";

impl Wildcard {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Pattern::parse(&text.replace('/', SLASH))?;
        Ok(Self(text.to_owned()))
    }

    /// Matches exactly this text.
    pub fn literal(text: &str) -> Self {
        Self(
            text.chars()
                .flat_map(|letter| [letter.is_ascii_punctuation().then_some('\\'), Some(letter)])
                .flatten()
                .collect(),
        )
    }

    /// Matches this text in upper or lower case.
    pub fn case_insensitive(text: &str) -> Self {
        let letters = text.chars().map(|letter| {
            let cases: Vec<char> = letter.to_lowercase().chain(letter.to_uppercase()).collect();
            match cases.as_slice() {
                [small, large] if small != large => format!("[{small}{large}]"),
                _ => Self::literal(&letter.to_string()).0,
            }
        });
        Self(letters.collect())
    }

    /// The text if it has no wildcards.
    pub fn as_literal(&self) -> Option<&str> {
        (!self.0.contains(['*', '?', '[', '{', '\\'])).then_some(self.0.as_str())
    }

    pub fn matches(&self, text: &str) -> bool {
        if let Some(only) = self.as_literal() {
            return only == text;
        }
        let pattern = Pattern::parse(&self.0.replace('/', SLASH));
        pattern.is_ok_and(|pattern| pattern.matches(&text.replace('/', SLASH)))
    }
}
