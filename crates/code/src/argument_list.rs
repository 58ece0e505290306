//! Evaluates the arguments of a call, with or without parentheses.

use super::Language;
use super::arguments::Arguments;
use super::call::is_iteration_method;
use super::evaluator::Evaluator;
use super::function_effect::FunctionEffect;
use super::token::TokenKind;
use super::token_cursor::TokenCursor;
use super::value::Value;

impl Evaluator {
    /// Evaluates arguments in parentheses. The cursor is at the opening parenthesis.
    pub(super) fn evaluate_arguments(&mut self, cursor: &mut TokenCursor<'_>, callee: &Value) -> Arguments {
        cursor.next();
        let mut arguments = Arguments::default();
        loop {
            cursor.skip_newlines();
            match cursor.peek().map(|token| &token.kind) {
                Some(TokenKind::Punct(")")) => {
                    cursor.next();
                    break;
                }
                Some(TokenKind::Punct("," | ";" | ":" | "=>")) => {
                    cursor.next();
                }
                None | Some(TokenKind::Punct("]" | "}")) => {
                    self.findings.is_opaque = true;
                    break;
                }
                Some(TokenKind::Punct("*" | "...")) if self.has_spread() => {
                    cursor.next();
                    let value = self.evaluate_expression(cursor, true);
                    arguments.positional.push(Value::Spread(Box::new(value)));
                }
                Some(_) => self.evaluate_argument(cursor, &mut arguments, true),
            }
        }
        self.record_argument_escapes(callee, &arguments);
        // A spread list is replaced by its elements if they are known.
        match Value::list(std::mem::take(&mut arguments.positional)) {
            Value::List(values) => arguments.positional = values,
            _ => arguments.positional.push(Value::Unknown),
        }
        arguments
    }

    /// Evaluates arguments without parentheses, up to the end of the statement.
    pub(super) fn evaluate_unparenthesized_arguments(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        callee: &Value,
    ) -> Arguments {
        let mut arguments = Arguments::default();
        let is_argument_start = match cursor.peek().map(|token| &token.kind) {
            Some(TokenKind::Name(name)) => !self.is_trailing_keyword(name) || name == "do",
            Some(TokenKind::String(_) | TokenKind::Number(_)) => true,
            // After a function name, punctuation that is not listed here is an operator and begins no argument.
            Some(TokenKind::Punct(punct)) => {
                matches!(*punct, "(" | "[" | "\\" | "-") || (*punct == "{" && self.language == Language::Perl)
            }
            _ => false,
        };
        if is_argument_start && cursor.name() != Some("do") {
            self.evaluate_argument(cursor, &mut arguments, false);
            while cursor.is(",") || cursor.is("=>") {
                cursor.next();
                cursor.skip_newlines();
                self.evaluate_argument(cursor, &mut arguments, false);
            }
        }
        self.record_argument_escapes(callee, &arguments);
        arguments
    }

    pub(super) fn evaluate_argument(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        arguments: &mut Arguments,
        in_brackets: bool,
    ) {
        if matches!(self.language, Language::Python | Language::Ruby) && cursor.take("**") {
            let value = self.evaluate_expression(cursor, in_brackets);
            return arguments.named.extend(self.entries_of_spread(value));
        }
        let key = cursor.name().filter(|_| match self.language {
            Language::Python => cursor.ahead_is(1, "="),
            Language::Ruby => cursor.ahead_is(1, ":"),
            Language::JavaScript | Language::Perl => false,
        });
        if let Some(key) = key {
            cursor.next();
            cursor.next();
            let value = self.evaluate_expression(cursor, in_brackets);
            return arguments.named.push((key.to_owned(), value));
        }
        let mut value = self.evaluate_expression(cursor, in_brackets);
        // The colon belongs to a slice, a lambda or a ternary operator.
        while in_brackets && cursor.take(":") {
            self.record_escape(Some(&value));
            let next = self.evaluate_expression(cursor, in_brackets);
            self.record_escape(Some(&next));
            value = Value::Unknown;
        }
        if self.language == Language::Ruby && cursor.take("=>") {
            let key = value.only_string().unwrap_or_default().to_owned();
            let value = self.evaluate_expression(cursor, in_brackets);
            return arguments.named.push((key, value));
        }
        arguments.positional.push(value);
    }

    /// Evaluates a list in parentheses that are not those of a call.
    pub(super) fn evaluate_parenthesized_list(&mut self, cursor: &mut TokenCursor<'_>) -> Value {
        Value::List(self.evaluate_arguments(cursor, &Value::Unknown).positional)
    }

    /// Records that the arguments escape, unless the analysis knows what the called function does with them.
    pub(super) fn record_argument_escapes(&mut self, callee: &Value, arguments: &Arguments) {
        if let Value::QualifiedName(name) = callee {
            let only_inspects = self.dialect.non_escaping_functions.contains(&name.as_str());
            let is_followed = matches!(
                self.effect_of(name),
                Some(
                    FunctionEffect::GetMember
                        | FunctionEffect::Eval(_)
                        | FunctionEffect::Import
                        | FunctionEffect::SameFunction
                        | FunctionEffect::Map
                )
            );
            if only_inspects || is_followed {
                return;
            }
        }
        // The analysis evaluates the callback, so the callback does not escape.
        if matches!(callee, Value::Method(_, name) if is_iteration_method(name))
            && matches!(arguments.positional.first(), Some(Value::QualifiedName(_)))
        {
            return;
        }
        for value in arguments.positional.iter().chain(arguments.named.iter().map(|(_, value)| value)) {
            self.record_escape(Some(value));
        }
    }
}
