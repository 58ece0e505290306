//! Wildcards such as `*` for programs, operands and branches, and for the values of flags and environment variables.

use serde::{Deserialize, Serialize};

use path::pattern::{Pattern, PatternError};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wildcard(String);

/// The replacement for `/`. In a wildcard, `/` is an ordinary character; in a [`Pattern`], `/` separates segments.
const SLASH: &str = "\u{1}";

impl Wildcard {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Pattern::parse(&text.replace('/', SLASH))?;
        Ok(Self(text.to_owned()))
    }

    /// Creates a wildcard that matches exactly this text.
    pub fn literal(text: &str) -> Self {
        Self(
            text.chars()
                .flat_map(|character| [character.is_ascii_punctuation().then_some('\\'), Some(character)])
                .flatten()
                .collect(),
        )
    }

    /// Creates a wildcard that matches this text in upper or lower case.
    pub fn case_insensitive(text: &str) -> Self {
        let parts = text.chars().map(|character| {
            let cases: Vec<char> = character.to_lowercase().chain(character.to_uppercase()).collect();
            match cases.as_slice() {
                [small, large] if small != large => format!("[{small}{large}]"),
                _ => Self::literal(&character.to_string()).0,
            }
        });
        Self(parts.collect())
    }

    /// The only text that matches; `None` if the wildcard contains special characters.
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
