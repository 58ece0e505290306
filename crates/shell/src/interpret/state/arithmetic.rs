//! Arithmetic on the shell's variables: indices, ranges, `let` and `((…))`.

use super::expansion::{is_default_operator, is_name};
use super::{Array, State, Value};
use crate::syntax::arithmetic::{Evaluated, evaluate, start_of_computed_name};

impl State {
    /// Returns the value of an expression and the assignments in it, without applying the assignments.
    pub(super) fn evaluated(&self, expression: &str) -> Option<Evaluated> {
        // A number with a leading zero is octal. Scripts rarely use octal numbers, so such a value counts as unknown.
        let is_plain = |text: &str| !text.trim_start_matches('-').starts_with('0') || text == "0";
        let number = |name: &str| {
            let value = self.value(name).filter(|value| !value.is_placeholder && is_plain(&value.text))?;
            value.text.parse().ok()
        };
        evaluate(expression, &number)
    }

    /// Evaluates an expression, and sets the variables that the expression assigns. If the value of the expression is
    /// not known, sets no variable. If the name of an assigned variable is computed, notes only that assignment, and
    /// returns `None`.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Option<i64> {
        if let Some(start) = start_of_computed_name(expression) {
            self.assign_unknown_name(start, Some(&Value::unknown_number()));
            return None;
        }
        let Evaluated { value, assignments } = self.evaluated(expression)?;
        for (name, number) in assignments {
            self.assign(&name, Some(Value::literal(number.to_string())));
        }
        Some(value)
    }

    /// Evaluates an expression, and sets the variables that the expression assigns. If the expression's value is not
    /// known, all variables that the expression names become unknown.
    pub(crate) fn evaluate_or_forget(&mut self, expression: &str) -> Option<i64> {
        let value = self.evaluate(expression);
        if value.is_none() {
            let names = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            for name in names.filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
            {
                self.assign(name, None);
            }
        }
        value
    }

    /// Returns the key or index in `NAME[key]`: a literal key, or the value of an arithmetic expression.
    pub(super) fn array_key(&self, key: &str, array: &Array) -> Option<String> {
        let key = key.trim_matches(['"', '\'']);
        if let Some(name) = key.strip_prefix('$').map(|name| name.trim_matches(['{', '}'])) {
            return self
                .value(name)
                .filter(|value| is_name(name) && !value.is_placeholder)
                .map(|value| value.text.to_string());
        }
        if key.contains(['$', '`']) {
            return None;
        }
        let evaluated = || self.evaluated(key).filter(|evaluated| evaluated.assignments.is_empty());
        match array {
            Array::List(elements) if elements.is_empty() => {
                Some(evaluated().map_or_else(|| key.to_owned(), |evaluated| evaluated.value.to_string()))
            }
            Array::List(_) => evaluated().map(|evaluated| evaluated.value.to_string()),
            Array::Map(_) if array.element(key).is_none() => evaluated().map(|evaluated| evaluated.value.to_string()),
            Array::Map(_) => Some(key.to_owned()),
        }
    }

    /// Evaluates the expressions of a substring range: `:1:2` for `:i:i+1`.
    pub(super) fn evaluated_range(&self, operator: &str) -> Option<String> {
        let range = operator.strip_prefix(':').filter(|_| !is_default_operator(operator))?;
        // `:+` starts another operator.
        let range = Some(range).filter(|range| !range.starts_with('+'))?;
        let (from, length) = range.split_once(':').map_or((range, None), |(from, length)| (from, Some(length)));
        let number = |text: &str| {
            self.evaluated(text).filter(|evaluated| evaluated.assignments.is_empty()).map(|evaluated| evaluated.value)
        };
        let from = number(from)?;
        match length {
            Some(length) => Some(format!(":{from}:{}", number(length)?)),
            None => Some(format!(":{from}")),
        }
    }
}
