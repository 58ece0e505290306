//! What a text finds when it starts: its arguments, its file, the environment.

use super::dialect::Dialect;
use super::token::Token;
use super::value::Value;
use super::{Given, Language, environment};

pub(super) struct Inputs {
    /// The list of its arguments, as the language has it.
    pub(super) arguments: Option<Value>,
    /// The file that it stands in.
    pub(super) file: Option<String>,
    /// Environment variables that it does not set itself.
    variables: Vec<(String, String)>,
}

impl Inputs {
    pub(super) fn of(language: Language, given: &Given, tokens: &[Token]) -> Self {
        let is_kept = |(name, _): &&(String, String)| !environment::may_set(tokens, name);
        let dialect = Dialect::of(language);
        Self {
            arguments: given.words.as_deref().map(|words| dialect.given(words, given.in_command)),
            file: given.file.clone(),
            variables: given.variables.iter().filter(is_kept).cloned().collect(),
        }
    }

    /// The value of an environment variable.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
