//! How names get their values: assignments, parameters and destructured members.

use super::Language;
use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::functions::{Parameter, ParameterKind};
use super::token::{Kind, Token};
use super::token_cursor::TokenCursor;
use super::value::Value;

/// True for `None`, `false`, `0`, or no default at all.
fn is_empty_default(default: &[Token]) -> bool {
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
    /// Adds a value to those that a name may have. A function or module escapes if the name also has another meaning.
    pub(super) fn bind(&mut self, name: &str, value: Value) {
        // A function that is only called has no other meaning.
        if self.outline.functions.contains_key(name) {
            return;
        }
        // A built-in name keeps its own meaning as well.
        let is_function =
            matches!(&value, Value::QualifiedName(other) if other == name || self.effect_of(other).is_some());
        if !is_function {
            self.escape(Some(&Value::QualifiedName(name.to_owned())));
        }
        let value = if value.weight().is_some() { value } else { Value::Unknown };
        if let Some((known, value)) = self.names.bind(name, value) {
            self.escape(Some(&known));
            self.escape(Some(&value));
        }
    }

    /// Reads an assignment to the name at the cursor. Returns `None` if there is none.
    pub(super) fn assignment(&mut self, cursor: &mut TokenCursor<'_>, name: &str, in_brackets: bool) -> Option<Value> {
        let Some(Token { kind: Kind::Punct(punct), .. }) = cursor.ahead(1) else { return None };
        match *punct {
            "=" | ":=" => {
                cursor.next();
                cursor.next();
                cursor.skip_newlines();
                let value = self.assigned_value(cursor, in_brackets);
                if self.outline.classes.any_found {
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

    /// Reads the right side of an assignment; several values without brackets are a list.
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

    /// Binds the parameters of one of the program's own functions to the arguments of a call.
    pub(super) fn call_own_function(&mut self, parameters: &[Parameter], arguments: &Arguments) {
        let mut positional = arguments.positional.iter();
        let is_parameter = |name: &String| parameters.iter().any(|parameter| parameter.name == *name);
        let takes_others = parameters.iter().any(|parameter| parameter.takes == ParameterKind::Named);
        // Keyword arguments that are passed on under unknown names are not followed.
        let is_followed =
            arguments.named.iter().all(|(name, _)| is_parameter(name) || takes_others && !name.is_empty());
        for parameter in parameters {
            let value = match parameter.takes {
                ParameterKind::Rest => Value::List(positional.by_ref().cloned().collect()),
                ParameterKind::Named => {
                    let others = arguments.named.iter().filter(|(name, _)| !is_parameter(name));
                    Value::Record(others.cloned().collect())
                }
                ParameterKind::One => match positional.next().or_else(|| arguments.named(&parameter.name)) {
                    Some(value) => value.clone(),
                    // An empty default has no effects.
                    None if is_followed && is_empty_default(&parameter.default) => continue,
                    None => self.interpolation(&parameter.default),
                },
            };
            self.bind(&parameter.name, if is_followed { value } else { Value::Unknown });
        }
    }

    pub(super) fn bind_parameters(&mut self, tokens: &[Token]) {
        let mut first = self.iterated.take();
        let mut tokens = tokens;
        // `({a, b: c}, d)`
        if let (Some(value), [open, brace, ..]) = (&first, tokens)
            && open.is("(")
            && brace.is("{")
        {
            let value = value.clone();
            let end = tokens.iter().position(|token| token.is("}")).map_or(tokens.len(), |place| place + 1);
            self.bind_members(tokens.get(1..end).unwrap_or_default(), &value);
            tokens = tokens.get(end..).unwrap_or_default();
            first = None;
        }
        let mut before: Option<&Token> = None;
        for token in tokens {
            let starts = before.is_some_and(|before| match &before.kind {
                Kind::Punct(punct) => matches!(*punct, "(" | "," | "*" | "**" | "{" | "[" | "..." | "|" | "&"),
                Kind::Name(name) => name == "lambda",
                _ => false,
            });
            if let (true, Some(name)) = (starts, token.name()) {
                let value = first.take().unwrap_or(Value::Unknown);
                self.bind(name, value);
            }
            before = Some(token);
        }
    }

    /// Reads Ruby's `|name|` at the start of a block, or `->(name)`.
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
        let opener = start.checked_sub(2).map(|place| cursor.between(place, place + 1)).and_then(<[Token]>::first);
        let opens = opener.is_some_and(|token| token.is("{") || token.name() == Some("do"));
        if punct != "|" || !opens {
            return false;
        }
        while cursor.peek().is_some() && !cursor.take("|") {
            cursor.next();
        }
        self.bind_parameters(cursor.between(start - 1, cursor.position()));
        true
    }

    /// Binds the names of `{a, b: c}`. In a more complex pattern, they become unknown.
    pub(super) fn bind_members(&mut self, pattern: &[Token], value: &Value) {
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

    /// True if the name at a position is assigned one of the program's own functions: `name = …`.
    pub(super) fn defines_own_function(&self, cursor: &TokenCursor<'_>, name: Option<usize>) -> bool {
        let tokens = name.map(|name| cursor.between(name, name + 2)).unwrap_or_default();
        match tokens {
            [name, sign] if sign.is("=") => name.name().is_some_and(|name| self.outline.functions.contains_key(name)),
            _ => false,
        }
    }
}
