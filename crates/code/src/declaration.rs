//! Declarations: statements that give names a meaning.

use super::Language;
use super::operand::plain_parameters;
use super::reader::Reader;
use super::tape::{MAX_LOOKAHEAD, Tape};
use super::token::{Kind, Token};
use super::value::Value;

impl Reader {
    /// Whether what stands here gives names their meaning; then it was read.
    pub(super) fn declaration(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> bool {
        let start = tape.place();
        let Some(word) = tape.name() else { return false };
        let is_declared = match self.language {
            _ if matches!(word, "class" | "module") => {
                self.names.changed |= !self.outline.classes.are_there;
                self.outline.classes.are_there = true;
                false
            }
            Language::Python => self.python_declaration(tape, word, in_brackets),
            Language::Node => self.node_declaration(tape, word, in_brackets),
            Language::Perl => self.perl_declaration(tape, word),
            Language::Ruby => self.ruby_declaration(tape, word, in_brackets),
        };
        if !is_declared {
            tape.back_to(start);
        }
        is_declared
    }

    fn python_declaration(&mut self, tape: &mut Tape<'_>, word: &str, in_brackets: bool) -> bool {
        match word {
            "import" => self.python_import(tape),
            "from" => self.python_from(tape),
            "as" => {
                tape.next();
                if let Some(name) = tape.any_name() {
                    self.bind(name, Value::Unknown);
                }
                true
            }
            "for" => self.loop_over(tape),
            "def" => self.named_definition(tape),
            "lambda" => self.lambda(tape),
            "return" | "yield" => self.gives(tape, word, in_brackets),
            _ => tape.ahead_is(1, ",") && !in_brackets && self.several(tape),
        }
    }

    fn node_declaration(&mut self, tape: &mut Tape<'_>, word: &str, in_brackets: bool) -> bool {
        match word {
            "const" | "let" | "var" => self.destructuring(tape),
            "import" => self.node_import(tape),
            "function" => {
                tape.next();
                tape.take("*");
                let name = tape.any_name();
                self.definition(tape, name)
            }
            "return" | "yield" => self.gives(tape, word, in_brackets),
            _ => self.node_parameter(tape),
        }
    }

    fn perl_declaration(&mut self, tape: &mut Tape<'_>, word: &str) -> bool {
        match word {
            "for" | "foreach" => self.perl_loop(tape),
            "my" | "our" | "local" if tape.ahead_is(1, "(") => self.perl_list(tape),
            "sub" | "package" => {
                tape.next();
                if tape.name().is_some() {
                    tape.next();
                }
                true
            }
            "use" | "no" => {
                tape.next();
                while tape.name().is_some() || tape.is("::") {
                    tape.next();
                }
                true
            }
            "do" => {
                let is_block = tape.ahead_is(1, "{");
                if is_block {
                    tape.next();
                }
                is_block
            }
            _ => false,
        }
    }

    fn ruby_declaration(&mut self, tape: &mut Tape<'_>, word: &str, in_brackets: bool) -> bool {
        match word {
            "for" => self.loop_over(tape),
            "def" => self.named_definition(tape),
            _ => tape.ahead_is(1, ",") && !in_brackets && self.several(tape),
        }
    }

    /// `def name(parameters)`.
    fn named_definition(&mut self, tape: &mut Tape<'_>) -> bool {
        tape.next();
        let name = tape.any_name();
        self.definition(tape, name)
    }

    /// `lambda parameters:`.
    fn lambda(&mut self, tape: &mut Tape<'_>) -> bool {
        tape.next();
        let start = tape.place();
        let ends = |token: &Token| token.is(":") || token.name() == Some("lambda");
        let length = (0..MAX_LOOKAHEAD).find(|ahead| tape.ahead(*ahead).is_none_or(ends));
        if !self.is_own_function(tape, start.checked_sub(3)) {
            let end = start + length.unwrap_or(MAX_LOOKAHEAD);
            self.bind_parameters(tape.between(start.saturating_sub(1), end));
        }
        true
    }

    /// Whether a word that changes nothing begins a declaration here.
    pub(super) fn declares(&self, tape: &Tape<'_>) -> bool {
        match (self.language, tape.name()) {
            (Language::Node, Some("const" | "let" | "var")) => tape.ahead_is(1, "{") || tape.ahead_is(1, "["),
            (Language::Perl, Some("my" | "our" | "local")) => tape.ahead_is(1, "("),
            _ => false,
        }
    }

    /// `return value`, `yield value`.
    fn gives(&mut self, tape: &mut Tape<'_>, word: &str, in_brackets: bool) -> bool {
        tape.next();
        let is_each = word == "yield" && (tape.take("*") || tape.take_name("from"));
        let ends = |token: &Token| token.kind == Kind::Newline || token.is(";") || token.is("}") || token.is(")");
        if tape.peek().is_none_or(ends) {
            return true;
        }
        let value = self.assigned(tape, in_brackets);
        self.escape(Some(&value));
        let value = if tape.is(",") { Value::Unknown } else { value };
        self.bind(word, if is_each { value.element() } else { value });
        true
    }

    /// At the parameters of a function. Their defaults are read as arguments are.
    fn definition(&mut self, tape: &mut Tape<'_>, name: Option<&str>) -> bool {
        if !tape.is("(") {
            return true;
        }
        let start = tape.place();
        match plain_parameters(tape).filter(|_| self.language == Language::Node) {
            Some(length) => tape.back_to(start + length),
            None => {
                self.arguments(tape, &Value::Unknown);
            }
        }
        if !name.is_some_and(|name| self.outline.functions.contains_key(name)) {
            self.bind_parameters(tape.between(start, tape.place()));
        }
        true
    }

    /// `a, b = …`.
    fn several(&mut self, tape: &mut Tape<'_>) -> bool {
        let mut names = Vec::new();
        loop {
            tape.take("*");
            let Some(name) = tape.any_name() else { return false };
            names.push(name);
            if names.len() > MAX_LOOKAHEAD {
                self.found.hidden = true;
                return false;
            }
            if tape.take(",") {
                continue;
            }
            if tape.take("=") {
                break;
            }
            return false;
        }
        let value = self.assigned(tape, false);
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
    fn destructuring(&mut self, tape: &mut Tape<'_>) -> bool {
        tape.next();
        let start = tape.place();
        if !tape.is("{") && !tape.is("[") {
            return false;
        }
        let mut depth = 0_usize;
        while let Some(token) = tape.next() {
            if tape.place() - start > MAX_LOOKAHEAD {
                self.found.hidden = true;
                return false;
            }
            match token.kind {
                Kind::Mark("{" | "[" | "(") => depth += 1,
                Kind::Mark("}" | "]" | ")") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let pattern = tape.between(start, tape.place());
        if !tape.take("=") {
            // The names of a loop.
            self.bind_parameters(pattern);
            return true;
        }
        let value = self.sequence(tape, false);
        self.bind_members(pattern, &value);
        true
    }

    /// `name => …` and `name of values`.
    fn node_parameter(&mut self, tape: &mut Tape<'_>) -> bool {
        let start = tape.place();
        let Some(name) = tape.any_name() else { return false };
        if tape.take("=>") {
            if !self.is_own_function(tape, start.checked_sub(2)) {
                let value = self.iterated.take().unwrap_or(Value::Unknown);
                self.bind(name, value);
            }
            return true;
        }
        if tape.take_name("of") {
            let values = self.sequence(tape, true);
            let element = self.element_of(&values);
            self.bind(name, element);
            return true;
        }
        if tape.take_name("in") {
            self.bind(name, Value::Unknown);
            return true;
        }
        false
    }

    /// `my ($a, $b) = …`.
    fn perl_list(&mut self, tape: &mut Tape<'_>) -> bool {
        tape.next();
        tape.next();
        let mut names = Vec::new();
        while !tape.take(")") {
            match tape.next().map(|token| &token.kind) {
                Some(Kind::Name(name)) => names.push(name.as_str()),
                Some(Kind::Mark(",")) => {}
                _ => return false,
            }
        }
        let value = if tape.take("=") { self.sequence(tape, false) } else { Value::Unknown };
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
