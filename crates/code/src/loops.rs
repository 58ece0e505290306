//! Loops and comprehensions: evaluates the values that they iterate over, and binds the loop variables to them.

use super::Language;
use super::evaluator::Evaluator;
use super::token::TokenKind;
use super::token_cursor::{MAX_LOOKAHEAD, TokenCursor};
use super::value::Value;

/// The maximum number of elements in a list that a comprehension filters. If there are more, the result is unknown,
/// unless it consists of partly known strings or paths.
const MAX_FILTERED_ELEMENTS: usize = 12;

impl Evaluator {
    /// Evaluates a comprehension. The cursor is at `for` in `[element for name in values]`.
    pub(super) fn evaluate_comprehension(&mut self, cursor: &mut TokenCursor<'_>, element: &Value) -> Value {
        let start = cursor.position();
        let Some(values) = self.bind_loop_variables(cursor) else {
            cursor.move_to(start + 1);
            return Value::Unknown;
        };
        let mut is_unfiltered = true;
        while !cursor.peek().is_none_or(|token| token.is(")") || token.is("]") || token.is("}") || token.is(",")) {
            is_unfiltered = false;
            self.evaluate_expression(cursor, true);
            if cursor.is(":") || cursor.is(";") {
                cursor.next();
            }
        }
        if values.is_pending() || element.is_pending() {
            return Value::Pending;
        }
        let lists = values.lists();
        match (lists.as_slice(), element) {
            ([Value::List(values)], element) if is_unfiltered => Value::List(vec![element.clone(); values.len()]),
            // If the elements are partly known, such as file names, their number does not matter.
            ([_, ..], Value::PartlyKnown { .. }) => Value::List(vec![element.clone()]),
            ([Value::List(values)], element) if values.len() <= MAX_FILTERED_ELEMENTS => {
                let lists = (0..=values.len()).map(|count| Value::List(vec![element.clone(); count]));
                lists.reduce(Value::or).unwrap_or(Value::Unknown)
            }
            _ => Value::Unknown,
        }
    }

    /// Evaluates the head of a loop: `for name in values`.
    pub(super) fn evaluate_loop(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        self.bind_loop_variables(cursor).is_some()
    }

    /// Binds the names in `for name in values`, and returns the values.
    fn bind_loop_variables(&mut self, cursor: &mut TokenCursor<'_>) -> Option<Value> {
        cursor.next();
        let mut names = Vec::new();
        while !cursor.take_name("in") {
            if names.len() > MAX_LOOKAHEAD {
                self.findings.is_opaque = true;
                return None;
            }
            match cursor.next().map(|token| &token.kind) {
                Some(TokenKind::Name(name)) => names.push(name.clone()),
                Some(TokenKind::Punct("," | "(" | ")" | "*")) => {}
                _ => return None,
            }
        }
        let values = self.evaluate_loop_iterable(cursor);
        let mut element = self.element_of(&values);
        if cursor.is(",") && names.len() == 1 {
            while cursor.take(",") {
                self.evaluate_expression(cursor, true);
            }
            element = Value::Unknown;
        }
        let elements = match element {
            element if names.len() == 1 => vec![element],
            element => element.destructured(names.len()).unwrap_or_else(|| vec![Value::Unknown; names.len()]),
        };
        for (name, value) in names.iter().zip(elements) {
            self.bind(name, value);
        }
        Some(values)
    }

    /// Returns the value of a loop variable. For an empty list, it is [`Value::Pending`], because the program possibly
    /// appends to the list, which a later round shows.
    pub(super) fn element_of(&self, values: &Value) -> Value {
        let is_empty = *values == Value::List(Vec::new());
        if is_empty && !self.bindings.widens_to_unknown { Value::Pending } else { values.element() }
    }

    /// Evaluates the values over which a loop iterates. A condition that follows them is not read.
    fn evaluate_loop_iterable(&mut self, cursor: &mut TokenCursor<'_>) -> Value {
        let starts_operand = cursor.peek().is_some_and(|token| {
            matches!(token.kind, TokenKind::Name(_) | TokenKind::String(_) | TokenKind::Punct("(" | "[" | "{"))
        });
        let start = cursor.position();
        let value = if starts_operand && self.language == Language::Python {
            self.evaluate_operand(cursor, true)
        } else {
            Value::Unknown
        };
        let is_single_operand = cursor.peek().is_none_or(|token| {
            matches!(token.kind, TokenKind::Newline | TokenKind::Punct(":" | ";" | ")" | "]" | "}"))
                || matches!(token.name(), Some("if" | "for" | "async"))
        });
        if starts_operand && is_single_operand && self.language == Language::Python {
            return value;
        }
        cursor.move_to(start);
        self.evaluate_expression(cursor, true)
    }

    /// Evaluates the head of a Perl loop: `for my $name (values)`.
    pub(super) fn evaluate_perl_loop(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        cursor.next();
        while matches!(cursor.name(), Some("my" | "our")) {
            cursor.next();
        }
        let name = cursor.take_any_name().unwrap_or("$_");
        if !cursor.is("(") {
            // Without parentheses, this can be the end of `statement for values`.
            self.bind("$_", Value::Unknown);
            return false;
        }
        let values = match self.evaluate_parenthesized_list(cursor) {
            list @ Value::List(_) => list,
            value => Value::List(vec![value]),
        };
        let values = Value::List(values.flattened().into_iter().cloned().collect());
        self.bind(name, values.element());
        true
    }
}
