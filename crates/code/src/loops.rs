//! Loops and comprehensions: the values that they go through, and the names that get them.

use super::Language;
use super::reader::Reader;
use super::tape::{MAX_LOOKAHEAD, Tape};
use super::token::Kind;
use super::value::Value;

/// Of more, nobody can say which a comprehension chooses.
const MAX_CHOSEN: usize = 12;

impl Reader {
    /// At the `for` of `[value for name in values]`.
    pub(super) fn comprehension(&mut self, tape: &mut Tape<'_>, element: &Value) -> Value {
        let start = tape.place();
        let Some(values) = self.loop_values(tape) else {
            tape.back_to(start + 1);
            return Value::Unknown;
        };
        let mut is_all = true;
        while !tape.peek().is_none_or(|token| token.is(")") || token.is("]") || token.is("}") || token.is(",")) {
            is_all = false;
            self.sequence(tape, true);
            if tape.is(":") || tape.is(";") {
                tape.next();
            }
        }
        if values.is_pending() || element.is_pending() {
            return Value::Pending;
        }
        let lists = values.lists();
        match (lists.as_slice(), element) {
            ([Value::List(values)], element) if is_all => Value::List(vec![element.clone(); values.len()]),
            // Some of them: of names of files, nobody counts how many.
            ([_, ..], Value::Like { .. }) => Value::List(vec![element.clone()]),
            ([Value::List(values)], element) if values.len() <= MAX_CHOSEN => {
                let lists = (0..=values.len()).map(|count| Value::List(vec![element.clone(); count]));
                lists.reduce(Value::or).unwrap_or(Value::Unknown)
            }
            _ => Value::Unknown,
        }
    }

    /// `for name in values`.
    pub(super) fn loop_over(&mut self, tape: &mut Tape<'_>) -> bool {
        self.loop_values(tape).is_some()
    }

    /// The same; gives what it goes through.
    fn loop_values(&mut self, tape: &mut Tape<'_>) -> Option<Value> {
        tape.next();
        let mut names = Vec::new();
        while !tape.take_name("in") {
            if names.len() > MAX_LOOKAHEAD {
                self.found.hidden = true;
                return None;
            }
            match tape.next().map(|token| &token.kind) {
                Some(Kind::Name(name)) => names.push(name.clone()),
                Some(Kind::Mark("," | "(" | ")" | "*")) => {}
                _ => return None,
            }
        }
        let values = self.loop_source(tape);
        let mut element = self.element_of(&values);
        if tape.is(",") && names.len() == 1 {
            while tape.take(",") {
                self.sequence(tape, true);
            }
            element = Value::Unknown;
        }
        let parts = match element {
            element if names.len() == 1 => vec![element],
            element => element.parts(names.len()).unwrap_or_else(|| vec![Value::Unknown; names.len()]),
        };
        for (name, value) in names.iter().zip(parts) {
            self.bind(name, value);
        }
        Some(values)
    }

    /// What a loop goes through. A list that is empty so far may be filled in a later round.
    pub(super) fn element_of(&self, values: &Value) -> Value {
        let is_empty = *values == Value::List(Vec::new());
        if is_empty && !self.names.settling { Value::Pending } else { values.element() }
    }

    /// Up to a condition behind it.
    fn loop_source(&mut self, tape: &mut Tape<'_>) -> Value {
        let starts = tape
            .peek()
            .is_some_and(|token| matches!(token.kind, Kind::Name(_) | Kind::Text(_) | Kind::Mark("(" | "[" | "{")));
        let start = tape.place();
        let value = if starts && self.language == Language::Python { self.operand(tape, true) } else { Value::Unknown };
        let is_whole = tape.peek().is_none_or(|token| {
            matches!(token.kind, Kind::Newline | Kind::Mark(":" | ";" | ")" | "]" | "}"))
                || matches!(token.name(), Some("if" | "for" | "async"))
        });
        if starts && is_whole && self.language == Language::Python {
            return value;
        }
        tape.back_to(start);
        self.sequence(tape, true)
    }

    /// `for my $name (values)`.
    pub(super) fn perl_loop(&mut self, tape: &mut Tape<'_>) -> bool {
        tape.next();
        while matches!(tape.name(), Some("my" | "our")) {
            tape.next();
        }
        let name = tape.any_name().unwrap_or("$_");
        if !tape.is("(") {
            // Behind a statement.
            self.bind("$_", Value::Unknown);
            return false;
        }
        let values = match self.sequence_of_group(tape) {
            list @ Value::List(_) => list,
            value => Value::List(vec![value]),
        };
        let values = Value::List(values.flat().into_iter().cloned().collect());
        self.bind(name, values.element());
        true
    }
}
