//! The inputs of a program: its arguments, its file, the environment.

use super::dialect::Dialect;
use super::token::Token;
use super::value::Value;
use super::{Language, ProgramInputs, environment};

pub(super) struct Inputs {
    /// Its arguments, as a value of the language's `argv`.
    pub(super) arguments: Option<Value>,
    /// The file that the source is in.
    pub(super) file: Option<String>,
    /// Environment variables that the program does not set itself.
    variables: Vec<(String, String)>,
}

impl Inputs {
    pub(super) fn of(language: Language, inputs: &ProgramInputs, tokens: &[Token]) -> Self {
        let is_kept = |(name, _): &&(String, String)| !environment::may_set(tokens, name);
        let dialect = Dialect::of(language);
        Self {
            arguments: inputs.arguments.as_deref().map(|words| dialect.argv_value(words, inputs.is_inline)),
            file: inputs.file.clone(),
            variables: inputs.variables.iter().filter(is_kept).cloned().collect(),
        }
    }

    pub(super) fn environment_variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
