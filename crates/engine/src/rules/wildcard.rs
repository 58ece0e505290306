//! A text with `*` for anything, as names of programs, operands and branches are meant.

use serde::{Deserialize, Serialize};

use path::pattern::{Pattern, PatternError};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wildcard(String);

/// Stands for `/`, which is nothing special here.
const SLASH: &str = "\u{1}";

impl Wildcard {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Pattern::parse(&text.replace('/', SLASH))?;
        Ok(Self(text.to_owned()))
    }

    /// Just this text.
    pub fn exactly(text: &str) -> Self {
        Self(
            text.chars()
                .flat_map(|letter| [letter.is_ascii_punctuation().then_some('\\'), Some(letter)])
                .flatten()
                .collect(),
        )
    }

    /// Just this text, in capital letters or small ones.
    pub fn in_any_case(text: &str) -> Self {
        let letters = text.chars().map(|letter| {
            let cases: Vec<char> = letter.to_lowercase().chain(letter.to_uppercase()).collect();
            match cases.as_slice() {
                [small, large] if small != large => format!("[{small}{large}]"),
                _ => Self::exactly(&letter.to_string()).0,
            }
        });
        Self(letters.collect())
    }

    /// The text, where it is one text only.
    pub fn only(&self) -> Option<&str> {
        (!self.0.contains(['*', '?', '[', '{', '\\'])).then_some(self.0.as_str())
    }

    pub fn matches(&self, text: &str) -> bool {
        if let Some(only) = self.only() {
            return only == text;
        }
        let pattern = Pattern::parse(&self.0.replace('/', SLASH));
        pattern.is_ok_and(|pattern| pattern.matches(&text.replace('/', SLASH)))
    }
}
