//! Values: names, literals, and what stands in brackets.

use super::dialect::Own;
use super::reader::Reader;
use super::spawning::printed;
use super::tape::{MAX_LOOKAHEAD, Tape};
use super::token::{Kind, Literal, Part, Token, Usage};
use super::value::{Value, folder_of};
use super::{Access, Language};

/// How many tokens the parameters here are, where they are names and nothing else: those have no values to be read.
pub(super) fn plain_parameters(tape: &Tape<'_>) -> Option<usize> {
    let is_plain =
        |token: &Token| matches!(token.kind, Kind::Name(_) | Kind::Newline | Kind::Mark("(" | "{" | "}" | "," | ":"));
    let length = (0..MAX_LOOKAHEAD).find(|ahead| !tape.ahead(*ahead).is_some_and(is_plain))?;
    let has_one_group = (1..length).all(|ahead| !tape.ahead_is(ahead, "("));
    (tape.is("(") && has_one_group && tape.ahead_is(length, ")")).then_some(length + 1)
}

impl Reader {
    /// One operand with everything that is called on it.
    pub(super) fn operand(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        self.budget.depth += 1;
        self.spend(1, tape);
        let value = self.operand_here(tape, in_brackets);
        self.budget.depth -= 1;
        value
    }

    pub(super) fn operand_here(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        let Some(token) = tape.peek() else { return Value::Unknown };
        let mut root = None;
        let value = match &token.kind {
            Kind::Text(literal) => {
                tape.next();
                self.adjacent(tape, literal)
            }
            Kind::Number(_) => {
                tape.next();
                Value::Descriptor
            }
            Kind::Mark("(") => match self.group_or_parameters(tape) {
                Some(value) => value,
                None => return Value::Unknown,
            },
            Kind::Mark("[") => {
                let mut values = self.list(tape, "]");
                for value in &values {
                    self.escape(Some(value));
                }
                match values.pop() {
                    Some(all) if values.is_empty() && self.is_comprehension => all,
                    last => Value::list(values.into_iter().chain(last).collect()),
                }
            }
            Kind::Mark("{") => self.braces(tape),
            Kind::Name(name) => {
                if self.declaration(tape, in_brackets) {
                    return Value::Unknown;
                }
                if let Some(value) = self.assignment(tape, name, in_brackets) {
                    return value;
                }
                tape.next();
                root = Some(self.variable(tape, name));
                let weight = root.as_deref().and_then(|root| self.names.get(root)).and_then(Value::weight);
                self.spend(weight.unwrap_or_default(), tape);
                self.named(tape, name, root.as_deref().unwrap_or(name))
            }
            _ => {
                tape.next();
                return Value::Unknown;
            }
        };
        self.chain(tape, value, root.as_deref())
    }

    /// In parentheses. None where they are the parameters of an arrow function, which is not read as a value.
    fn group_or_parameters(&mut self, tape: &mut Tape<'_>) -> Option<Value> {
        let start = tape.place();
        let plain = plain_parameters(tape).filter(|length| tape.ahead_is(*length, "=>"));
        let value = match plain {
            Some(length) => {
                tape.back_to(start + length);
                Value::Unknown
            }
            None => self.group(tape),
        };
        if self.language != Language::Node || !tape.is("=>") {
            return Some(value);
        }
        if !self.is_own_function(tape, start.checked_sub(2)) {
            self.bind_parameters(tape.between(start, tape.place()));
        }
        None
    }

    /// The variable that a name belongs to: an element of a Perl array has the sigil of the element.
    pub(super) fn variable(&self, tape: &Tape<'_>, name: &str) -> String {
        let is_tight = tape.peek().is_some_and(|token| !token.spaced);
        match name.strip_prefix('$') {
            Some(bare) if self.language == Language::Perl && is_tight && tape.is("[") => format!("@{bare}"),
            Some(bare) if self.language == Language::Perl && is_tight && tape.is("{") && bare != "ENV" => {
                format!("%{bare}")
            }
            _ => name.to_owned(),
        }
    }

    /// What a name means that no value was found for.
    fn unbound(&mut self, name: &str) -> Value {
        if !self.names.settling && self.outline.assigned.contains(name) {
            self.names.changed = true;
            return Value::Pending;
        }
        self.thing(name.to_owned())
    }

    pub(super) fn named(&mut self, tape: &Tape<'_>, name: &str, variable: &str) -> Value {
        if self.dialect.bare_calls && tape.is("=>") {
            return Value::text(name);
        }
        if name == "<>" {
            // Without an assignment these are the arguments of the call, which its caller sees.
            if let Some(files) = self.names.get("@ARGV").cloned() {
                self.touch(Access::Read, Some(&files));
            }
            return Value::Unknown;
        }
        self.lookup(variable)
    }

    pub(super) fn lookup(&mut self, name: &str) -> Value {
        match self.names.get(name) {
            Some(value) => value.clone(),
            None => self.unbound(name),
        }
    }

    /// What a full name means by itself.
    pub(super) fn thing(&self, name: String) -> Value {
        let variable = name.strip_prefix(self.dialect.environment).and_then(|name| name.strip_prefix('.'));
        if let Some(value) = variable.and_then(|name| self.inputs.variable(name)) {
            return Value::text(value);
        }
        if let Some(own) = self.dialect.own_file.iter().find(|(known, _)| *known == name).map(|(_, own)| own)
            && let Some(file) = &self.inputs.file
        {
            return Value::text(match own {
                Own::File => file.clone(),
                Own::Folder => folder_of(file),
            });
        }
        if let Some(given) = self.inputs.arguments.as_ref().filter(|_| self.dialect.given_name() == Some(name.as_str()))
        {
            return given.clone();
        }
        if let Some((_, text)) = self.dialect.constants.iter().find(|(known, _)| *known == name) {
            return Value::text(*text);
        }
        if self.dialect.streams.contains(&name.as_str()) { Value::Descriptor } else { Value::Thing(name) }
    }

    /// A literal, and those right behind it where the language puts them together.
    pub(super) fn adjacent(&mut self, tape: &mut Tape<'_>, literal: &Literal) -> Value {
        let mut value = self.literal(tape, literal);
        if matches!(self.language, Language::Python | Language::Ruby) && literal.usage == Usage::Text {
            while let Some(Token { kind: Kind::Text(literal), .. }) = tape.peek() {
                tape.next();
                let next = self.literal(tape, literal);
                self.spend(value.only_text().map_or(0, str::len), tape);
                value = value.joined(&next, "");
            }
        }
        value
    }

    pub(super) fn literal(&mut self, tape: &mut Tape<'_>, literal: &Literal) -> Value {
        let mut value = Value::text("");
        for part in &literal.parts {
            let next = match part {
                Part::Constant(text) => Value::text(text.clone()),
                Part::Hole(tokens) => self.hole(tokens),
            };
            self.spend(value.only_text().map_or(0, str::len), tape);
            value = value.joined(&next, "");
        }
        match literal.usage {
            Usage::Text => value,
            Usage::Pattern => Value::Unknown,
            Usage::Words => match value.only_text() {
                Some(text) => Value::List(text.split_whitespace().map(Value::text).collect()),
                None => Value::Unknown,
            },
            Usage::Command => {
                self.shell(Some(&value), None);
                printed(Some(&value))
            }
        }
    }

    pub(super) fn hole(&mut self, tokens: &[Token]) -> Value {
        self.budget.depth += 1;
        let mut tape = Tape::new(tokens);
        self.spend(1, &mut tape);
        let value = self.sequence(&mut tape, true);
        if tape.peek().is_none() {
            self.budget.depth -= 1;
            return value;
        }
        // A format, or more statements.
        self.escape(Some(&value));
        while tape.peek().is_some() {
            self.statements(&mut tape);
            tape.next();
        }
        self.budget.depth -= 1;
        Value::Unknown
    }

    /// In parentheses: a value, or several.
    pub(super) fn group(&mut self, tape: &mut Tape<'_>) -> Value {
        let mut values = self.list(tape, ")");
        let has_comma = tape
            .place()
            .checked_sub(2)
            .is_some_and(|place| tape.between(place, place + 1).iter().any(|token| token.is(",")));
        match (values.len(), self.language) {
            (1, Language::Python) if has_comma => Value::List(values),
            // In Node several are worth what the last one is.
            (1, _) | (_, Language::Node) => values.pop().unwrap_or(Value::Unknown),
            _ => {
                for value in &values {
                    self.escape(Some(value));
                }
                Value::List(values)
            }
        }
    }

    /// From an opening bracket to behind the closing one.
    pub(super) fn list(&mut self, tape: &mut Tape<'_>, close: &str) -> Vec<Value> {
        tape.next();
        let mut values = Vec::new();
        loop {
            tape.skip_newlines();
            match tape.peek().map(|token| &token.kind) {
                Some(Kind::Mark(mark)) if *mark == close => {
                    tape.next();
                    return values;
                }
                Some(Kind::Mark("," | ";" | ":" | "=>")) => {
                    tape.next();
                }
                None | Some(Kind::Mark(")" | "]" | "}")) => {
                    self.found.hidden = true;
                    return values;
                }
                Some(Kind::Mark("*" | "...")) if self.spreads() => {
                    tape.next();
                    let value = self.sequence(tape, true);
                    values.push(Value::Spread(Box::new(value)));
                }
                Some(_) => values.push(self.sequence(tape, true)),
            }
        }
    }

    /// Whether `*` or `...` before a value puts its elements there.
    pub(super) fn spreads(&self) -> bool {
        matches!(self.language, Language::Python | Language::Node)
    }

    /// What a value puts into an object; under no name, where nobody knows.
    pub(super) fn entries(&self, value: Value) -> Vec<(String, Value)> {
        match value {
            Value::Record(entries) => entries,
            Value::Thing(name) if self.is_nothing(&name) => Vec::new(),
            _ => vec![(String::new(), Value::Unknown)],
        }
    }

    /// Whether a name means nothing: one of a parameter that no call gives.
    pub(super) fn is_nothing(&self, name: &str) -> bool {
        matches!(name, "undefined" | "null" | "None" | "nil")
            || self.outline.assigned.contains(name) && self.names.get(name).is_none()
    }

    /// An object, a hash or a block.
    pub(super) fn braces(&mut self, tape: &mut Tape<'_>) -> Value {
        tape.next();
        let mut entries = Vec::new();
        loop {
            tape.skip_newlines();
            let key = match tape.peek().map(|token| &token.kind) {
                None | Some(Kind::Mark(")" | "]")) => {
                    self.found.hidden = true;
                    break;
                }
                Some(Kind::Mark("}")) => {
                    tape.next();
                    break;
                }
                Some(Kind::Mark(";" | "," | ":" | "=>")) => {
                    tape.next();
                    continue;
                }
                Some(Kind::Mark("**" | "...")) => {
                    tape.next();
                    let value = self.sequence(tape, false);
                    self.escape(Some(&value));
                    entries.extend(self.entries(value));
                    continue;
                }
                Some(Kind::Name(name)) => Some(name.clone()),
                Some(Kind::Text(Literal { usage: Usage::Text, .. })) => {
                    tape.peek().and_then(Token::constant).map(str::to_owned)
                }
                Some(_) => None,
            };
            match key {
                Some(key) if tape.ahead_is(1, ":") || tape.ahead_is(1, "=>") && self.dialect.bare_calls => {
                    tape.next();
                    tape.next();
                    tape.skip_newlines();
                    let value = self.sequence(tape, false);
                    self.escape(Some(&value));
                    entries.push((key, value));
                }
                _ => {
                    let value = self.sequence(tape, false);
                    self.escape(Some(&value));
                    // Something under a name that is no constant.
                    entries.push((String::new(), Value::Unknown));
                }
            }
        }
        Value::Record(entries)
    }
}
