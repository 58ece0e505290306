//! Operands: names, literals, and values in brackets.

use super::dialect::SourceFileConstant;
use super::evaluator::Evaluator;
use super::spawn_calls::stdout_value;
use super::token::{Literal, LiteralKind, LiteralPart, Token, TokenKind};
use super::token_cursor::{MAX_LOOKAHEAD, TokenCursor};
use super::value::{Value, directory_of};
use super::{Access, Language};

/// Returns the number of tokens in the parameter list at the cursor; `None` if it is not one of plain names and
/// patterns, for example because a parameter has a default.
pub(super) fn plain_parameter_list_length(cursor: &TokenCursor<'_>) -> Option<usize> {
    let is_allowed = |token: &Token| {
        matches!(token.kind, TokenKind::Name(_) | TokenKind::Newline | TokenKind::Punct("(" | "{" | "}" | "," | ":"))
    };
    let length = (0..MAX_LOOKAHEAD).find(|ahead| !cursor.ahead(*ahead).is_some_and(is_allowed))?;
    let is_not_nested = (1..length).all(|ahead| !cursor.ahead_is(ahead, "("));
    (cursor.is("(") && is_not_nested && cursor.ahead_is(length, ")")).then_some(length + 1)
}

impl Evaluator {
    /// Evaluates one operand, with the member accesses, subscripts and calls that follow it.
    pub(super) fn evaluate_operand(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        self.budget.depth += 1;
        self.spend(1, cursor);
        let value = self.evaluate_operand_value(cursor, in_brackets);
        self.budget.depth -= 1;
        value
    }

    pub(super) fn evaluate_operand_value(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        let Some(token) = cursor.peek() else { return Value::Unknown };
        let mut root = None;
        let value = match &token.kind {
            TokenKind::String(literal) => {
                cursor.next();
                self.evaluate_adjacent_literals(cursor, literal)
            }
            TokenKind::Number(_) => {
                cursor.next();
                Value::NumberOrDescriptor
            }
            TokenKind::Punct("(") => match self.evaluate_group_or_parameters(cursor) {
                Some(value) => value,
                None => return Value::Unknown,
            },
            TokenKind::Punct("[") => {
                let mut values = self.evaluate_list(cursor, "]");
                for value in &values {
                    self.record_escape(Some(value));
                }
                match values.pop() {
                    Some(elements) if values.is_empty() && self.is_comprehension => elements,
                    last => Value::list(values.into_iter().chain(last).collect()),
                }
            }
            TokenKind::Punct("{") => self.evaluate_braces(cursor),
            TokenKind::Name(name) => {
                if self.evaluate_declaration(cursor, in_brackets) {
                    return Value::Unknown;
                }
                if let Some(value) = self.evaluate_assignment(cursor, name, in_brackets) {
                    return value;
                }
                cursor.next();
                root = Some(self.variable_name(cursor, name));
                let copy_cost = root.as_deref().and_then(|root| self.bindings.get(root)).and_then(Value::copy_cost);
                self.spend(copy_cost.unwrap_or_default(), cursor);
                self.evaluate_name(cursor, name, root.as_deref().unwrap_or(name))
            }
            _ => {
                cursor.next();
                return Value::Unknown;
            }
        };
        self.evaluate_postfix_operators(cursor, value, root.as_deref())
    }

    /// Evaluates parentheses. Returns `None` if they are the parameters of an arrow function.
    fn evaluate_group_or_parameters(&mut self, cursor: &mut TokenCursor<'_>) -> Option<Value> {
        let start = cursor.position();
        let parameters_length = plain_parameter_list_length(cursor).filter(|length| cursor.ahead_is(*length, "=>"));
        let value = match parameters_length {
            Some(length) => {
                cursor.move_to(start + length);
                Value::Unknown
            }
            None => self.evaluate_group(cursor),
        };
        if self.language != Language::JavaScript || !cursor.is("=>") {
            return Some(value);
        }
        if !self.assigns_defined_function(cursor, start.checked_sub(2)) {
            self.bind_parameters(cursor.between(start, cursor.position()));
        }
        None
    }

    /// Returns the variable that a name refers to. In Perl, `$a[0]` is an element of `@a`, and `$a{x}` of `%a`.
    pub(super) fn variable_name(&self, cursor: &TokenCursor<'_>, name: &str) -> String {
        let is_adjacent = cursor.peek().is_some_and(|token| !token.after_space);
        match name.strip_prefix('$') {
            Some(bare) if self.language == Language::Perl && is_adjacent && cursor.is("[") => format!("@{bare}"),
            Some(bare) if self.language == Language::Perl && is_adjacent && cursor.is("{") && bare != "ENV" => {
                format!("%{bare}")
            }
            _ => name.to_owned(),
        }
    }

    /// Returns the value of a name that has not been assigned so far.
    fn lookup_unbound(&mut self, name: &str) -> Value {
        if !self.bindings.widens_to_unknown && self.outline.assigned.contains(name) {
            self.bindings.has_changed = true;
            return Value::Pending;
        }
        self.value_of_qualified_name(name.to_owned())
    }

    /// Returns the value of a name. `variable` is the variable to which the name refers.
    pub(super) fn evaluate_name(&mut self, cursor: &TokenCursor<'_>, name: &str, variable: &str) -> Value {
        if self.dialect.allows_bare_calls && cursor.is("=>") {
            return Value::string(name);
        }
        if name == "<>" {
            // `<>` reads the files in `@ARGV`. If `@ARGV` is not bound, these are the command line arguments, which the
            // `shell` crate handles.
            if let Some(files) = self.bindings.get("@ARGV").cloned() {
                self.record_access(Access::Read, Some(&files));
            }
            return Value::Unknown;
        }
        self.lookup(variable)
    }

    pub(super) fn lookup(&mut self, name: &str) -> Value {
        match self.bindings.get(name) {
            Some(value) => value.clone(),
            None => self.lookup_unbound(name),
        }
    }

    /// Returns the value of a dotted name that the program does not assign.
    pub(super) fn value_of_qualified_name(&self, name: String) -> Value {
        let variable = name.strip_prefix(self.dialect.environment).and_then(|name| name.strip_prefix('.'));
        if let Some(value) = variable.and_then(|name| self.inputs.environment_variable(name)) {
            return Value::string(value);
        }
        if let Some(constant) = self
            .dialect
            .source_file_constants
            .iter()
            .find(|(constant, _)| *constant == name)
            .map(|(_, constant)| constant)
            && let Some(file) = &self.inputs.file
        {
            return Value::string(match constant {
                SourceFileConstant::Path => file.clone(),
                SourceFileConstant::Directory => directory_of(file),
            });
        }
        if let Some(argv) = self.inputs.arguments.as_ref().filter(|_| self.dialect.argv_name() == Some(name.as_str())) {
            return argv.clone();
        }
        if let Some((_, string)) = self.dialect.constants.iter().find(|(constant, _)| *constant == name) {
            return Value::string(*string);
        }
        if self.dialect.standard_streams.contains(&name.as_str()) {
            Value::NumberOrDescriptor
        } else {
            Value::QualifiedName(name)
        }
    }

    /// Evaluates a literal, and concatenates it with adjacent literals, as Python and Ruby do.
    pub(super) fn evaluate_adjacent_literals(&mut self, cursor: &mut TokenCursor<'_>, literal: &Literal) -> Value {
        let mut value = self.evaluate_literal(cursor, literal);
        if matches!(self.language, Language::Python | Language::Ruby) && literal.kind == LiteralKind::String {
            while let Some(Token { kind: TokenKind::String(literal), .. }) = cursor.peek() {
                cursor.next();
                let next = self.evaluate_literal(cursor, literal);
                self.spend(value.only_string().map_or(0, str::len), cursor);
                value = value.joined(&next, "");
            }
        }
        value
    }

    /// Evaluates a literal with its interpolations. If it is a shell command (backticks), records the command.
    pub(super) fn evaluate_literal(&mut self, cursor: &mut TokenCursor<'_>, literal: &Literal) -> Value {
        let mut value = Value::string("");
        for part in &literal.parts {
            let next = match part {
                LiteralPart::Constant(string) => Value::string(string.clone()),
                LiteralPart::Interpolation(tokens) => self.evaluate_interpolation(tokens),
            };
            self.spend(value.only_string().map_or(0, str::len), cursor);
            value = value.joined(&next, "");
        }
        match literal.kind {
            LiteralKind::String => value,
            LiteralKind::Regex => Value::Unknown,
            LiteralKind::Words => match value.only_string() {
                Some(string) => Value::List(string.split_whitespace().map(Value::string).collect()),
                None => Value::Unknown,
            },
            LiteralKind::ShellCommand => {
                self.spawn_shell(Some(&value), None);
                stdout_value(Some(&value))
            }
        }
    }

    /// Evaluates the code in an interpolation.
    pub(super) fn evaluate_interpolation(&mut self, tokens: &[Token]) -> Value {
        self.budget.depth += 1;
        let mut cursor = TokenCursor::new(tokens);
        self.spend(1, &mut cursor);
        let value = self.evaluate_expression(&mut cursor, true);
        if cursor.peek().is_none() {
            self.budget.depth -= 1;
            return value;
        }
        // A format specification or further statements follow the expression.
        self.record_escape(Some(&value));
        while cursor.peek().is_some() {
            self.evaluate_statements(&mut cursor);
            cursor.next();
        }
        self.budget.depth -= 1;
        Value::Unknown
    }

    /// Evaluates parentheses, which contain one value or a list.
    pub(super) fn evaluate_group(&mut self, cursor: &mut TokenCursor<'_>) -> Value {
        let mut values = self.evaluate_list(cursor, ")");
        let has_comma = cursor
            .position()
            .checked_sub(2)
            .is_some_and(|index| cursor.between(index, index + 1).iter().any(|token| token.is(",")));
        match (values.len(), self.language) {
            (1, Language::Python) if has_comma => Value::List(values),
            // The comma operator of JavaScript returns the last value.
            (1, _) | (_, Language::JavaScript) => values.pop().unwrap_or(Value::Unknown),
            _ => {
                for value in &values {
                    self.record_escape(Some(value));
                }
                Value::List(values)
            }
        }
    }

    /// Evaluates the values in brackets. The cursor is at the opening bracket.
    pub(super) fn evaluate_list(&mut self, cursor: &mut TokenCursor<'_>, close: &str) -> Vec<Value> {
        cursor.next();
        let mut values = Vec::new();
        loop {
            cursor.skip_newlines();
            match cursor.peek().map(|token| &token.kind) {
                Some(TokenKind::Punct(punct)) if *punct == close => {
                    cursor.next();
                    return values;
                }
                Some(TokenKind::Punct("," | ";" | ":" | "=>")) => {
                    cursor.next();
                }
                None | Some(TokenKind::Punct(")" | "]" | "}")) => {
                    self.findings.is_opaque = true;
                    return values;
                }
                Some(TokenKind::Punct("*" | "...")) if self.has_spread() => {
                    cursor.next();
                    let value = self.evaluate_expression(cursor, true);
                    values.push(Value::Spread(Box::new(value)));
                }
                Some(_) => values.push(self.evaluate_expression(cursor, true)),
            }
        }
    }

    /// True if the language has an operator (`*`, `...`) that inserts the elements of a list into another one.
    pub(super) fn has_spread(&self) -> bool {
        matches!(self.language, Language::Python | Language::JavaScript)
    }

    /// Returns the entries that a spread value adds to an object. If they are unknown, returns one entry with an empty
    /// key.
    pub(super) fn entries_of_spread(&self, value: Value) -> Vec<(String, Value)> {
        match value {
            Value::Record(entries) => entries,
            Value::QualifiedName(name) if self.is_undefined(&name) => Vec::new(),
            _ => vec![(String::new(), Value::Unknown)],
        }
    }

    /// True for `None` and similar names, and for a name that is assigned somewhere, but has no value so far: for
    /// example, a parameter to which no call passes a value.
    pub(super) fn is_undefined(&self, name: &str) -> bool {
        matches!(name, "undefined" | "null" | "None" | "nil")
            || self.outline.assigned.contains(name) && self.bindings.get(name).is_none()
    }

    /// Evaluates an object, a hash or a block. The cursor is at the opening brace.
    pub(super) fn evaluate_braces(&mut self, cursor: &mut TokenCursor<'_>) -> Value {
        cursor.next();
        let mut entries = Vec::new();
        loop {
            cursor.skip_newlines();
            let key = match cursor.peek().map(|token| &token.kind) {
                None | Some(TokenKind::Punct(")" | "]")) => {
                    self.findings.is_opaque = true;
                    break;
                }
                Some(TokenKind::Punct("}")) => {
                    cursor.next();
                    break;
                }
                Some(TokenKind::Punct(";" | "," | ":" | "=>")) => {
                    cursor.next();
                    continue;
                }
                Some(TokenKind::Punct("**" | "...")) => {
                    cursor.next();
                    let value = self.evaluate_expression(cursor, false);
                    self.record_escape(Some(&value));
                    entries.extend(self.entries_of_spread(value));
                    continue;
                }
                Some(TokenKind::Name(name)) => Some(name.clone()),
                Some(TokenKind::String(Literal { kind: LiteralKind::String, .. })) => {
                    cursor.peek().and_then(Token::constant).map(str::to_owned)
                }
                Some(_) => None,
            };
            match key {
                Some(key) if cursor.ahead_is(1, ":") || cursor.ahead_is(1, "=>") && self.dialect.allows_bare_calls => {
                    cursor.next();
                    cursor.next();
                    cursor.skip_newlines();
                    let value = self.evaluate_expression(cursor, false);
                    self.record_escape(Some(&value));
                    entries.push((key, value));
                }
                _ => {
                    let value = self.evaluate_expression(cursor, false);
                    self.record_escape(Some(&value));
                    // An entry whose key is not constant gets an empty key.
                    entries.push((String::new(), Value::Unknown));
                }
            }
        }
        Value::Record(entries)
    }
}
