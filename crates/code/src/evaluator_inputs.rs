//! The inputs of a program, as the evaluator uses them: arguments, path of the source, environment variables.

use super::dialect::Dialect;
use super::token::Token;
use super::value::Value;
use super::{Language, ProgramInputs, environment_variables};

/// [`ProgramInputs`] after conversion: the arguments are a [`Value`], and variables that the program possibly changes
/// are left out.
pub(super) struct EvaluatorInputs {
    /// The value of the language's `argv`; `None` if the arguments are unknown.
    pub(super) arguments: Option<Value>,
    /// The path of the file that contains the source.
    pub(super) file: Option<String>,
    /// Environment variables that the program does not change.
    variables: Vec<(String, String)>,
}

impl EvaluatorInputs {
    pub(super) fn of(language: Language, inputs: &ProgramInputs, tokens: &[Token]) -> Self {
        let is_unchanged = |(name, _): &&(String, String)| !environment_variables::may_set(tokens, name);
        let dialect = Dialect::of(language);
        Self {
            arguments: inputs.arguments.as_deref().map(|arguments| dialect.argv_value(arguments, inputs.is_inline)),
            file: inputs.file.clone(),
            variables: inputs.variables.iter().filter(is_unchanged).cloned().collect(),
        }
    }

    pub(super) fn environment_variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(variable, _)| variable == name).map(|(_, value)| value.as_str())
    }
}
