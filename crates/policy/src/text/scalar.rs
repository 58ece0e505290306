//! Writes single values as YAML.

use crate::text::yaml::Yaml;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scalar {
    Bool(bool),
    Text(String),
}

/// Words that some YAML parsers read as booleans or null.
const NOT_PLAIN: &[&str] = &["false", "n", "no", "null", "off", "on", "true", "y", "yes"];

impl Scalar {
    /// Renders the value on one line, valid in both block and flow style.
    pub fn render(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Text(text) if is_plain(text) => text.clone(),
            // JSON strings are valid YAML double-quoted strings.
            Self::Text(text) if text.chars().any(char::is_control) => {
                serde_json::Value::from(text.as_str()).to_string()
            }
            Self::Text(text) => format!("'{}'", text.replace('\'', "''")),
        }
    }

    pub fn to_yaml(&self) -> Yaml {
        match self {
            Self::Bool(value) => Yaml::Bool(*value),
            Self::Text(text) => Yaml::Text(text.clone()),
        }
    }
}

fn is_plain(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "-_./".contains(character))
        && !NOT_PLAIN.contains(&text.to_ascii_lowercase().as_str())
}
