//! What a variable makes of all that it is set to: `declare -l`, `-u`, `-i`.

use super::{State, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attribute {
    Lower,
    Upper,
    Number,
}

impl Attribute {
    /// By a flag of `declare`.
    pub(super) fn of(flag: &str) -> Option<Self> {
        flag.chars().find_map(|letter| match letter {
            'l' => Some(Self::Lower),
            'u' => Some(Self::Upper),
            'i' => Some(Self::Number),
            _ => None,
        })
    }
}

impl State {
    /// What becomes of a value.
    pub(super) fn as_declared(&self, attribute: Attribute, value: &Value) -> Option<Value> {
        let text = match attribute {
            Attribute::Lower => value.text.to_lowercase(),
            Attribute::Upper => value.text.to_uppercase(),
            Attribute::Number => self.counted(&value.text)?.value.to_string(),
        };
        Some(Value { text: text.into(), ..value.clone() })
    }
}
