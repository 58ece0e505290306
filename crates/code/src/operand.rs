//! Operands: names, literals and everything in brackets.

use super::dialect::OwnFile;
use super::evaluator::Evaluator;
use super::spawn_calls::printed_word;
use super::token::{Kind, Literal, LiteralKind, Part, Token};
use super::token_cursor::{MAX_LOOKAHEAD, TokenCursor};
use super::value::{Value, directory_of};
use super::{Access, Language};

/// Returns the number of tokens of the parameters at the cursor, if they are plain names without defaults.
pub(super) fn plain_parameters(cursor: &TokenCursor<'_>) -> Option<usize> {
    let is_plain =
        |token: &Token| matches!(token.kind, Kind::Name(_) | Kind::Newline | Kind::Punct("(" | "{" | "}" | "," | ":"));
    let length = (0..MAX_LOOKAHEAD).find(|ahead| !cursor.ahead(*ahead).is_some_and(is_plain))?;
    let has_one_group = (1..length).all(|ahead| !cursor.ahead_is(ahead, "("));
    (cursor.is("(") && has_one_group && cursor.ahead_is(length, ")")).then_some(length + 1)
}

impl Evaluator {
    /// Reads one operand and the chain that follows it.
    pub(super) fn operand(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        self.budget.depth += 1;
        self.spend(1, cursor);
        let value = self.operand_value(cursor, in_brackets);
        self.budget.depth -= 1;
        value
    }

    pub(super) fn operand_value(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> Value {
        let Some(token) = cursor.peek() else { return Value::Unknown };
        let mut root = None;
        let value = match &token.kind {
            Kind::String(literal) => {
                cursor.next();
                self.adjacent_literals(cursor, literal)
            }
            Kind::Number(_) => {
                cursor.next();
                Value::Descriptor
            }
            Kind::Punct("(") => match self.group_or_parameters(cursor) {
                Some(value) => value,
                None => return Value::Unknown,
            },
            Kind::Punct("[") => {
                let mut values = self.list(cursor, "]");
                for value in &values {
                    self.escape(Some(value));
                }
                match values.pop() {
                    Some(all) if values.is_empty() && self.is_comprehension => all,
                    last => Value::list(values.into_iter().chain(last).collect()),
                }
            }
            Kind::Punct("{") => self.braces(cursor),
            Kind::Name(name) => {
                if self.declaration(cursor, in_brackets) {
                    return Value::Unknown;
                }
                if let Some(value) = self.assignment(cursor, name, in_brackets) {
                    return value;
                }
                cursor.next();
                root = Some(self.variable_name(cursor, name));
                let weight = root.as_deref().and_then(|root| self.names.get(root)).and_then(Value::weight);
                self.spend(weight.unwrap_or_default(), cursor);
                self.named_value(cursor, name, root.as_deref().unwrap_or(name))
            }
            _ => {
                cursor.next();
                return Value::Unknown;
            }
        };
        self.chain(cursor, value, root.as_deref())
    }

    /// Reads parentheses. Returns `None` if they are the parameters of an arrow function.
    fn group_or_parameters(&mut self, cursor: &mut TokenCursor<'_>) -> Option<Value> {
        let start = cursor.position();
        let plain = plain_parameters(cursor).filter(|length| cursor.ahead_is(*length, "=>"));
        let value = match plain {
            Some(length) => {
                cursor.move_to(start + length);
                Value::Unknown
            }
            None => self.group(cursor),
        };
        if self.language != Language::Node || !cursor.is("=>") {
            return Some(value);
        }
        if !self.defines_own_function(cursor, start.checked_sub(2)) {
            self.bind_parameters(cursor.between(start, cursor.position()));
        }
        None
    }

    /// Returns the variable that a name belongs to. In Perl, `$a[0]` is an element of `@a`, and `$a{x}` of `%a`.
    pub(super) fn variable_name(&self, cursor: &TokenCursor<'_>, name: &str) -> String {
        let is_tight = cursor.peek().is_some_and(|token| !token.after_space);
        match name.strip_prefix('$') {
            Some(bare) if self.language == Language::Perl && is_tight && cursor.is("[") => format!("@{bare}"),
            Some(bare) if self.language == Language::Perl && is_tight && cursor.is("{") && bare != "ENV" => {
                format!("%{bare}")
            }
            _ => name.to_owned(),
        }
    }

    /// Returns the meaning of a name that has no value yet.
    fn unbound(&mut self, name: &str) -> Value {
        if !self.names.gives_up_changing && self.outline.assigned.contains(name) {
            self.names.changed = true;
            return Value::Pending;
        }
        self.qualified_name(name.to_owned())
    }

    pub(super) fn named_value(&mut self, cursor: &TokenCursor<'_>, name: &str, variable: &str) -> Value {
        if self.dialect.bare_calls && cursor.is("=>") {
            return Value::string(name);
        }
        if name == "<>" {
            // Unless the program assigns `@ARGV`, the files are the arguments of the command, which the `shell` crate
            // handles.
            if let Some(files) = self.names.get("@ARGV").cloned() {
                self.record_access(Access::Read, Some(&files));
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

    /// Returns what a dotted name means without an assignment.
    pub(super) fn qualified_name(&self, name: String) -> Value {
        let variable = name.strip_prefix(self.dialect.environment).and_then(|name| name.strip_prefix('.'));
        if let Some(value) = variable.and_then(|name| self.inputs.environment_variable(name)) {
            return Value::string(value);
        }
        if let Some(own) = self.dialect.own_file.iter().find(|(known, _)| *known == name).map(|(_, own)| own)
            && let Some(file) = &self.inputs.file
        {
            return Value::string(match own {
                OwnFile::Path => file.clone(),
                OwnFile::Directory => directory_of(file),
            });
        }
        if let Some(argv) = self.inputs.arguments.as_ref().filter(|_| self.dialect.argv_name() == Some(name.as_str())) {
            return argv.clone();
        }
        if let Some((_, string)) = self.dialect.constants.iter().find(|(known, _)| *known == name) {
            return Value::string(*string);
        }
        if self.dialect.standard_streams.contains(&name.as_str()) {
            Value::Descriptor
        } else {
            Value::QualifiedName(name)
        }
    }

    /// Reads a literal, and concatenates adjacent ones as Python and Ruby do.
    pub(super) fn adjacent_literals(&mut self, cursor: &mut TokenCursor<'_>, literal: &Literal) -> Value {
        let mut value = self.literal(cursor, literal);
        if matches!(self.language, Language::Python | Language::Ruby) && literal.kind == LiteralKind::String {
            while let Some(Token { kind: Kind::String(literal), .. }) = cursor.peek() {
                cursor.next();
                let next = self.literal(cursor, literal);
                self.spend(value.only_string().map_or(0, str::len), cursor);
                value = value.joined(&next, "");
            }
        }
        value
    }

    pub(super) fn literal(&mut self, cursor: &mut TokenCursor<'_>, literal: &Literal) -> Value {
        let mut value = Value::string("");
        for part in &literal.parts {
            let next = match part {
                Part::Constant(string) => Value::string(string.clone()),
                Part::Interpolation(tokens) => self.interpolation(tokens),
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
                printed_word(Some(&value))
            }
        }
    }

    pub(super) fn interpolation(&mut self, tokens: &[Token]) -> Value {
        self.budget.depth += 1;
        let mut cursor = TokenCursor::new(tokens);
        self.spend(1, &mut cursor);
        let value = self.expression(&mut cursor, true);
        if cursor.peek().is_none() {
            self.budget.depth -= 1;
            return value;
        }
        // A format specification, or several statements.
        self.escape(Some(&value));
        while cursor.peek().is_some() {
            self.statements(&mut cursor);
            cursor.next();
        }
        self.budget.depth -= 1;
        Value::Unknown
    }

    /// Reads parentheses: one value or several.
    pub(super) fn group(&mut self, cursor: &mut TokenCursor<'_>) -> Value {
        let mut values = self.list(cursor, ")");
        let has_comma = cursor
            .position()
            .checked_sub(2)
            .is_some_and(|place| cursor.between(place, place + 1).iter().any(|token| token.is(",")));
        match (values.len(), self.language) {
            (1, Language::Python) if has_comma => Value::List(values),
            // JavaScript's comma operator returns the last value.
            (1, _) | (_, Language::Node) => values.pop().unwrap_or(Value::Unknown),
            _ => {
                for value in &values {
                    self.escape(Some(value));
                }
                Value::List(values)
            }
        }
    }

    /// Reads values from an opening bracket to its closing one.
    pub(super) fn list(&mut self, cursor: &mut TokenCursor<'_>, close: &str) -> Vec<Value> {
        cursor.next();
        let mut values = Vec::new();
        loop {
            cursor.skip_newlines();
            match cursor.peek().map(|token| &token.kind) {
                Some(Kind::Punct(punct)) if *punct == close => {
                    cursor.next();
                    return values;
                }
                Some(Kind::Punct("," | ";" | ":" | "=>")) => {
                    cursor.next();
                }
                None | Some(Kind::Punct(")" | "]" | "}")) => {
                    self.findings.is_opaque = true;
                    return values;
                }
                Some(Kind::Punct("*" | "...")) if self.has_spread() => {
                    cursor.next();
                    let value = self.expression(cursor, true);
                    values.push(Value::Spread(Box::new(value)));
                }
                Some(_) => values.push(self.expression(cursor, true)),
            }
        }
    }

    /// True if `*` or `...` before a value inserts its elements.
    pub(super) fn has_spread(&self) -> bool {
        matches!(self.language, Language::Python | Language::Node)
    }

    /// Returns the entries that a spread value adds to an object; the empty key if they are not known.
    pub(super) fn entries(&self, value: Value) -> Vec<(String, Value)> {
        match value {
            Value::Record(entries) => entries,
            Value::QualifiedName(name) if self.is_undefined(&name) => Vec::new(),
            _ => vec![(String::new(), Value::Unknown)],
        }
    }

    /// True for `None` and the like, and for a parameter that no call passes.
    pub(super) fn is_undefined(&self, name: &str) -> bool {
        matches!(name, "undefined" | "null" | "None" | "nil")
            || self.outline.assigned.contains(name) && self.names.get(name).is_none()
    }

    /// Reads an object, a hash or a block.
    pub(super) fn braces(&mut self, cursor: &mut TokenCursor<'_>) -> Value {
        cursor.next();
        let mut entries = Vec::new();
        loop {
            cursor.skip_newlines();
            let key = match cursor.peek().map(|token| &token.kind) {
                None | Some(Kind::Punct(")" | "]")) => {
                    self.findings.is_opaque = true;
                    break;
                }
                Some(Kind::Punct("}")) => {
                    cursor.next();
                    break;
                }
                Some(Kind::Punct(";" | "," | ":" | "=>")) => {
                    cursor.next();
                    continue;
                }
                Some(Kind::Punct("**" | "...")) => {
                    cursor.next();
                    let value = self.expression(cursor, false);
                    self.escape(Some(&value));
                    entries.extend(self.entries(value));
                    continue;
                }
                Some(Kind::Name(name)) => Some(name.clone()),
                Some(Kind::String(Literal { kind: LiteralKind::String, .. })) => {
                    cursor.peek().and_then(Token::constant).map(str::to_owned)
                }
                Some(_) => None,
            };
            match key {
                Some(key) if cursor.ahead_is(1, ":") || cursor.ahead_is(1, "=>") && self.dialect.bare_calls => {
                    cursor.next();
                    cursor.next();
                    cursor.skip_newlines();
                    let value = self.expression(cursor, false);
                    self.escape(Some(&value));
                    entries.push((key, value));
                }
                _ => {
                    let value = self.expression(cursor, false);
                    self.escape(Some(&value));
                    // A value whose key is not constant.
                    entries.push((String::new(), Value::Unknown));
                }
            }
        }
        Value::Record(entries)
    }
}
