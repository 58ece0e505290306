//! Declarations: imports, functions, loops, `return`, destructuring and other statements that bind names.

use super::Language;
use super::evaluator::Evaluator;
use super::operand::plain_parameters;
use super::token::{Kind, Token};
use super::token_cursor::{MAX_LOOKAHEAD, TokenCursor};
use super::value::Value;

impl Evaluator {
    /// Evaluates the declaration at the cursor. Returns false, without moving, if there is none.
    pub(super) fn declaration(&mut self, cursor: &mut TokenCursor<'_>, in_brackets: bool) -> bool {
        let start = cursor.position();
        let Some(word) = cursor.name() else { return false };
        let is_declaration = match self.language {
            _ if matches!(word, "class" | "module") => {
                self.bindings.has_changed |= !self.outline.classes.has_reached_class;
                self.outline.classes.has_reached_class = true;
                false
            }
            Language::Python => self.python_declaration(cursor, word, in_brackets),
            Language::JavaScript => self.javascript_declaration(cursor, word, in_brackets),
            Language::Perl => self.perl_declaration(cursor, word),
            Language::Ruby => self.ruby_declaration(cursor, word, in_brackets),
        };
        if !is_declaration {
            cursor.move_to(start);
        }
        is_declaration
    }

    fn python_declaration(&mut self, cursor: &mut TokenCursor<'_>, word: &str, in_brackets: bool) -> bool {
        match word {
            "import" => self.python_import(cursor),
            "from" => self.python_from(cursor),
            "as" => {
                cursor.next();
                if let Some(name) = cursor.take_any_name() {
                    self.bind(name, Value::Unknown);
                }
                true
            }
            "for" => self.loop_over(cursor),
            "def" => self.named_function(cursor),
            "lambda" => self.lambda(cursor),
            "return" | "yield" => self.return_or_yield(cursor, word, in_brackets),
            _ => cursor.ahead_is(1, ",") && !in_brackets && self.multiple_assignment(cursor),
        }
    }

    fn javascript_declaration(&mut self, cursor: &mut TokenCursor<'_>, word: &str, in_brackets: bool) -> bool {
        match word {
            "const" | "let" | "var" => self.destructuring(cursor),
            "import" => self.javascript_import(cursor),
            "function" => {
                cursor.next();
                cursor.take("*");
                let name = cursor.take_any_name();
                self.function_parameters(cursor, name)
            }
            "return" | "yield" => self.return_or_yield(cursor, word, in_brackets),
            _ => self.arrow_parameter_or_loop(cursor),
        }
    }

    fn perl_declaration(&mut self, cursor: &mut TokenCursor<'_>, word: &str) -> bool {
        match word {
            "for" | "foreach" => self.perl_loop(cursor),
            "my" | "our" | "local" if cursor.ahead_is(1, "(") => self.perl_list(cursor),
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

    fn ruby_declaration(&mut self, cursor: &mut TokenCursor<'_>, word: &str, in_brackets: bool) -> bool {
        match word {
            "for" => self.loop_over(cursor),
            "def" => self.named_function(cursor),
            _ => cursor.ahead_is(1, ",") && !in_brackets && self.multiple_assignment(cursor),
        }
    }

    /// `def name(parameters)`.
    fn named_function(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        cursor.next();
        let name = cursor.take_any_name();
        self.function_parameters(cursor, name)
    }

    /// `lambda parameters:`.
    fn lambda(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
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

    /// True if `const`, `my` and the like begin a destructuring declaration. Before a single name, they are skipped.
    pub(super) fn starts_declaration(&self, cursor: &TokenCursor<'_>) -> bool {
        match (self.language, cursor.name()) {
            (Language::JavaScript, Some("const" | "let" | "var")) => cursor.ahead_is(1, "{") || cursor.ahead_is(1, "["),
            (Language::Perl, Some("my" | "our" | "local")) => cursor.ahead_is(1, "("),
            _ => false,
        }
    }

    /// `return value`, `yield value`.
    fn return_or_yield(&mut self, cursor: &mut TokenCursor<'_>, word: &str, in_brackets: bool) -> bool {
        cursor.next();
        let is_delegation = word == "yield" && (cursor.take("*") || cursor.take_name("from"));
        let ends = |token: &Token| token.kind == Kind::Newline || token.is(";") || token.is("}") || token.is(")");
        if cursor.peek().is_none_or(ends) {
            return true;
        }
        let value = self.assigned_value(cursor, in_brackets);
        self.escape(Some(&value));
        let value = if cursor.is(",") { Value::Unknown } else { value };
        self.bind(word, if is_delegation { value.element() } else { value });
        true
    }

    /// Binds the parameters of a function. Their defaults are evaluated like arguments.
    fn function_parameters(&mut self, cursor: &mut TokenCursor<'_>, name: Option<&str>) -> bool {
        if !cursor.is("(") {
            return true;
        }
        let start = cursor.position();
        match plain_parameters(cursor).filter(|_| self.language == Language::JavaScript) {
            Some(length) => cursor.move_to(start + length),
            None => {
                self.arguments(cursor, &Value::Unknown);
            }
        }
        if !name.is_some_and(|name| self.outline.functions.contains_key(name)) {
            self.bind_parameters(cursor.between(start, cursor.position()));
        }
        true
    }

    /// `a, b = …`.
    fn multiple_assignment(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
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
        let value = self.assigned_value(cursor, false);
        match value {
            Value::List(values) if values.len() == names.len() => {
                for (name, value) in names.into_iter().zip(values) {
                    self.bind(name, value);
                }
            }
            value => {
                self.escape(Some(&value));
                for name in names {
                    self.bind(name, Value::Unknown);
                }
            }
        }
        true
    }

    /// `const {a, b: c} = …`, `const [a] = …`.
    fn destructuring(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
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
                Kind::Punct("{" | "[" | "(") => depth += 1,
                Kind::Punct("}" | "]" | ")") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let pattern = cursor.between(start, cursor.position());
        if !cursor.take("=") {
            // `for (const [a, b] of …)`.
            self.bind_parameters(pattern);
            return true;
        }
        let value = self.expression(cursor, false);
        self.bind_destructured(pattern, &value);
        true
    }

    /// `name => …`, `name of values` and `name in object`.
    fn arrow_parameter_or_loop(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
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
            let values = self.expression(cursor, true);
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

    /// `my ($a, $b) = …`.
    fn perl_list(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        cursor.next();
        cursor.next();
        let mut names = Vec::new();
        while !cursor.take(")") {
            match cursor.next().map(|token| &token.kind) {
                Some(Kind::Name(name)) => names.push(name.as_str()),
                Some(Kind::Punct(",")) => {}
                _ => return false,
            }
        }
        let value = if cursor.take("=") { self.expression(cursor, false) } else { Value::Unknown };
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
