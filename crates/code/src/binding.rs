//! How names get their values: assignments, parameters, members of objects.

use super::Language;
use super::arguments::Arguments;
use super::functions::{Parameter, Takes};
use super::reader::Reader;
use super::tape::Tape;
use super::token::{Kind, Token};
use super::value::Value;

/// `None`, `false`, `0`, or no default at all.
fn is_nothing(default: &[Token]) -> bool {
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

impl Reader {
    /// Adds to what a name may mean. A function or module that becomes one of several meanings is hidden by that.
    pub(super) fn bind(&mut self, name: &str, value: Value) {
        // One of the text's own functions has no other meaning.
        if self.outline.functions.contains_key(name) {
            return;
        }
        // A name of the language itself keeps its own meaning besides.
        let is_function = matches!(&value, Value::Thing(thing) if thing == name || self.effect_of(thing).is_some());
        if !is_function {
            self.escape(Some(&Value::Thing(name.to_owned())));
        }
        let value = if value.weight().is_some() { value } else { Value::Unknown };
        if let Some((known, value)) = self.names.bind(name, value) {
            self.escape(Some(&known));
            self.escape(Some(&value));
        }
    }

    /// `name = value` and its kin; none where this is something else.
    pub(super) fn assignment(&mut self, tape: &mut Tape<'_>, name: &str, in_brackets: bool) -> Option<Value> {
        let Some(Token { kind: Kind::Mark(mark), .. }) = tape.ahead(1) else { return None };
        match *mark {
            "=" | ":=" => {
                tape.next();
                tape.next();
                tape.skip_newlines();
                let value = self.assigned(tape, in_brackets);
                if self.outline.classes.are_there {
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
            mark if mark.len() > 1 && mark.ends_with('=') => {
                tape.next();
                tape.next();
                let value = self.sequence(tape, in_brackets);
                self.escape(Some(&value));
                self.bind(name, Value::Unknown);
                Some(Value::Unknown)
            }
            _ => None,
        }
    }

    /// The right side of an assignment; several values without brackets are a list.
    pub(super) fn assigned(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        let first = self.sequence(tape, in_brackets);
        if in_brackets || !tape.is(",") || !matches!(self.language, Language::Python | Language::Ruby) {
            return first;
        }
        let mut values = vec![first];
        while tape.take(",") {
            values.push(self.sequence(tape, false));
        }
        for value in &values {
            self.escape(Some(value));
        }
        Value::List(values)
    }

    /// The parameters of one of the text's own functions are what a call gives them.
    pub(super) fn call_own(&mut self, parameters: &[Parameter], arguments: &Arguments) {
        let mut given = arguments.positional.iter();
        let is_parameter = |name: &String| parameters.iter().any(|parameter| parameter.name == *name);
        let takes_others = parameters.iter().any(|parameter| parameter.takes == Takes::Named);
        // What goes on to other functions under names that nobody follows.
        let is_followed =
            arguments.named.iter().all(|(name, _)| is_parameter(name) || takes_others && !name.is_empty());
        for parameter in parameters {
            let value = match parameter.takes {
                Takes::Rest => Value::List(given.by_ref().cloned().collect()),
                Takes::Named => {
                    let others = arguments.named.iter().filter(|(name, _)| !is_parameter(name));
                    Value::Record(others.cloned().collect())
                }
                Takes::One => match given.next().or_else(|| arguments.named(&parameter.name)) {
                    Some(value) => value.clone(),
                    // Nothing is done with what is nothing.
                    None if is_followed && is_nothing(&parameter.default) => continue,
                    None => self.hole(&parameter.default),
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
                Kind::Mark(mark) => matches!(*mark, "(" | "," | "*" | "**" | "{" | "[" | "..." | "|" | "&"),
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

    /// Ruby's `|name|` behind the start of a block, or `->(name)`.
    pub(super) fn binds_parameters(&mut self, tape: &mut Tape<'_>, mark: &str) -> bool {
        if self.language != Language::Ruby {
            return false;
        }
        let start = tape.place();
        if mark == "->" && tape.is("(") {
            let length = (0..64).find(|ahead| tape.ahead_is(*ahead, ")")).unwrap_or(64);
            self.bind_parameters(tape.between(start, start + length));
            return false;
        }
        let opener = start.checked_sub(2).map(|place| tape.between(place, place + 1)).and_then(<[Token]>::first);
        let opens = opener.is_some_and(|token| token.is("{") || token.name() == Some("do"));
        if mark != "|" || !opens {
            return false;
        }
        while tape.peek().is_some() && !tape.take("|") {
            tape.next();
        }
        self.bind_parameters(tape.between(start - 1, tape.place()));
        true
    }

    /// `{a, b: c}`, as far as it is no more than that.
    pub(super) fn bind_members(&mut self, pattern: &[Token], value: &Value) {
        let inside = pattern.get(1..pattern.len().saturating_sub(1)).unwrap_or_default();
        let is_plain = |token: &Token| matches!(token.kind, Kind::Name(_) | Kind::Mark("," | ":") | Kind::Newline);
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
                    thing @ (Value::Thing(_) | Value::Texts(_)) => thing,
                    _ => Value::Unknown,
                };
                self.bind(names.next().unwrap_or(key), member);
            }
        }
    }

    /// Whether one of the text's own functions is defined under the name at a place: `name = …`.
    pub(super) fn is_own_function(&self, tape: &Tape<'_>, name: Option<usize>) -> bool {
        let tokens = name.map(|name| tape.between(name, name + 2)).unwrap_or_default();
        match tokens {
            [name, sign] if sign.is("=") => name.name().is_some_and(|name| self.outline.functions.contains_key(name)),
            _ => false,
        }
    }
}
