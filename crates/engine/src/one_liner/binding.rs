//! How names get their values: assignments, imports, loops, parameters.

use super::Language;
use super::arguments::Arguments;
use super::functions::{Parameter, Takes};
use super::operand::plain_parameters;
use super::reader::Reader;
use super::tape::Tape;
use super::token::{Kind, Token};
use super::value::Value;

/// How many tokens are looked through to find out what a declaration is.
pub(super) const MAX_DECLARATION: usize = 256;

/// Of more, nobody can say which a comprehension chooses.
const MAX_CHOSEN: usize = 12;

/// `None`, `false`, `0`, or no default at all.
fn is_nothing(default: &[Token]) -> bool {
    match default {
        [] => true,
        [only] => match &only.kind {
            Kind::Number(_) => true,
            Kind::Name(name) => {
                matches!(name.as_str(), "None" | "True" | "False" | "null" | "undefined" | "true" | "false")
            }
            _ => false,
        },
        _ => false,
    }
}

impl Reader {
    /// Adds to what a name may mean. A function or module that becomes one of several meanings is hidden by that.
    pub(super) fn bind(&mut self, name: &str, value: Value) {
        // One of the text's own functions has no other meaning.
        if self.functions.contains_key(name) {
            return;
        }
        // A name of the language itself keeps its own meaning besides.
        let is_function = matches!(&value, Value::Thing(thing) if thing == name || self.deed(thing).is_some());
        if !is_function {
            self.escape(Some(&Value::Thing(name.to_owned())));
        }
        let value = if value.weight().is_some() { value } else { Value::Unknown };
        if let Some((known, value)) = self.names.bind(name, value) {
            self.escape(Some(&known));
            self.escape(Some(&value));
        }
    }

    /// `name = value` and its kin; none where this is something else.
    pub(super) fn assignment(&mut self, tape: &mut Tape<'_>, name: &str, in_brackets: bool) -> Option<Value> {
        let Some(Token { kind: Kind::Mark(mark), .. }) = tape.ahead(1) else { return None };
        match *mark {
            "=" | ":=" => {
                tape.next();
                tape.next();
                tape.skip_newlines();
                let value = self.assigned(tape, in_brackets);
                if self.classes.are_there {
                    self.escape(Some(&value));
                }
                self.bind(name, value.clone());
                Some(value)
            }
            "=~" => {
                self.bind(name, Value::Unknown);
                None
            }
            "<<" if self.language == Language::Ruby => {
                self.bind(name, Value::Unknown);
                None
            }
            "==" | "===" | "!=" | "!==" | "<=" | ">=" | "<=>" => None,
            mark if mark.len() > 1 && mark.ends_with('=') => {
                tape.next();
                tape.next();
                let value = self.sequence(tape, in_brackets);
                self.escape(Some(&value));
                self.bind(name, Value::Unknown);
                Some(Value::Unknown)
            }
            _ => None,
        }
    }

    /// The right side of an assignment; several values without brackets are a list.
    fn assigned(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        let first = self.sequence(tape, in_brackets);
        if in_brackets || !tape.is(",") || !matches!(self.language, Language::Python | Language::Ruby) {
            return first;
        }
        let mut values = vec![first];
        while tape.take(",") {
            values.push(self.sequence(tape, false));
        }
        for value in &values {
            self.escape(Some(value));
        }
        Value::List(values)
    }

    /// Whether what stands here gives names their meaning; then it was read.
    pub(super) fn declaration(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> bool {
        let start = tape.place();
        let Some(name) = tape.name() else { return false };
        let is_declared = match (self.language, name) {
            (Language::Python, "import") => self.python_import(tape),
            (Language::Python, "from") => self.python_from(tape),
            (Language::Python, "as") => {
                tape.next();
                if let Some(name) = tape.any_name() {
                    self.bind(name, Value::Unknown);
                }
                true
            }
            (Language::Python | Language::Ruby, "for") => self.loop_over(tape),
            (Language::Python | Language::Ruby, "def") => {
                tape.next();
                let name = tape.any_name();
                self.definition(tape, name)
            }
            (Language::Python, "lambda") => {
                tape.next();
                let start = tape.place();
                let ends = |token: &Token| token.is(":") || token.name() == Some("lambda");
                let length = (0..MAX_DECLARATION).find(|ahead| tape.ahead(*ahead).is_none_or(ends));
                if !self.is_own_function(tape, start.checked_sub(3)) {
                    let end = start + length.unwrap_or(MAX_DECLARATION);
                    self.bind_parameters(tape.between(start.saturating_sub(1), end));
                }
                true
            }
            (Language::Node, "const" | "let" | "var") => self.destructuring(tape),
            (Language::Node, "import") => self.node_import(tape),
            (Language::Node, "function") => {
                tape.next();
                tape.take("*");
                let name = tape.any_name();
                self.definition(tape, name)
            }
            (Language::Python | Language::Node, "return" | "yield") => self.gives(tape, name, in_brackets),
            (_, "class" | "module") => {
                self.names.changed |= !self.classes.are_there;
                self.classes.are_there = true;
                false
            }
            (Language::Perl, "for" | "foreach") => self.perl_loop(tape),
            (Language::Perl, "my" | "our" | "local") if tape.ahead_is(1, "(") => self.perl_list(tape),
            (Language::Perl, "sub" | "package") => {
                tape.next();
                if tape.name().is_some() {
                    tape.next();
                }
                true
            }
            (Language::Perl, "use" | "no") => {
                tape.next();
                while tape.name().is_some() || tape.is("::") {
                    tape.next();
                }
                true
            }
            (Language::Perl, "do") => {
                let is_block = tape.ahead_is(1, "{");
                if is_block {
                    tape.next();
                }
                is_block
            }
            (Language::Python | Language::Ruby, _) if tape.ahead_is(1, ",") && !in_brackets => self.several(tape),
            (Language::Node, _) => self.node_parameter(tape),
            _ => false,
        };
        if !is_declared {
            tape.back_to(start);
        }
        is_declared
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
    fn loop_over(&mut self, tape: &mut Tape<'_>) -> bool {
        self.loop_values(tape).is_some()
    }

    /// The same; gives what it goes through.
    fn loop_values(&mut self, tape: &mut Tape<'_>) -> Option<Value> {
        tape.next();
        let mut names = Vec::new();
        while !tape.take_name("in") {
            if names.len() > MAX_DECLARATION {
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
    fn element_of(&self, values: &Value) -> Value {
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
        if !name.is_some_and(|name| self.functions.contains_key(name)) {
            self.bind_parameters(tape.between(start, tape.place()));
        }
        true
    }

    /// The parameters of one of the text's own functions are what a call gives them.
    pub(super) fn call_own(&mut self, parameters: &[Parameter], arguments: &Arguments) {
        let mut given = arguments.positional.iter();
        let is_parameter = |name: &String| parameters.iter().any(|parameter| parameter.name == *name);
        let takes_others = parameters.iter().any(|parameter| parameter.takes == Takes::Named);
        // What goes on to other functions under names that nobody follows.
        let is_followed =
            arguments.named.iter().all(|(name, _)| is_parameter(name) || takes_others && !name.is_empty());
        for parameter in parameters {
            let value = match parameter.takes {
                Takes::Rest => Value::List(given.by_ref().cloned().collect()),
                Takes::Named => {
                    let others = arguments.named.iter().filter(|(name, _)| !is_parameter(name));
                    Value::Record(others.cloned().collect())
                }
                Takes::One => match given.next().or_else(|| arguments.named(&parameter.name)) {
                    Some(value) => value.clone(),
                    // Nothing is done with what is nothing.
                    None if is_followed && is_nothing(&parameter.default) => continue,
                    None => self.hole(&parameter.default),
                },
            };
            self.bind(&parameter.name, if is_followed { value } else { Value::Unknown });
        }
    }

    pub(super) fn bind_parameters(&mut self, tokens: &[Token]) {
        let mut first = self.iterated.take();
        let mut tokens = tokens;
        // `({a, b: c}, d)`
        if let (Some(value), [open, brace, ..]) = (&first, tokens)
            && open.is("(")
            && brace.is("{")
        {
            let value = value.clone();
            let end = tokens.iter().position(|token| token.is("}")).map_or(tokens.len(), |place| place + 1);
            self.bind_members(tokens.get(1..end).unwrap_or_default(), &value);
            tokens = tokens.get(end..).unwrap_or_default();
            first = None;
        }
        let mut before: Option<&Token> = None;
        for token in tokens {
            let starts = before.is_some_and(|before| match &before.kind {
                Kind::Mark(mark) => matches!(*mark, "(" | "," | "*" | "**" | "{" | "[" | "..." | "|" | "&"),
                Kind::Name(name) => name == "lambda",
                _ => false,
            });
            if let (true, Some(name)) = (starts, token.name()) {
                let value = first.take().unwrap_or(Value::Unknown);
                self.bind(name, value);
            }
            before = Some(token);
        }
    }

    /// Ruby's `|name|` behind the start of a block, or `->(name)`.
    pub(super) fn binds_parameters(&mut self, tape: &mut Tape<'_>, mark: &str) -> bool {
        if self.language != Language::Ruby {
            return false;
        }
        let start = tape.place();
        if mark == "->" && tape.is("(") {
            let length = (0..64).find(|ahead| tape.ahead_is(*ahead, ")")).unwrap_or(64);
            self.bind_parameters(tape.between(start, start + length));
            return false;
        }
        let opener = start.checked_sub(2).map(|place| tape.between(place, place + 1)).and_then(<[Token]>::first);
        let opens = opener.is_some_and(|token| token.is("{") || token.name() == Some("do"));
        if mark != "|" || !opens {
            return false;
        }
        while tape.peek().is_some() && !tape.take("|") {
            tape.next();
        }
        self.bind_parameters(tape.between(start - 1, tape.place()));
        true
    }

    /// `a, b = …`.
    fn several(&mut self, tape: &mut Tape<'_>) -> bool {
        let mut names = Vec::new();
        loop {
            tape.take("*");
            let Some(name) = tape.any_name() else { return false };
            names.push(name);
            if names.len() > MAX_DECLARATION {
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
            if tape.place() - start > MAX_DECLARATION {
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

    /// `{a, b: c}`, as far as it is no more than that.
    fn bind_members(&mut self, pattern: &[Token], value: &Value) {
        let inside = pattern.get(1..pattern.len().saturating_sub(1)).unwrap_or_default();
        let is_plain = |token: &Token| matches!(token.kind, Kind::Name(_) | Kind::Mark("," | ":") | Kind::Newline);
        if !pattern.first().is_some_and(|token| token.is("{")) || !inside.iter().all(is_plain) {
            self.escape(Some(value));
            for name in pattern.iter().filter_map(Token::name) {
                self.bind(name, Value::Unknown);
            }
            return;
        }
        for entry in inside.split(|token| token.is(",")) {
            let mut names = entry.iter().filter_map(Token::name);
            if let Some(key) = names.next() {
                let member = match self.member(value.clone(), key) {
                    thing @ (Value::Thing(_) | Value::Texts(_)) => thing,
                    _ => Value::Unknown,
                };
                self.bind(names.next().unwrap_or(key), member);
            }
        }
    }

    /// Whether one of the text's own functions is defined under the name at a place: `name = …`.
    pub(super) fn is_own_function(&self, tape: &Tape<'_>, name: Option<usize>) -> bool {
        let tokens = name.map(|name| tape.between(name, name + 2)).unwrap_or_default();
        match tokens {
            [name, sign] if sign.is("=") => name.name().is_some_and(|name| self.functions.contains_key(name)),
            _ => false,
        }
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

    /// `for my $name (values)`.
    fn perl_loop(&mut self, tape: &mut Tape<'_>) -> bool {
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
