//! Assignment of values to names: assignment statements, parameters and destructuring.

use super::Language;
use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::functions::{Parameter, ParameterKind};
use super::token::{Kind, Token};
use super::token_cursor::TokenCursor;
use super::value::Value;

/// True for a default that is missing, a number, a boolean or `None`. It has no effects wherever it is used.
fn is_harmless_default(default: &[Token]) -> bool {
    match default {
        [] => true,
        [only] => match &only.kind {
            Kind::Number(_) => true,
            Kind::Name(name) => {
                matches!(name.as_str(), "None" | "True" | "False" | "null" | "undefined" | "true" | "false")
            }
            _ => false,
        },
        _ => false,
    }
}

impl Evaluator {
    /// Adds a value to those that a name may have. A function or module escapes if the name also has another value.
    pub(super) fn bind(&mut self, name: &str, value: Value) {
        // These names have no value other than the function.
        if self.outline.functions.contains_key(name) {
            return;
        }
        // A built-in function can still be called by its name.
        let is_known_function =
            matches!(&value, Value::QualifiedName(other) if other == name || self.effect_of(other).is_some());
        if !is_known_function {
            self.escape(Some(&Value::QualifiedName(name.to_owned())));
        }
        let value = if value.copy_cost().is_some() { value } else { Value::Unknown };
        if let Some((previous, value)) = self.bindings.bind(name, value) {
            self.escape(Some(&previous));
            self.escape(Some(&value));
        }
    }

    /// Evaluates an assignment to the name at the cursor; `None` if there is none.
    pub(super) fn assignment(&mut self, cursor: &mut TokenCursor<'_>, name: &str, in_brackets: bool) -> Option<Value> {
        let Some(Token { kind: Kind::Punct(punct), .. }) = cursor.ahead(1) else { return None };
        match *punct {
            "=" | ":=" => {
                cursor.next();
                cursor.next();
                cursor.skip_newlines();
                let value = self.assigned_value(cursor, in_brackets);
                if self.outline.classes.has_reached_class {
                    self.escape(Some(&value));
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
                let value = self.expression(cursor, in_brackets);
                self.escape(Some(&value));
                self.bind(name, Value::Unknown);
                Some(Value::Unknown)
            }
            _ => None,
        }
    }

    /// Evaluates the right side of an assignment. Several values without brackets are a list.
    pub(super) fn assigned_value(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        let first = self.expression(cursor, in_brackets);
        if in_brackets || !cursor.is(",") || !matches!(self.language, Language::Python | Language::Ruby) {
            return first;
        }
        let mut values = vec![first];
        while cursor.take(",") {
            values.push(self.expression(cursor, false));
        }
        for value in &values {
            self.escape(Some(value));
        }
        Value::List(values)
    }

    /// Binds the parameters of a function that the program defines to the arguments of a call.
    pub(super) fn call_defined_function(&mut self, parameters: &[Parameter], arguments: &Arguments) {
        let mut positional = arguments.positional.iter();
        let is_parameter = |name: &String| parameters.iter().any(|parameter| parameter.name == *name);
        let accepts_extra_keywords = parameters.iter().any(|parameter| parameter.kind == ParameterKind::ExtraKeywords);
        // A spread value passes keyword arguments under unknown names, so that any parameter may get one.
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
                    None => self.interpolation(&parameter.default),
                },
            };
            self.bind(&parameter.name, if are_keywords_known { value } else { Value::Unknown });
        }
    }

    /// Binds the parameters of a function literal. The first one is [`Evaluator::first_parameter`], the others are
    /// unknown.
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
                Kind::Punct(punct) => matches!(*punct, "(" | "," | "*" | "**" | "{" | "[" | "..." | "|" | "&"),
                Kind::Name(name) => name == "lambda",
                _ => false,
            });
            if let (true, Some(name)) = (starts_parameter, token.name()) {
                let value = first.take().unwrap_or(Value::Unknown);
                self.bind(name, value);
            }
            previous = Some(token);
        }
    }

    /// Binds the parameters of a Ruby block: `|name|`, or `->(name)`. Returns true for `|name|`, which is skipped.
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
        let is_plain = |token: &Token| matches!(token.kind, Kind::Name(_) | Kind::Punct("," | ":") | Kind::Newline);
        if !pattern.first().is_some_and(|token| token.is("{")) || !inside.iter().all(is_plain) {
            self.escape(Some(value));
            for name in pattern.iter().filter_map(Token::name) {
                self.bind(name, Value::Unknown);
            }
            return;
        }
        for entry in inside.split(|token| token.is(",")) {
            let mut names = entry.iter().filter_map(Token::name);
            if let Some(key) = names.next() {
                let member = match self.member(value.clone(), key) {
                    value @ (Value::QualifiedName(_) | Value::Strings(_)) => value,
                    _ => Value::Unknown,
                };
                self.bind(names.next().unwrap_or(key), member);
            }
        }
    }

    /// True if the token at an index is a name to which a function in `self.outline.functions` is assigned.
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
