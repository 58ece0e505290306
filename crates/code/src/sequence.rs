//! Operands and operators in a row, up to a separator: what they are worth together.

use super::Language;
use super::reader::Reader;
use super::tape::Tape;
use super::token::{Kind, Token};
use super::value::Value;

/// Tokens of `($name = value)`.
const LONGEST_GROUP: usize = 64;

/// Words of Perl and Ruby that stand behind a statement and belong to no argument.
const MODIFIERS: &[&str] =
    &["if", "unless", "while", "until", "for", "foreach", "or", "and", "rescue", "end", "do", "then"];

/// The value of a sequence, as far as it was read.
#[derive(Default)]
struct Partial {
    value: Option<Value>,
    /// Whether two values stand side by side, or an operator gives what cannot be told.
    is_spoiled: bool,
}

impl Partial {
    /// The value so far, which is taken.
    fn take(&mut self) -> Value {
        self.value.take().filter(|_| !self.is_spoiled).unwrap_or(Value::Unknown)
    }
}

/// What a sequence turned out to be.
enum Read {
    Sequence(Value),
    /// One value for each of many: `x for x in y`.
    Comprehension(Value),
}

impl Reader {
    /// Operands and operators up to a separator or closing bracket. Its value, where it is one that can be told.
    pub(super) fn sequence(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        self.budget.depth += 1;
        let value = self.sequence_here(tape, in_brackets);
        self.budget.depth -= 1;
        value
    }

    fn sequence_here(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        let value = self.sequence_or_comprehension(tape, in_brackets);
        self.is_comprehension = matches!(value, Read::Comprehension(_));
        match value {
            Read::Sequence(value) | Read::Comprehension(value) => value,
        }
    }

    fn sequence_or_comprehension(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Read {
        let mut partial = Partial::default();
        loop {
            self.spend(1, tape);
            if in_brackets {
                tape.skip_newlines();
            }
            let Some(token) = tape.peek() else { break };
            match &token.kind {
                Kind::Newline | Kind::Mark(";" | "," | ":" | ")" | "]" | "}") => break,
                Kind::Mark("=>") if self.dialect.bare_calls => break,
                Kind::Mark("(" | "[" | "{") | Kind::Text(_) | Kind::Number(_) => {
                    self.add_operand(tape, &mut partial, in_brackets);
                }
                Kind::Mark(mark) => {
                    tape.next();
                    let left = partial.value.take();
                    partial.value = self.operator(tape, mark, left, in_brackets);
                    partial.is_spoiled |= partial.value.is_none();
                }
                // `[value for name in values]`
                Kind::Name(name)
                    if name == "for" && self.language == Language::Python && in_brackets && partial.value.is_some() =>
                {
                    let element = partial.take();
                    self.escape(Some(&element));
                    return Read::Comprehension(self.comprehension(tape, &element));
                }
                Kind::Name(name) => {
                    if !self.word(tape, name, &mut partial, in_brackets) {
                        break;
                    }
                }
            }
        }
        Read::Sequence(match partial.value {
            Some(value) if !partial.is_spoiled => value,
            value => {
                self.escape(value.as_ref());
                Value::Unknown
            }
        })
    }

    /// At a word, which is an operator, an operand or a modifier. False where the sequence ends before it.
    fn word(&mut self, tape: &mut Tape<'_>, word: &str, partial: &mut Partial, in_brackets: bool) -> bool {
        let has_value = partial.value.is_some();
        match (self.language, word) {
            // `'x' in globals()` only looks.
            (Language::Python, "in") if looks_at_names(tape) => {
                for _ in 0..4 {
                    tape.next();
                }
                *partial = Partial { value: Some(Value::Unknown), is_spoiled: true };
            }
            // `value if condition else other`, `value or other`
            (Language::Python, "if" | "or") if has_value => {
                let left = partial.take();
                let value = self.either(tape, left, in_brackets);
                *partial = Partial { is_spoiled: value.is_none(), value };
            }
            // `with open(path) as name`
            (Language::Python, "as") if has_value => {
                tape.next();
                let value = partial.take();
                self.bind_context(tape, value);
            }
            // `value as Type`
            (Language::Node, "as") if has_value => {
                tape.next();
                while tape.any_name().is_some() && tape.take(".") {}
            }
            _ => return self.operand_or_modifier(tape, word, partial, in_brackets),
        }
        true
    }

    /// At the name behind `with value as`.
    fn bind_context(&mut self, tape: &mut Tape<'_>, value: Value) {
        if !matches!(value, Value::Output(_)) {
            self.escape(Some(&value));
        }
        let is_known = match &value {
            Value::Thing(name) => name.ends_with("()"),
            value => matches!(
                value,
                Value::Texts(_) | Value::Like { .. } | Value::Content(_) | Value::Output(_) | Value::List(_)
            ),
        };
        if let Some(name) = tape.any_name() {
            self.bind(name, if is_known { value } else { Value::Unknown });
        }
    }

    fn operand_or_modifier(
        &mut self,
        tape: &mut Tape<'_>,
        word: &str,
        partial: &mut Partial,
        in_brackets: bool,
    ) -> bool {
        let is_key = tape.ahead_is(1, "=>") || tape.ahead_is(1, "=");
        if self.is_modifier(word) && !is_key {
            if partial.value.is_some() {
                return false;
            }
            if !matches!(word, "for" | "foreach" | "do") {
                tape.next();
                return true;
            }
        }
        if self.dialect.prefixes.contains(&word) && !is_key && !self.declares(tape) {
            tape.next();
        } else {
            self.add_operand(tape, partial, in_brackets);
        }
        true
    }

    pub(super) fn is_modifier(&self, name: &str) -> bool {
        self.dialect.bare_calls && MODIFIERS.contains(&name)
    }

    /// Two operands without an operator between them mean something that is not known.
    fn add_operand(&mut self, tape: &mut Tape<'_>, partial: &mut Partial, in_brackets: bool) {
        let value = self.operand(tape, in_brackets);
        let Some(before) = partial.value.take() else {
            partial.value = Some(value);
            return;
        };
        self.escape(Some(&before));
        self.escape(Some(&value));
        *partial = Partial { value: Some(Value::Unknown), is_spoiled: true };
    }

    /// At the `if` or `or` between two values, either of which may be the result. None where it stands behind a comprehension.
    fn either(&mut self, tape: &mut Tape<'_>, left: Value, in_brackets: bool) -> Option<Value> {
        let is_condition = tape.name() == Some("if");
        tape.next();
        if is_condition {
            let condition = self.condition(tape, in_brackets);
            self.escape(Some(&condition));
            if !tape.take_name("else") {
                self.escape(Some(&left));
                return None;
            }
        }
        let right = self.right(tape, in_brackets);
        self.escape(Some(&left));
        self.escape(Some(&right));
        Some(match (left, right) {
            (left, right @ Value::Texts(_)) if is_anything(&left) => right.or_some_word(),
            (left @ Value::Texts(_), right) if is_condition && is_anything(&right) => left.or_some_word(),
            (left, right) => left.or(right),
        })
    }

    /// Up to the `else` behind it.
    fn condition(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        let ends = |token: &Token| {
            token.name() == Some("else")
                || matches!(token.kind, Kind::Newline | Kind::Mark(";" | "," | ":" | ")" | "]" | "}"))
        };
        while !tape.peek().is_none_or(ends) {
            if tape.name() == Some("in") && looks_at_names(tape) {
                for _ in 0..4 {
                    tape.next();
                }
                continue;
            }
            let value = self.operand(tape, in_brackets);
            self.escape(Some(&value));
        }
        Value::Unknown
    }

    /// Behind an operator. None where the result cannot be told.
    fn operator(&mut self, tape: &mut Tape<'_>, mark: &str, left: Option<Value>, in_brackets: bool) -> Option<Value> {
        if self.binds_parameters(tape, mark) {
            return left;
        }
        match left {
            Some(left) if mark == self.dialect.concat => Some(self.concatenated(tape, left, in_brackets)),
            Some(left) if mark == "/" && self.language == Language::Python => {
                let right = self.right(tape, in_brackets);
                Some(if left.is_path() || right.is_path() {
                    left.joined(&right, "/").into_path()
                } else {
                    Value::Unknown
                })
            }
            // The other side counts only where this one is empty.
            Some(Value::Texts(texts)) if matches!(mark, "||" | "//" | "??") => {
                let right = self.right(tape, in_brackets);
                self.escape(Some(&right));
                let may_be_false = mark == "||" && texts.iter().any(|text| matches!(text.as_str(), "" | "0"));
                let left = Value::Texts(texts);
                Some(if may_be_false { left.or(right) } else { left })
            }
            // It may be the constant on the other side.
            Some(left)
                if matches!(mark, "||" | "//" | "??")
                    && matches!(tape.peek(), Some(Token { kind: Kind::Text(_), .. })) =>
            {
                self.escape(Some(&left));
                Some(self.right(tape, in_brackets).or_some_word())
            }
            None if mark == "\\" => {
                let value = self.right(tape, in_brackets);
                self.escape(Some(&value));
                Some(Value::Descriptor)
            }
            left => {
                self.other_operator(tape, mark, left.as_ref());
                None
            }
        }
    }

    fn concatenated(&mut self, tape: &mut Tape<'_>, left: Value, in_brackets: bool) -> Value {
        let right = self.right(tape, in_brackets);
        self.spend(left.only_text().map_or(0, str::len), tape);
        match (left, right) {
            (Value::List(mut left), Value::List(right)) => {
                left.extend(right);
                Value::List(left)
            }
            (left, right) if left.is_path() => left.joined(&right, "/").into_path(),
            (left, right) => {
                self.escape(Some(&left));
                self.escape(Some(&right));
                left.joined(&right, "")
            }
        }
    }

    /// An operator whose result is not worked out.
    fn other_operator(&mut self, tape: &Tape<'_>, mark: &str, left: Option<&Value>) {
        // A function called through a name that is put together.
        let by_name = tape.is("{") || tape.name().is_some_and(|name| name.starts_with('$'));
        self.found.hidden |= left.is_none() && mark == "&" && self.language == Language::Perl && by_name;
        if let Some(name) = assigned_in_group(tape).filter(|_| mark == "=~") {
            self.bind(name, Value::Unknown);
        }
        self.escape(left);
    }

    fn right(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        tape.skip_newlines();
        match tape.peek().map(|token| &token.kind) {
            Some(Kind::Name(_) | Kind::Text(_) | Kind::Number(_) | Kind::Mark("(" | "[" | "{")) => {
                self.operand(tape, in_brackets)
            }
            _ => Value::Unknown,
        }
    }
}

/// Whether nothing is known of it that would make it a text.
fn is_anything(value: &Value) -> bool {
    matches!(value, Value::Unknown | Value::Thing(_) | Value::Instance | Value::Descriptor)
}

/// Whether `globals()` or `locals()` follows, without an access to a member.
fn looks_at_names(tape: &Tape<'_>) -> bool {
    let is_all = tape.ahead(1).and_then(Token::name).is_some_and(|name| matches!(name, "globals" | "locals"));
    is_all && tape.ahead_is(2, "(") && tape.ahead_is(3, ")") && !tape.ahead_is(4, ".") && !tape.ahead_is(4, "[")
}

/// The variable of `($name = value)` before the operator, which changes it.
fn assigned_in_group<'t>(tape: &Tape<'t>) -> Option<&'t str> {
    let end = tape.place().checked_sub(2)?;
    let tokens = tape.between(end.saturating_sub(LONGEST_GROUP), end);
    let start = tokens.iter().rposition(|token| token.is("("))?;
    let mut behind = tokens.get(start..)?.windows(2);
    behind.find_map(|pair| matches!(pair, [_, sign] if sign.is("=")).then(|| pair.first()?.name())?)
}
