//! Declarations: imports, functions, loops, `return`, destructuring and other statements that bind names.

use super::Language;
use super::evaluator::Evaluator;
use super::operand::plain_parameter_list_length;
use super::token::{Token, TokenKind};
use super::token_cursor::{MAX_LOOKAHEAD, TokenCursor};
use super::value::Value;

impl Evaluator {
    /// Evaluates the declaration at the cursor. If there is none, returns false and does not move the cursor.
    pub(super) fn evaluate_declaration(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> bool {
        let start = cursor.position();
        let Some(word) = cursor.name() else { return false };
        let is_declaration = match self.language {
            _ if matches!(word, "class" | "module") => {
                self.bindings.has_changed |= !self.outline.classes.has_reached_class;
                self.outline.classes.has_reached_class = true;
                false
            }
            Language::Python => self.evaluate_python_declaration(cursor, word, in_brackets),
            Language::JavaScript => self.evaluate_javascript_declaration(cursor, word, in_brackets),
            Language::Perl => self.evaluate_perl_declaration(cursor, word),
            Language::Ruby => self.evaluate_ruby_declaration(cursor, word, in_brackets),
        };
        if !is_declaration {
            cursor.move_to(start);
        }
        is_declaration
    }

    fn evaluate_python_declaration(&mut self, cursor: &mut TokenCursor<'_>, word: &str, in_brackets: bool) -> bool {
        match word {
            "import" => self.evaluate_python_import(cursor),
            "from" => self.evaluate_python_from_import(cursor),
            "as" => {
                cursor.next();
                if let Some(name) = cursor.take_any_name() {
                    self.bind(name, Value::Unknown);
                }
                true
            }
            "for" => self.evaluate_loop(cursor),
            "def" => self.evaluate_named_function(cursor),
            "lambda" => self.evaluate_lambda(cursor),
            "return" | "yield" => self.evaluate_return_or_yield(cursor, word, in_brackets),
            _ => cursor.ahead_is(1, ",") && !in_brackets && self.evaluate_multiple_assignment(cursor),
        }
    }

    fn evaluate_javascript_declaration(&mut self, cursor: &mut TokenCursor<'_>, word: &str, in_brackets: bool) -> bool {
        match word {
            "const" | "let" | "var" => self.evaluate_destructuring(cursor),
            "import" => self.evaluate_javascript_import(cursor),
            "function" => {
                cursor.next();
                cursor.take("*");
                let name = cursor.take_any_name();
                self.evaluate_parameter_list(cursor, name)
            }
            "return" | "yield" => self.evaluate_return_or_yield(cursor, word, in_brackets),
            _ => self.evaluate_arrow_parameter_or_loop(cursor),
        }
    }

    fn evaluate_perl_declaration(&mut self, cursor: &mut TokenCursor<'_>, word: &str) -> bool {
        match word {
            "for" | "foreach" => self.evaluate_perl_loop(cursor),
            "my" | "our" | "local" if cursor.ahead_is(1, "(") => self.evaluate_perl_list(cursor),
            "sub" | "package" => {
                cursor.next();
                if cursor.name().is_some() {
                    cursor.next();
                }
                true
            }
            "use" | "no" => {
                cursor.next();
                while cursor.name().is_some() || cursor.is("::") {
                    cursor.next();
                }
                true
            }
            "do" => {
                let is_block = cursor.ahead_is(1, "{");
                if is_block {
                    cursor.next();
                }
                is_block
            }
            _ => false,
        }
    }

    fn evaluate_ruby_declaration(&mut self, cursor: &mut TokenCursor<'_>, word: &str, in_brackets: bool) -> bool {
        match word {
            "for" => self.evaluate_loop(cursor),
            "def" => self.evaluate_named_function(cursor),
            _ => cursor.ahead_is(1, ",") && !in_brackets && self.evaluate_multiple_assignment(cursor),
        }
    }

    /// Evaluates the head of a function definition: `def name(parameters)`.
    fn evaluate_named_function(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        cursor.next();
        let name = cursor.take_any_name();
        self.evaluate_parameter_list(cursor, name)
    }

    /// Binds the parameters of a lambda: `lambda parameters:`.
    fn evaluate_lambda(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        cursor.next();
        let start = cursor.position();
        let ends = |token: &Token| token.is(":") || token.name() == Some("lambda");
        let length = (0..MAX_LOOKAHEAD).find(|ahead| cursor.ahead(*ahead).is_none_or(ends));
        if !self.assigns_defined_function(cursor, start.checked_sub(3)) {
            let end = start + length.unwrap_or(MAX_LOOKAHEAD);
            self.bind_parameters(cursor.between(start.saturating_sub(1), end));
        }
        true
    }

    /// True if the keyword at the cursor (`const`, `my`) begins a destructuring declaration. If a single name follows,
    /// the caller skips the keyword.
    pub(super) fn starts_declaration(&self, cursor: &TokenCursor<'_>) -> bool {
        match (self.language, cursor.name()) {
            (Language::JavaScript, Some("const" | "let" | "var")) => cursor.ahead_is(1, "{") || cursor.ahead_is(1, "["),
            (Language::Perl, Some("my" | "our" | "local")) => cursor.ahead_is(1, "("),
            _ => false,
        }
    }

    /// Evaluates `return value` or `yield value`.
    fn evaluate_return_or_yield(&mut self, cursor: &mut TokenCursor<'_>, word: &str, in_brackets: bool) -> bool {
        cursor.next();
        let is_delegation = word == "yield" && (cursor.take("*") || cursor.take_name("from"));
        let ends = |token: &Token| token.kind == TokenKind::Newline || token.is(";") || token.is("}") || token.is(")");
        if cursor.peek().is_none_or(ends) {
            return true;
        }
        let value = self.evaluate_assigned_value(cursor, in_brackets);
        self.record_escape(Some(&value));
        let value = if cursor.is(",") { Value::Unknown } else { value };
        self.bind(word, if is_delegation { value.element() } else { value });
        true
    }

    /// Evaluates a function's parameter list, and binds the parameters. Their defaults are evaluated like arguments of
    /// a call.
    fn evaluate_parameter_list(&mut self, cursor: &mut TokenCursor<'_>, name: Option<&str>) -> bool {
        if !cursor.is("(") {
            return true;
        }
        let start = cursor.position();
        match plain_parameter_list_length(cursor).filter(|_| self.language == Language::JavaScript) {
            Some(length) => cursor.move_to(start + length),
            None => {
                self.evaluate_arguments(cursor, &Value::Unknown);
            }
        }
        if !name.is_some_and(|name| self.outline.functions.contains_key(name)) {
            self.bind_parameters(cursor.between(start, cursor.position()));
        }
        true
    }

    /// Evaluates an assignment to several names: `a, b = …`.
    fn evaluate_multiple_assignment(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        let mut names = Vec::new();
        loop {
            cursor.take("*");
            let Some(name) = cursor.take_any_name() else { return false };
            names.push(name);
            if names.len() > MAX_LOOKAHEAD {
                self.findings.is_opaque = true;
                return false;
            }
            if cursor.take(",") {
                continue;
            }
            if cursor.take("=") {
                break;
            }
            return false;
        }
        let value = self.evaluate_assigned_value(cursor, false);
        match value {
            Value::List(values) if values.len() == names.len() => {
                for (name, value) in names.into_iter().zip(values) {
                    self.bind(name, value);
                }
            }
            value => {
                self.record_escape(Some(&value));
                for name in names {
                    self.bind(name, Value::Unknown);
                }
            }
        }
        true
    }

    /// Evaluates a declaration with a destructuring pattern: `const {a, b: c} = …`, `const [a] = …`.
    fn evaluate_destructuring(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        cursor.next();
        let start = cursor.position();
        if !cursor.is("{") && !cursor.is("[") {
            return false;
        }
        let mut depth = 0_usize;
        while let Some(token) = cursor.next() {
            if cursor.position() - start > MAX_LOOKAHEAD {
                self.findings.is_opaque = true;
                return false;
            }
            match token.kind {
                TokenKind::Punct("{" | "[" | "(") => depth += 1,
                TokenKind::Punct("}" | "]" | ")") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let pattern = cursor.between(start, cursor.position());
        if !cursor.take("=") {
            // A pattern without `=` is that of a loop: `for (const [a, b] of …)`.
            self.bind_parameters(pattern);
            return true;
        }
        let value = self.evaluate_expression(cursor, false);
        self.bind_destructured(pattern, &value);
        true
    }

    /// Binds the name in `name => …`, `name of values` and `name in object`.
    fn evaluate_arrow_parameter_or_loop(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        let start = cursor.position();
        let Some(name) = cursor.take_any_name() else { return false };
        if cursor.take("=>") {
            if !self.assigns_defined_function(cursor, start.checked_sub(2)) {
                let value = self.first_parameter.take().unwrap_or(Value::Unknown);
                self.bind(name, value);
            }
            return true;
        }
        if cursor.take_name("of") {
            let values = self.evaluate_expression(cursor, true);
            let element = self.element_of(&values);
            self.bind(name, element);
            return true;
        }
        if cursor.take_name("in") {
            self.bind(name, Value::Unknown);
            return true;
        }
        false
    }

    /// Evaluates a declaration of several variables: `my ($a, $b) = …`.
    fn evaluate_perl_list(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        cursor.next();
        cursor.next();
        let mut names = Vec::new();
        while !cursor.take(")") {
            match cursor.next().map(|token| &token.kind) {
                Some(TokenKind::Name(name)) => names.push(name.as_str()),
                Some(TokenKind::Punct(",")) => {}
                _ => return false,
            }
        }
        let value = if cursor.take("=") { self.evaluate_expression(cursor, false) } else { Value::Unknown };
        match value {
            Value::List(values) if values.len() == names.len() && names.iter().all(|name| name.starts_with('$')) => {
                for (name, value) in names.into_iter().zip(values) {
                    self.bind(name, value);
                }
            }
            _ => {
                for name in names {
                    self.bind(name, Value::Unknown);
                }
            }
        }
        true
    }
}
