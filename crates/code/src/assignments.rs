//! Assignment of values to names: assignment statements, parameters and destructuring.

use super::Language;
use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::functions::{Parameter, ParameterKind};
use super::token::{Token, TokenKind};
use super::token_cursor::TokenCursor;
use super::value::Value;

/// True if a parameter's default is missing, a number, a boolean or `None`. Such a value has no effects, however the
/// function uses it.
fn is_harmless_default(default: &[Token]) -> bool {
    match default {
        [] => true,
        [only] => match &only.kind {
            TokenKind::Number(_) => true,
            TokenKind::Name(name) => {
                matches!(name.as_str(), "None" | "True" | "False" | "null" | "undefined" | "true" | "false")
            }
            _ => false,
        },
        _ => false,
    }
}

impl Evaluator {
    /// Adds a value to the possible values of a name. If the name can then be a function or module, but also another
    /// value, the function or module escapes.
    pub(super) fn bind(&mut self, name: &str, value: Value) {
        // A name in `functions` always refers to the function: it is never assigned.
        if self.outline.functions.contains_key(name) {
            return;
        }
        // If a built-in function has the same name, a later call can still be a call of the built-in function.
        let is_known_function =
            matches!(&value, Value::QualifiedName(other) if other == name || self.effect_of(other).is_some());
        if !is_known_function {
            self.record_escape(Some(&Value::QualifiedName(name.to_owned())));
        }
        let value = if value.copy_cost().is_some() { value } else { Value::Unknown };
        if let Some((previous, value)) = self.bindings.bind(name, value) {
            self.record_escape(Some(&previous));
            self.record_escape(Some(&value));
        }
    }

    /// Evaluates an assignment to the name at the cursor. Returns the assigned value, or `None` if no assignment
    /// follows.
    pub(super) fn evaluate_assignment(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        name: &str,
        in_brackets: bool,
    ) -> Option<Value> {
        let Some(Token { kind: TokenKind::Punct(punct), .. }) = cursor.ahead(1) else { return None };
        match *punct {
            "=" | ":=" => {
                cursor.next();
                cursor.next();
                cursor.skip_newlines();
                let value = self.evaluate_assigned_value(cursor, in_brackets);
                if self.outline.classes.has_reached_class {
                    self.record_escape(Some(&value));
                }
                self.bind(name, value.clone());
                Some(value)
            }
            "=~" => {
                self.bind(name, Value::Unknown);
                None
            }
            "<<" if self.language == Language::Ruby => {
                self.bind(name, Value::Unknown);
                None
            }
            "==" | "===" | "!=" | "!==" | "<=" | ">=" | "<=>" => None,
            punct if punct.len() > 1 && punct.ends_with('=') => {
                cursor.next();
                cursor.next();
                let value = self.evaluate_expression(cursor, in_brackets);
                self.record_escape(Some(&value));
                self.bind(name, Value::Unknown);
                Some(Value::Unknown)
            }
            _ => None,
        }
    }

    /// Evaluates the right side of an assignment. Several values without brackets are a list.
    pub(super) fn evaluate_assigned_value(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        let first = self.evaluate_expression(cursor, in_brackets);
        if in_brackets || !cursor.is(",") || !matches!(self.language, Language::Python | Language::Ruby) {
            return first;
        }
        let mut values = vec![first];
        while cursor.take(",") {
            values.push(self.evaluate_expression(cursor, false));
        }
        for value in &values {
            self.record_escape(Some(value));
        }
        Value::List(values)
    }

    /// Binds the parameters of a function that the program defines to the arguments of a call.
    pub(super) fn bind_parameters_to_arguments(&mut self, parameters: &[Parameter], arguments: &Arguments) {
        let mut positional = arguments.positional.iter();
        let is_parameter = |name: &String| parameters.iter().any(|parameter| parameter.name == *name);
        let accepts_extra_keywords = parameters.iter().any(|parameter| parameter.kind == ParameterKind::ExtraKeywords);
        // A spread value passes keyword arguments with unknown names, so any parameter can get one of them.
        let are_keywords_known =
            arguments.named.iter().all(|(name, _)| is_parameter(name) || accepts_extra_keywords && !name.is_empty());
        for parameter in parameters {
            let value = match parameter.kind {
                ParameterKind::ExtraPositional => Value::List(positional.by_ref().cloned().collect()),
                ParameterKind::ExtraKeywords => {
                    let extra = arguments.named.iter().filter(|(name, _)| !is_parameter(name));
                    Value::Record(extra.cloned().collect())
                }
                ParameterKind::Single => match positional.next().or_else(|| arguments.named(&parameter.name)) {
                    Some(value) => value.clone(),
                    None if are_keywords_known && is_harmless_default(&parameter.default) => continue,
                    None => self.evaluate_interpolation(&parameter.default),
                },
            };
            self.bind(&parameter.name, if are_keywords_known { value } else { Value::Unknown });
        }
    }

    /// Binds the parameters of a function literal: the first one to [`Evaluator::first_parameter`], the others to
    /// unknown values.
    pub(super) fn bind_parameters(&mut self, tokens: &[Token]) {
        let mut first = self.first_parameter.take();
        let mut tokens = tokens;
        // `({a, b: c}, d)`
        if let (Some(value), [open, brace, ..]) = (&first, tokens)
            && open.is("(")
            && brace.is("{")
        {
            let value = value.clone();
            let end = tokens.iter().position(|token| token.is("}")).map_or(tokens.len(), |index| index + 1);
            self.bind_destructured(tokens.get(1..end).unwrap_or_default(), &value);
            tokens = tokens.get(end..).unwrap_or_default();
            first = None;
        }
        let mut previous: Option<&Token> = None;
        for token in tokens {
            let starts_parameter = previous.is_some_and(|previous| match &previous.kind {
                TokenKind::Punct(punct) => matches!(*punct, "(" | "," | "*" | "**" | "{" | "[" | "..." | "|" | "&"),
                TokenKind::Name(name) => name == "lambda",
                _ => false,
            });
            if let (true, Some(name)) = (starts_parameter, token.name()) {
                let value = first.take().unwrap_or(Value::Unknown);
                self.bind(name, value);
            }
            previous = Some(token);
        }
    }

    /// Binds the parameters of a Ruby block or lambda. The cursor is after `punct`. Skips `|name|` and returns true;
    /// does not skip `->(name)`, and returns false.
    pub(super) fn bind_block_parameters(&mut self, cursor: &mut TokenCursor<'_>, punct: &str) -> bool {
        if self.language != Language::Ruby {
            return false;
        }
        let start = cursor.position();
        if punct == "->" && cursor.is("(") {
            let length = (0..64).find(|ahead| cursor.ahead_is(*ahead, ")")).unwrap_or(64);
            self.bind_parameters(cursor.between(start, start + length));
            return false;
        }
        let before = start.checked_sub(2).map(|index| cursor.between(index, index + 1)).and_then(<[Token]>::first);
        let starts_block = before.is_some_and(|token| token.is("{") || token.name() == Some("do"));
        if punct != "|" || !starts_block {
            return false;
        }
        while cursor.peek().is_some() && !cursor.take("|") {
            cursor.next();
        }
        self.bind_parameters(cursor.between(start - 1, cursor.position()));
        true
    }

    /// Binds the names of `{a, b: c}` to members of the value. The names of a more complex pattern become unknown.
    pub(super) fn bind_destructured(&mut self, pattern: &[Token], value: &Value) {
        let inside = pattern.get(1..pattern.len().saturating_sub(1)).unwrap_or_default();
        let is_plain =
            |token: &Token| matches!(token.kind, TokenKind::Name(_) | TokenKind::Punct("," | ":") | TokenKind::Newline);
        if !pattern.first().is_some_and(|token| token.is("{")) || !inside.iter().all(is_plain) {
            self.record_escape(Some(value));
            for name in pattern.iter().filter_map(Token::name) {
                self.bind(name, Value::Unknown);
            }
            return;
        }
        for entry in inside.split(|token| token.is(",")) {
            let mut names = entry.iter().filter_map(Token::name);
            if let Some(key) = names.next() {
                let member = match self.access_member(value.clone(), key) {
                    value @ (Value::QualifiedName(_) | Value::Strings(_)) => value,
                    _ => Value::Unknown,
                };
                self.bind(names.next().unwrap_or(key), member);
            }
        }
    }

    /// True if the token at index `name` is assigned (`name = …`), and `self.outline.functions` has a function of that
    /// name.
    pub(super) fn assigns_defined_function(&self, cursor: &TokenCursor<'_>, name: Option<usize>) -> bool {
        let tokens = name.map(|name| cursor.between(name, name + 2)).unwrap_or_default();
        match tokens {
            [name, operator] if operator.is("=") => {
                name.name().is_some_and(|name| self.outline.functions.contains_key(name))
            }
            _ => false,
        }
    }
}
