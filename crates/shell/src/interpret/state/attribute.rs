//! Attributes of variables that convert every assigned value: `declare -l`, `-u`, `-i`.

use super::{State, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attribute {
    Lower,
    Upper,
    Integer,
}

impl Attribute {
    /// Reads the attribute from a flag of `declare`.
    pub(super) fn of(flag: &str) -> Option<Self> {
        flag.chars().find_map(|letter| match letter {
            'l' => Some(Self::Lower),
            'u' => Some(Self::Upper),
            'i' => Some(Self::Integer),
            _ => None,
        })
    }
}

impl State {
    /// Returns the value that a variable with this attribute gets.
    pub(super) fn with_attribute(&self, attribute: Attribute, value: &Value) -> Option<Value> {
        let text = match attribute {
            Attribute::Lower => value.text.to_lowercase(),
            Attribute::Upper => value.text.to_uppercase(),
            Attribute::Integer => self.evaluated(&value.text)?.value.to_string(),
        };
        Some(Value { text: text.into(), ..value.clone() })
    }
}
