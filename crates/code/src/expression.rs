//! Expressions: operands and operators, up to a separator or closing bracket.

use super::Language;
use super::evaluator::Evaluator;
use super::token::{Token, TokenKind};
use super::token_cursor::TokenCursor;
use super::value::Value;

/// The maximum number of tokens in `($name = value)`.
const MAX_GROUP_TOKENS: usize = 64;

/// Keywords of Perl and Ruby that end an expression if they follow it.
const TRAILING_KEYWORDS: &[&str] =
    &["if", "unless", "while", "until", "for", "foreach", "or", "and", "rescue", "end", "do", "then"];

/// The value of the operands and operators of an expression that were read so far.
#[derive(Default)]
struct PartialExpression {
    value: Option<Value>,
    /// True after an operator that is not evaluated, and after two operands without an operator.
    is_unknown: bool,
}

impl PartialExpression {
    fn take_value(&mut self) -> Value {
        self.value.take().filter(|_| !self.is_unknown).unwrap_or(Value::Unknown)
    }
}

enum Expression {
    Value(Value),
    /// The list that a comprehension produces: `x for x in y`.
    Comprehension(Value),
}

impl Evaluator {
    /// Evaluates an expression. The cursor stops before the separator or closing bracket.
    pub(super) fn evaluate_expression(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        self.budget.depth += 1;
        let value = self.evaluate_expression_value(cursor, in_brackets);
        self.budget.depth -= 1;
        value
    }

    fn evaluate_expression_value(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        let value = self.evaluate_expression_or_comprehension(cursor, in_brackets);
        self.is_comprehension = matches!(value, Expression::Comprehension(_));
        match value {
            Expression::Value(value) | Expression::Comprehension(value) => value,
        }
    }

    fn evaluate_expression_or_comprehension(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Expression {
        let mut partial = PartialExpression::default();
        loop {
            self.spend(1, cursor);
            if in_brackets {
                cursor.skip_newlines();
            }
            let Some(token) = cursor.peek() else { break };
            match &token.kind {
                TokenKind::Newline | TokenKind::Punct(";" | "," | ":" | ")" | "]" | "}") => break,
                TokenKind::Punct("=>") if self.dialect.allows_bare_calls => break,
                TokenKind::Punct("(" | "[" | "{") | TokenKind::String(_) | TokenKind::Number(_) => {
                    self.add_operand(cursor, &mut partial, in_brackets);
                }
                TokenKind::Punct(punct) => {
                    cursor.next();
                    let left = partial.value.take();
                    partial.value = self.evaluate_operator(cursor, punct, left, in_brackets);
                    partial.is_unknown |= partial.value.is_none();
                }
                // `[value for name in values]`
                TokenKind::Name(name)
                    if name == "for" && self.language == Language::Python && in_brackets && partial.value.is_some() =>
                {
                    let element = partial.take_value();
                    self.record_escape(Some(&element));
                    return Expression::Comprehension(self.evaluate_comprehension(cursor, &element));
                }
                TokenKind::Name(name) => {
                    if !self.evaluate_word(cursor, name, &mut partial, in_brackets) {
                        break;
                    }
                }
            }
        }
        Expression::Value(match partial.value {
            Some(value) if !partial.is_unknown => value,
            value => {
                self.record_escape(value.as_ref());
                Value::Unknown
            }
        })
    }

    /// Reads a word: an operator, an operand or a keyword. Returns false if the expression ends before the word.
    fn evaluate_word(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        word: &str,
        partial: &mut PartialExpression,
        in_brackets: bool,
    ) -> bool {
        let has_value = partial.value.is_some();
        match (self.language, word) {
            // `'x' in globals()` does not let the namespace escape.
            (Language::Python, "in") if is_namespace_lookup(cursor) => {
                for _ in 0..4 {
                    cursor.next();
                }
                *partial = PartialExpression { value: Some(Value::Unknown), is_unknown: true };
            }
            // `value if condition else other`, `value or other`
            (Language::Python, "if" | "or") if has_value => {
                let left = partial.take_value();
                let value = self.evaluate_conditional_or_disjunction(cursor, left, in_brackets);
                *partial = PartialExpression { is_unknown: value.is_none(), value };
            }
            // `with open(path) as name`
            (Language::Python, "as") if has_value => {
                cursor.next();
                let value = partial.take_value();
                self.bind_with_target(cursor, value);
            }
            // `value as Type`
            (Language::JavaScript, "as") if has_value => {
                cursor.next();
                while cursor.take_any_name().is_some() && cursor.take(".") {}
            }
            _ => return self.evaluate_operand_or_keyword(cursor, word, partial, in_brackets),
        }
        true
    }

    /// Binds the name in `with value as name`.
    fn bind_with_target(&mut self, cursor: &mut TokenCursor<'_>, value: Value) {
        if !matches!(value, Value::OutputFile(_)) {
            self.record_escape(Some(&value));
        }
        let is_known = match &value {
            Value::QualifiedName(name) => name.ends_with("()"),
            value => matches!(
                value,
                Value::Strings(_)
                    | Value::PartlyKnown { .. }
                    | Value::FileContent(_)
                    | Value::OutputFile(_)
                    | Value::List(_)
            ),
        };
        if let Some(name) = cursor.take_any_name() {
            self.bind(name, if is_known { value } else { Value::Unknown });
        }
    }

    /// Reads a word that is an operand, or a keyword before or after an operand. Returns false if the expression ends
    /// before the word.
    fn evaluate_operand_or_keyword(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        word: &str,
        partial: &mut PartialExpression,
        in_brackets: bool,
    ) -> bool {
        let is_key = cursor.ahead_is(1, "=>") || cursor.ahead_is(1, "=");
        if self.is_trailing_keyword(word) && !is_key {
            if partial.value.is_some() {
                return false;
            }
            if !matches!(word, "for" | "foreach" | "do") {
                cursor.next();
                return true;
            }
        }
        if self.dialect.prefix_keywords.contains(&word) && !is_key && !self.starts_declaration(cursor) {
            cursor.next();
        } else {
            self.add_operand(cursor, partial, in_brackets);
        }
        true
    }

    pub(super) fn is_trailing_keyword(&self, name: &str) -> bool {
        self.dialect.allows_bare_calls && TRAILING_KEYWORDS.contains(&name)
    }

    /// Evaluates an operand. If it follows another operand without an operator between them, the value of the
    /// expression is unknown.
    fn add_operand(&mut self, cursor: &mut TokenCursor<'_>, partial: &mut PartialExpression, in_brackets: bool) {
        let value = self.evaluate_operand(cursor, in_brackets);
        let Some(previous) = partial.value.take() else {
            partial.value = Some(value);
            return;
        };
        self.record_escape(Some(&previous));
        self.record_escape(Some(&value));
        *partial = PartialExpression { value: Some(Value::Unknown), is_unknown: true };
    }

    /// Evaluates the rest of `left if condition else right` or `left or right`. The result can be either operand.
    /// Returns `None` for the filter of a comprehension: `if condition` without `else`.
    fn evaluate_conditional_or_disjunction(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        left: Value,
        in_brackets: bool,
    ) -> Option<Value> {
        let is_condition = cursor.name() == Some("if");
        cursor.next();
        if is_condition {
            let condition = self.evaluate_condition(cursor, in_brackets);
            self.record_escape(Some(&condition));
            if !cursor.take_name("else") {
                self.record_escape(Some(&left));
                return None;
            }
        }
        let right = self.evaluate_right_operand(cursor, in_brackets);
        self.record_escape(Some(&left));
        self.record_escape(Some(&right));
        Some(match (left, right) {
            (left, right @ Value::Strings(_)) if may_be_any_string(&left) => right.or_unknown_word(),
            (left @ Value::Strings(_), right) if is_condition && may_be_any_string(&right) => left.or_unknown_word(),
            (left, right) => left.or(right),
        })
    }

    /// Evaluates the operands of the condition in `left if condition else right`, up to `else`.
    fn evaluate_condition(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        let ends = |token: &Token| {
            token.name() == Some("else")
                || matches!(token.kind, TokenKind::Newline | TokenKind::Punct(";" | "," | ":" | ")" | "]" | "}"))
        };
        while !cursor.peek().is_none_or(ends) {
            if cursor.name() == Some("in") && is_namespace_lookup(cursor) {
                for _ in 0..4 {
                    cursor.next();
                }
                continue;
            }
            let value = self.evaluate_operand(cursor, in_brackets);
            self.record_escape(Some(&value));
        }
        Value::Unknown
    }

    /// Evaluates an operator and its right operand. Returns `None` if the result is unknown.
    fn evaluate_operator(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        punct: &str,
        left: Option<Value>,
        in_brackets: bool,
    ) -> Option<Value> {
        if self.bind_block_parameters(cursor, punct) {
            return left;
        }
        match left {
            Some(left) if punct == self.dialect.concat_operator => {
                Some(self.evaluate_concatenation(cursor, left, in_brackets))
            }
            Some(left) if punct == "/" && self.language == Language::Python => {
                let right = self.evaluate_right_operand(cursor, in_brackets);
                Some(if left.is_path() || right.is_path() {
                    left.joined(&right, "/").into_path()
                } else {
                    Value::Unknown
                })
            }
            // With a constant left operand, the result can be the right operand only if the left one is empty or `0`.
            Some(Value::Strings(strings)) if matches!(punct, "||" | "//" | "??") => {
                let right = self.evaluate_right_operand(cursor, in_brackets);
                self.record_escape(Some(&right));
                let may_be_false = punct == "||" && strings.iter().any(|string| matches!(string.as_str(), "" | "0"));
                let left = Value::Strings(strings);
                Some(if may_be_false { left.or(right) } else { left })
            }
            // The left operand is unknown, and the right operand is a constant, which the result can be.
            Some(left)
                if matches!(punct, "||" | "//" | "??")
                    && matches!(cursor.peek(), Some(Token { kind: TokenKind::String(_), .. })) =>
            {
                self.record_escape(Some(&left));
                Some(self.evaluate_right_operand(cursor, in_brackets).or_unknown_word())
            }
            None if punct == "\\" => {
                let value = self.evaluate_right_operand(cursor, in_brackets);
                self.record_escape(Some(&value));
                Some(Value::NumberOrDescriptor)
            }
            left => {
                self.handle_unevaluated_operator(cursor, punct, left.as_ref());
                None
            }
        }
    }

    fn evaluate_concatenation(&mut self, cursor: &mut TokenCursor<'_>, left: Value, in_brackets: bool) -> Value {
        let right = self.evaluate_right_operand(cursor, in_brackets);
        self.spend(left.only_string().map_or(0, str::len), cursor);
        match (left, right) {
            (Value::List(mut left), Value::List(right)) => {
                left.extend(right);
                Value::List(left)
            }
            (left, right) if left.is_path() => left.joined(&right, "/").into_path(),
            (left, right) => {
                self.record_escape(Some(&left));
                self.record_escape(Some(&right));
                left.joined(&right, "")
            }
        }
    }

    /// Records what follows from an operator whose result is not evaluated.
    fn handle_unevaluated_operator(&mut self, cursor: &TokenCursor<'_>, punct: &str, left: Option<&Value>) {
        // Perl calls a function by a computed name in `&$name` and `&{…}`.
        let calls_computed_name = cursor.is("{") || cursor.name().is_some_and(|name| name.starts_with('$'));
        self.findings.is_opaque |=
            left.is_none() && punct == "&" && self.language == Language::Perl && calls_computed_name;
        if let Some(name) = assigned_in_group(cursor).filter(|_| punct == "=~") {
            self.bind(name, Value::Unknown);
        }
        self.record_escape(left);
    }

    /// Evaluates an operand after an operator.
    fn evaluate_right_operand(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        cursor.skip_newlines();
        match cursor.peek().map(|token| &token.kind) {
            Some(
                TokenKind::Name(_) | TokenKind::String(_) | TokenKind::Number(_) | TokenKind::Punct("(" | "[" | "{"),
            ) => self.evaluate_operand(cursor, in_brackets),
            _ => Value::Unknown,
        }
    }
}

fn may_be_any_string(value: &Value) -> bool {
    matches!(
        value,
        Value::Unknown | Value::QualifiedName(_) | Value::Instance | Value::ArgvPrefix | Value::NumberOrDescriptor
    )
}

/// True if `globals()` or `locals()` follows the next token, and no access to a member follows the call.
fn is_namespace_lookup(cursor: &TokenCursor<'_>) -> bool {
    let names_namespace =
        cursor.ahead(1).and_then(Token::name).is_some_and(|name| matches!(name, "globals" | "locals"));
    names_namespace
        && cursor.ahead_is(2, "(")
        && cursor.ahead_is(3, ")")
        && !cursor.ahead_is(4, ".")
        && !cursor.ahead_is(4, "[")
}

/// Returns the variable in `($name = value) =~ …`. The cursor is after the operator `=~`.
fn assigned_in_group<'t>(cursor: &TokenCursor<'t>) -> Option<&'t str> {
    let end = cursor.position().checked_sub(2)?;
    let tokens = cursor.between(end.saturating_sub(MAX_GROUP_TOKENS), end);
    let start = tokens.iter().rposition(|token| token.is("("))?;
    let mut pairs = tokens.get(start..)?.windows(2);
    pairs.find_map(|pair| matches!(pair, [_, operator] if operator.is("=")).then(|| pair.first()?.name())?)
}
