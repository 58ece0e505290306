//! Reads the arguments of a call, with parentheses or without.

use super::Language;
use super::arguments::Arguments;
use super::call::is_iterating;
use super::function_effect::FunctionEffect;
use super::reader::Reader;
use super::tape::Tape;
use super::token::Kind;
use super::value::Value;

impl Reader {
    /// In parentheses, which stand here.
    pub(super) fn arguments(&mut self, tape: &mut Tape<'_>, callee: &Value) -> Arguments {
        tape.next();
        let mut arguments = Arguments::default();
        loop {
            tape.skip_newlines();
            match tape.peek().map(|token| &token.kind) {
                Some(Kind::Mark(")")) => {
                    tape.next();
                    break;
                }
                Some(Kind::Mark("," | ";" | ":" | "=>")) => {
                    tape.next();
                }
                None | Some(Kind::Mark("]" | "}")) => {
                    self.found.hidden = true;
                    break;
                }
                Some(Kind::Mark("*" | "...")) if self.spreads() => {
                    tape.next();
                    let value = self.sequence(tape, true);
                    arguments.positional.push(Value::Spread(Box::new(value)));
                }
                Some(_) => self.argument(tape, &mut arguments, true),
            }
        }
        self.escape_arguments(callee, &arguments);
        // What is given as a list is given one by one, if it is one that is known.
        match Value::list(std::mem::take(&mut arguments.positional)) {
            Value::List(values) => arguments.positional = values,
            _ => arguments.positional.push(Value::Unknown),
        }
        arguments
    }

    /// Up to the end of the statement.
    pub(super) fn bare_arguments(&mut self, tape: &mut Tape<'_>, callee: &Value) -> Arguments {
        let mut arguments = Arguments::default();
        let starts_one = match tape.peek().map(|token| &token.kind) {
            Some(Kind::Name(name)) => !self.is_modifier(name) || name == "do",
            Some(Kind::Text(_) | Kind::Number(_)) => true,
            // Behind a name, a sign is the start of an argument only for these.
            Some(Kind::Mark(mark)) => {
                matches!(*mark, "(" | "[" | "\\" | "-") || (*mark == "{" && self.language == Language::Perl)
            }
            _ => false,
        };
        if starts_one && tape.name() != Some("do") {
            self.argument(tape, &mut arguments, false);
            while tape.is(",") || tape.is("=>") {
                tape.next();
                tape.skip_newlines();
                self.argument(tape, &mut arguments, false);
            }
        }
        self.escape_arguments(callee, &arguments);
        arguments
    }

    pub(super) fn argument(&mut self, tape: &mut Tape<'_>, arguments: &mut Arguments, in_brackets: bool) {
        if matches!(self.language, Language::Python | Language::Ruby) && tape.take("**") {
            let value = self.sequence(tape, in_brackets);
            return arguments.named.extend(self.entries(value));
        }
        let key = tape.name().filter(|_| match self.language {
            Language::Python => tape.ahead_is(1, "="),
            Language::Ruby => tape.ahead_is(1, ":"),
            Language::Node | Language::Perl => false,
        });
        if let Some(key) = key {
            tape.next();
            tape.next();
            let value = self.sequence(tape, in_brackets);
            return arguments.named.push((key.to_owned(), value));
        }
        let mut value = self.sequence(tape, in_brackets);
        // A slice, a lambda, a choice: more than one part.
        while in_brackets && tape.take(":") {
            self.escape(Some(&value));
            let next = self.sequence(tape, in_brackets);
            self.escape(Some(&next));
            value = Value::Unknown;
        }
        if self.language == Language::Ruby && tape.take("=>") {
            let key = value.only_text().unwrap_or_default().to_owned();
            let value = self.sequence(tape, in_brackets);
            return arguments.named.push((key, value));
        }
        arguments.positional.push(value);
    }

    /// In parentheses that belong to no call.
    pub(super) fn sequence_of_group(&mut self, tape: &mut Tape<'_>) -> Value {
        Value::List(self.arguments(tape, &Value::Unknown).positional)
    }

    pub(super) fn escape_arguments(&mut self, callee: &Value, arguments: &Arguments) {
        if let Value::Thing(name) = callee {
            let looks = self.dialect.onlookers.contains(&name.as_str());
            let is_seen = matches!(
                self.effect_of(name),
                Some(
                    FunctionEffect::Member
                        | FunctionEffect::Run(_)
                        | FunctionEffect::Module
                        | FunctionEffect::Wraps
                        | FunctionEffect::Maps
                )
            );
            if looks || is_seen {
                return;
            }
        }
        // What it is given is called where that can be seen.
        if matches!(callee, Value::Method(_, name) if is_iterating(name))
            && matches!(arguments.positional.first(), Some(Value::Thing(_)))
        {
            return;
        }
        for value in arguments.positional.iter().chain(arguments.named.iter().map(|(_, value)| value)) {
            self.escape(Some(value));
        }
    }
}
