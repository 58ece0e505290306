//! Goes through the tokens, works out what expressions are worth and notes what calls do.
//!
//! It goes through them several times: names are given every value that is assigned to them anywhere, and what was found
//! counts when that no longer changes.

use super::deed::Deed;
use super::dialect::Dialect;
use super::lex::lex;
use super::names::Names;
use super::tape::Tape;
use super::token::{Kind, Literal, Part, Token, Usage};
use super::value::Value;
use super::{Access, Language, MAX_DEPTH, OneLiner, Spawn};

/// After these many rounds, names that still change are given up; and the text after so many more.
const ROUNDS_TO_SETTLE: usize = 3;
const MAX_ROUNDS: usize = 8;

/// Expressions and bytes of constants, over all rounds.
const MAX_WORK: usize = 4_000_000;

/// What stands behind a statement of Perl or Ruby and belongs to no argument.
const MODIFIERS: &[&str] =
    &["if", "unless", "while", "until", "for", "foreach", "or", "and", "rescue", "end", "do", "then"];

pub(super) struct Reader {
    pub(super) language: Language,
    pub(super) dialect: &'static Dialect,
    pub(super) names: Names,
    pub(super) found: Found,
    /// What the function that is read next goes through.
    pub(super) iterated: Option<Value>,
    pub(super) depth: usize,
    work: usize,
}

/// What one round found.
#[derive(Debug, Default)]
pub(super) struct Found {
    touches: Vec<(Access, String)>,
    spawns: Vec<Spawn>,
    pub(super) hidden: bool,
    pub(super) moved: bool,
}

impl Found {
    pub(super) fn touch(&mut self, access: Access, path: String) {
        let touch = (access, path);
        if !self.touches.contains(&touch) {
            self.touches.push(touch);
        }
    }

    pub(super) fn spawn(&mut self, spawn: Spawn) {
        if !self.spawns.contains(&spawn) {
            self.spawns.push(spawn);
        }
    }
}

pub(super) fn read(language: Language, text: &str) -> OneLiner {
    let lexed = lex(language, text);
    let mut reader = Reader {
        language,
        dialect: Dialect::of(language),
        names: Names::default(),
        found: Found::default(),
        iterated: None,
        depth: 0,
        work: 0,
    };
    let mut settled = false;
    for round in 0..MAX_ROUNDS {
        reader.found = Found::default();
        reader.names.changed = false;
        reader.names.settling = round >= ROUNDS_TO_SETTLE;
        reader.all(&mut Tape::new(&lexed.tokens));
        settled = !reader.names.changed;
        if settled {
            break;
        }
    }
    let Found { touches, spawns, hidden, moved } = reader.found;
    // Where it goes is not followed, so what it then names from there is not known.
    let astray = moved && (!spawns.is_empty() || touches.iter().any(|(_, path)| !path.starts_with(['/', '~'])));
    OneLiner { touches, spawns, complete: lexed.sound && settled && !hidden && !astray }
}

impl Reader {
    /// Every statement; the value of the last one.
    pub(super) fn all(&mut self, tape: &mut Tape<'_>) -> Value {
        let mut last = Value::Unknown;
        loop {
            if let Some(value) = self.statements(tape) {
                last = value;
            }
            // A bracket that was never opened: this is not the text it seems to be.
            if tape.next().is_none() {
                return last;
            }
            self.found.hidden = true;
        }
    }

    /// Up to a closing bracket.
    fn statements(&mut self, tape: &mut Tape<'_>) -> Option<Value> {
        let mut last = None;
        loop {
            match tape.peek()?.kind {
                Kind::Mark(")" | "]" | "}") => return last,
                Kind::Newline | Kind::Mark(";" | "," | ":" | "=>") => {
                    tape.next();
                }
                _ => last = Some(self.sequence(tape, false)),
            }
            if tape.peek().is_none() {
                return last;
            }
        }
    }

    /// Takes work from what is left. Without any, nothing more is read.
    pub(super) fn spend(&mut self, work: usize, tape: &mut Tape<'_>) {
        self.work += work;
        if self.work > MAX_WORK || self.depth > MAX_DEPTH {
            self.found.hidden = true;
            tape.finish();
        }
    }

    /// Operands and operators up to a separator or closing bracket. Its value, where it is one that can be told.
    pub(super) fn sequence(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        self.depth += 1;
        let value = self.sequence_here(tape, in_brackets);
        self.depth -= 1;
        value
    }

    fn sequence_here(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        let mut result: Option<Value> = None;
        let mut spoiled = false;
        loop {
            self.spend(1, tape);
            if in_brackets {
                tape.skip_newlines();
            }
            let Some(token) = tape.peek() else { break };
            match &token.kind {
                Kind::Newline | Kind::Mark(";" | "," | ":" | ")" | "]" | "}") => break,
                Kind::Mark("=>") if self.dialect.bare_calls => break,
                Kind::Mark("(" | "[" | "{") | Kind::Text(_) | Kind::Number => {
                    let value = self.operand(tape, in_brackets);
                    spoiled |= self.put(&mut result, value);
                }
                Kind::Mark(mark) => {
                    tape.next();
                    let left = result.take();
                    let was_empty = left.is_none();
                    let combined = self.operator(tape, mark, left, in_brackets);
                    spoiled |= combined.is_none() && !(was_empty && *mark == "@");
                    result = combined;
                }
                Kind::Name(name) => {
                    let name = name.as_str();
                    let is_key = tape.ahead_is(1, "=>") || tape.ahead_is(1, "=");
                    if self.dialect.bare_calls && MODIFIERS.contains(&name) && !is_key {
                        if result.is_some() {
                            break;
                        }
                        if !matches!(name, "for" | "foreach" | "do") {
                            tape.next();
                            continue;
                        }
                    }
                    if self.dialect.prefixes.contains(&name) && !is_key && !self.declares(tape) {
                        tape.next();
                        continue;
                    }
                    let value = self.operand(tape, in_brackets);
                    spoiled |= self.put(&mut result, value);
                }
            }
        }
        match result {
            Some(value) if !spoiled => value,
            value => {
                self.escape(value.as_ref());
                Value::Unknown
            }
        }
    }

    /// Whether there was a value already, so that both together mean something else.
    fn put(&mut self, result: &mut Option<Value>, value: Value) -> bool {
        let Some(before) = result.replace(value) else { return false };
        self.escape(Some(&before));
        let after = result.take();
        self.escape(after.as_ref());
        *result = Some(Value::Unknown);
        true
    }

    /// Behind an operator. None where the result cannot be told.
    fn operator(&mut self, tape: &mut Tape<'_>, mark: &str, left: Option<Value>, in_brackets: bool) -> Option<Value> {
        let is_path = |value: &Value| matches!(value, Value::Path(_));
        if self.binds_parameters(tape, mark) {
            return left;
        }
        match left {
            Some(left) if mark == self.dialect.concat => {
                let right = self.right(tape, in_brackets);
                self.spend(left.only_text().map_or(0, str::len), tape);
                Some(match (left, right) {
                    (Value::List(mut left), Value::List(right)) => {
                        left.extend(right);
                        Value::List(left)
                    }
                    (left, right) if is_path(&left) => left.joined(&right, "/").into_path(),
                    (left, right) => {
                        self.escape(Some(&left));
                        self.escape(Some(&right));
                        left.joined(&right, "")
                    }
                })
            }
            Some(left) if mark == "/" && self.language == Language::Python => {
                let right = self.right(tape, in_brackets);
                Some(if is_path(&left) || is_path(&right) {
                    left.joined(&right, "/").into_path()
                } else {
                    Value::Unknown
                })
            }
            // The other side counts only where this one is empty.
            Some(Value::Texts(texts)) if matches!(mark, "||" | "//" | "??") => {
                let right = self.right(tape, in_brackets);
                self.escape(Some(&right));
                Some(Value::Texts(texts))
            }
            None if mark == "\\" => {
                let value = self.right(tape, in_brackets);
                self.escape(Some(&value));
                Some(Value::Descriptor)
            }
            left => {
                // A function called through a name that is put together.
                let by_name = tape.is("{") || tape.name().is_some_and(|name| name.starts_with('$'));
                self.found.hidden |= left.is_none() && mark == "&" && self.language == Language::Perl && by_name;
                self.escape(left.as_ref());
                None
            }
        }
    }

    fn right(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        tape.skip_newlines();
        match tape.peek().map(|token| &token.kind) {
            Some(Kind::Name(_) | Kind::Text(_) | Kind::Number | Kind::Mark("(" | "[" | "{")) => {
                self.operand(tape, in_brackets)
            }
            _ => Value::Unknown,
        }
    }

    /// One operand with everything that is called on it.
    fn operand(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        self.depth += 1;
        self.spend(1, tape);
        let value = self.operand_here(tape, in_brackets);
        self.depth -= 1;
        value
    }

    fn operand_here(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        let Some(token) = tape.peek() else { return Value::Unknown };
        let start = tape.place();
        let mut root = None;
        let value = match &token.kind {
            Kind::Text(literal) => {
                tape.next();
                self.adjacent(tape, literal)
            }
            Kind::Number => {
                tape.next();
                Value::Descriptor
            }
            Kind::Mark("(") => {
                let value = self.group(tape);
                if self.language == Language::Node && tape.is("=>") {
                    self.bind_parameters(tape.between(start, tape.place()));
                    return Value::Unknown;
                }
                value
            }
            Kind::Mark("[") => {
                let values = self.list(tape, "]");
                for value in &values {
                    self.escape(Some(value));
                }
                Value::List(values)
            }
            Kind::Mark("{") => self.braces(tape),
            Kind::Name(name) => {
                if self.declaration(tape, in_brackets) {
                    return Value::Unknown;
                }
                if let Some(value) = self.assignment(tape, name, in_brackets) {
                    return value;
                }
                tape.next();
                root = Some(self.variable(tape, name));
                self.named(tape, name, root.as_deref().unwrap_or(name))
            }
            _ => {
                tape.next();
                return Value::Unknown;
            }
        };
        self.chain(tape, value, root.as_deref())
    }

    /// The variable that a name belongs to: an element of a Perl array has the sigil of the element.
    fn variable(&self, tape: &Tape<'_>, name: &str) -> String {
        let is_tight = tape.peek().is_some_and(|token| !token.spaced);
        match name.strip_prefix('$') {
            Some(bare) if self.language == Language::Perl && is_tight && tape.is("[") => format!("@{bare}"),
            Some(bare) if self.language == Language::Perl && is_tight && tape.is("{") && bare != "ENV" => {
                format!("%{bare}")
            }
            _ => name.to_owned(),
        }
    }

    fn named(&mut self, tape: &Tape<'_>, name: &str, variable: &str) -> Value {
        if self.dialect.bare_calls && tape.is("=>") {
            return Value::text(name);
        }
        if name == "<>" {
            // Without an assignment these are the arguments of the call, which its caller sees.
            if let Some(files) = self.names.get("@ARGV").cloned() {
                self.touch(Access::Read, Some(&files));
            }
            return Value::Unknown;
        }
        self.lookup(variable)
    }

    pub(super) fn lookup(&self, name: &str) -> Value {
        match self.names.get(name) {
            Some(value) => value.clone(),
            None => self.thing(name.to_owned()),
        }
    }

    /// What a full name means by itself.
    pub(super) fn thing(&self, name: String) -> Value {
        if let Some((_, text)) = self.dialect.constants.iter().find(|(known, _)| *known == name) {
            return Value::text(*text);
        }
        if self.dialect.streams.contains(&name.as_str()) { Value::Descriptor } else { Value::Thing(name) }
    }

    /// A literal, and those right behind it where the language puts them together.
    fn adjacent(&mut self, tape: &mut Tape<'_>, literal: &Literal) -> Value {
        let mut value = self.literal(tape, literal);
        if matches!(self.language, Language::Python | Language::Ruby) && literal.usage == Usage::Text {
            while let Some(Token { kind: Kind::Text(literal), .. }) = tape.peek() {
                tape.next();
                let next = self.literal(tape, literal);
                self.spend(value.only_text().map_or(0, str::len), tape);
                value = value.joined(&next, "");
            }
        }
        value
    }

    fn literal(&mut self, tape: &mut Tape<'_>, literal: &Literal) -> Value {
        let mut value = Value::text("");
        for part in &literal.parts {
            let next = match part {
                Part::Constant(text) => Value::text(text.clone()),
                Part::Hole(tokens) => self.hole(tokens),
            };
            self.spend(value.only_text().map_or(0, str::len), tape);
            value = value.joined(&next, "");
        }
        match literal.usage {
            Usage::Text => value,
            Usage::Pattern => Value::Unknown,
            Usage::Words => match value.only_text() {
                Some(text) => Value::List(text.split_whitespace().map(Value::text).collect()),
                None => Value::Unknown,
            },
            Usage::Command => {
                self.shell(Some(&value));
                Value::Unknown
            }
        }
    }

    fn hole(&mut self, tokens: &[Token]) -> Value {
        self.depth += 1;
        let mut tape = Tape::new(tokens);
        self.spend(1, &mut tape);
        let value = self.sequence(&mut tape, true);
        let value = match tape.peek() {
            None => value,
            Some(_) => {
                self.escape(Some(&value));
                // A format, or more statements.
                while tape.peek().is_some() {
                    self.statements(&mut tape);
                    tape.next();
                }
                Value::Unknown
            }
        };
        self.depth -= 1;
        value
    }

    /// In parentheses: a value, or several.
    fn group(&mut self, tape: &mut Tape<'_>) -> Value {
        let mut values = self.list(tape, ")");
        let has_comma = tape
            .place()
            .checked_sub(2)
            .is_some_and(|place| tape.between(place, place + 1).iter().any(|token| token.is(",")));
        match (values.len(), self.language) {
            (1, Language::Python) if has_comma => Value::List(values),
            (1, _) => values.pop().unwrap_or(Value::Unknown),
            // The comma operator.
            (_, Language::Node) => values.pop().unwrap_or(Value::Unknown),
            _ => {
                for value in &values {
                    self.escape(Some(value));
                }
                Value::List(values)
            }
        }
    }

    /// From an opening bracket to behind the closing one.
    fn list(&mut self, tape: &mut Tape<'_>, close: &str) -> Vec<Value> {
        tape.next();
        let mut values = Vec::new();
        loop {
            tape.skip_newlines();
            match tape.peek().map(|token| &token.kind) {
                Some(Kind::Mark(mark)) if *mark == close => {
                    tape.next();
                    return values;
                }
                Some(Kind::Mark("," | ";" | ":" | "=>")) => {
                    tape.next();
                }
                None | Some(Kind::Mark(")" | "]" | "}")) => {
                    self.found.hidden = true;
                    return values;
                }
                Some(_) => values.push(self.sequence(tape, true)),
            }
        }
    }

    /// An object, a hash or a block.
    pub(super) fn braces(&mut self, tape: &mut Tape<'_>) -> Value {
        tape.next();
        let mut entries = Vec::new();
        loop {
            tape.skip_newlines();
            let key = match tape.peek().map(|token| &token.kind) {
                None | Some(Kind::Mark(")" | "]")) => {
                    self.found.hidden = true;
                    break;
                }
                Some(Kind::Mark("}")) => {
                    tape.next();
                    break;
                }
                Some(Kind::Mark(";" | "," | ":" | "=>")) => {
                    tape.next();
                    continue;
                }
                Some(Kind::Name(name)) => Some(name.clone()),
                Some(Kind::Text(Literal { parts, usage: Usage::Text })) => match parts.as_slice() {
                    [Part::Constant(text)] => Some(text.clone()),
                    _ => None,
                },
                Some(_) => None,
            };
            match key {
                Some(key) if tape.ahead_is(1, ":") || tape.ahead_is(1, "=>") && self.dialect.bare_calls => {
                    tape.next();
                    tape.next();
                    tape.skip_newlines();
                    let value = self.sequence(tape, false);
                    self.escape(Some(&value));
                    entries.push((key, value));
                }
                _ => {
                    let value = self.sequence(tape, false);
                    self.escape(Some(&value));
                }
            }
        }
        Value::Record(entries)
    }

    /// What is called on a value, member by member.
    fn chain(&mut self, tape: &mut Tape<'_>, mut value: Value, root: Option<&str>) -> Value {
        let mut is_element = false;
        let mut arrow = false;
        loop {
            self.spend(1, tape);
            self.skip_to_member(tape);
            let Some(token) = tape.peek() else { break };
            let Kind::Mark(mark) = token.kind else { break };
            let is_tight = !token.spaced || arrow;
            let is_perl = self.language == Language::Perl;
            let starts_element = is_perl && is_tight && (arrow || is_element || tape.before().is_some_and(is_sigiled));
            match mark {
                "." | "?." | "&." | "::" | "->" if self.is_member_sign(mark) => {
                    tape.next();
                    arrow = mark == "->" || mark == "?.";
                    if let Some(name) = tape.any_name() {
                        arrow = false;
                        value = if name.starts_with(['$', '@', '%']) && is_perl {
                            self.escape(Some(&value));
                            Value::Unknown
                        } else {
                            self.member(value, name)
                        };
                    }
                    continue;
                }
                "(" if is_tight || !self.dialect.bare_calls || self.is_function(&value) => {
                    self.note_changes(tape, &value, root);
                    self.iterated = iteration(&value);
                    let start = tape.place();
                    let arguments = self.arguments(tape, &value);
                    if self.language == Language::Node && tape.is("{") && is_definition(&value) {
                        self.bind_parameters(tape.between(start, tape.place()));
                    }
                    value = self.apply(value, &arguments);
                }
                "[" if if is_perl { starts_element } else { is_tight || self.language != Language::Ruby } => {
                    let index = self.list(tape, "]");
                    value = self.index(value, &index);
                    is_element = true;
                }
                "{" if starts_element => {
                    let key = tape.ahead(1).and_then(Token::name).filter(|_| tape.ahead_is(2, "}"));
                    let index = match key {
                        Some(key) if !key.starts_with('$') => {
                            for _ in 0..3 {
                                tape.next();
                            }
                            vec![Value::text(key)]
                        }
                        _ => self.list(tape, "}"),
                    };
                    value = self.index(value, &index);
                    is_element = true;
                }
                _ => break,
            }
            arrow = false;
        }
        if self.dialect.bare_calls && self.is_function(&value) {
            self.note_changes(tape, &value, root);
            let arguments = self.bare_arguments(tape, &value);
            value = self.apply(value, &arguments);
        }
        if let (Some(root), true) = (root, is_element && tape.is("=")) {
            self.bind(root, Value::Unknown);
        }
        match value {
            Value::Method(receiver, name) => {
                self.iterated = iteration(&Value::Method(receiver.clone(), name));
                if matches!(*receiver, Value::Path(_)) { Value::Path(None) } else { Value::Unknown }
            }
            value => value,
        }
    }

    /// A chain may go on in the next line.
    fn skip_to_member(&self, tape: &mut Tape<'_>) {
        if matches!(self.language, Language::Node | Language::Ruby)
            && tape.peek().is_some_and(|token| token.kind == Kind::Newline)
            && (tape.ahead_is(1, ".") || tape.ahead_is(1, "?.") || tape.ahead_is(1, "&."))
        {
            tape.next();
        }
    }

    fn is_member_sign(&self, mark: &str) -> bool {
        match self.language {
            Language::Python => mark == ".",
            Language::Node => mark == "." || mark == "?.",
            Language::Perl => mark == "->" || mark == "::",
            Language::Ruby => matches!(mark, "." | "&." | "::"),
        }
    }

    fn index(&mut self, value: Value, index: &[Value]) -> Value {
        match (&value, index) {
            (Value::Thing(_), [index]) if index.only_text().is_some() => {
                self.member(value, index.only_text().unwrap_or_default())
            }
            (Value::Record(entries), [index]) => {
                let key = index.only_text();
                entries
                    .iter()
                    .find(|(known, _)| Some(known.as_str()) == key)
                    .map_or(Value::Unknown, |(_, value)| value.clone())
            }
            (Value::Thing(_), _) => {
                self.escape(Some(&value));
                Value::Unknown
            }
            (Value::List(values), _) => {
                // Nobody looks into an empty list but to get at what lists can do.
                self.found.hidden |= values.is_empty() && !index.iter().all(|index| *index == Value::Descriptor);
                value.element()
            }
            (_, [index]) if index.only_text().is_some() => self.member(value, index.only_text().unwrap_or_default()),
            _ => Value::Unknown,
        }
    }

    pub(super) fn member(&mut self, value: Value, name: &str) -> Value {
        if matches!(&value, Value::Thing(thing) if thing.is_empty() || thing == "sys.modules") {
            return self.lookup(name);
        }
        // Ways from any object to all there are.
        self.found.hidden |= name.starts_with("__") && self.dialect.telling_methods.contains(&name);
        match value {
            Value::Thing(thing) if name == "__dict__" || (thing == "fs" && name == "promises") => Value::Thing(thing),
            Value::Thing(thing) => {
                let full = format!("{thing}.{name}");
                let is_function = self.dialect.function(&thing).is_some_and(|deed| !deed.is_harmless());
                let is_known = self.dialect.function(&full).is_some() || self.dialect.is_telling_module(&full);
                self.found.hidden |= is_function && !is_known && !HARMLESS_MEMBERS.contains(&name);
                self.thing(full)
            }
            Value::Method(receiver, _) if matches!(*receiver, Value::Path(_)) => {
                Value::Method(Box::new(Value::Path(None)), name.to_owned())
            }
            value => Value::Method(Box::new(value), name.to_owned()),
        }
    }

    /// Where a value goes out of sight, what it can do may be done there.
    pub(super) fn escape(&mut self, value: Option<&Value>) {
        let Some(Value::Thing(name)) = value else { return };
        let is_method = self.path_method(name).is_some();
        let does = self.deed(name).is_some_and(|deed| !deed.is_harmless());
        let is_root = name.is_empty() || name == "sys.modules" || name == "__builtins__";
        self.found.hidden |= is_root || does || is_method || self.dialect.is_telling_module(name);
    }

    /// What a function does, by its name here.
    pub(super) fn deed(&self, name: &str) -> Option<Deed> {
        self.dialect.function(name).or_else(|| {
            let opened = self.names.opened.iter();
            opened.filter_map(|module| self.dialect.function(&format!("{module}.{name}"))).next()
        })
    }

    /// Whether it is called wherever it stands.
    fn is_function(&self, value: &Value) -> bool {
        match value {
            Value::Thing(name) => self.deed(name).is_some() || self.is_sending(name),
            Value::Method(receiver, name) => matches!(**receiver, Value::Path(_)) || self.is_sending(name),
            _ => false,
        }
    }

    /// Changes the variable that a call is made on, or its first argument, where the call does that.
    fn note_changes(&mut self, tape: &Tape<'_>, callee: &Value, root: Option<&str>) {
        match callee {
            Value::Method(receiver, name) => {
                let changes = matches!(**receiver, Value::List(_)) && CHANGING_METHODS.contains(&name.as_str())
                    || name.ends_with('!')
                    || matches!(**receiver, Value::Texts(_)) && name == "concat";
                if let (Some(root), true) = (root, changes) {
                    self.bind(root, Value::Unknown);
                }
            }
            Value::Thing(name) if matches!(self.deed(name), Some(Deed::Changes)) => {
                let first =
                    (0..3).filter_map(|ahead| tape.ahead(ahead)?.name()).find(|name| name.starts_with(['$', '@']));
                if let Some(first) = first {
                    self.bind(first, Value::Unknown);
                }
            }
            _ => {}
        }
    }

    pub(super) fn is_modifier(&self, name: &str) -> bool {
        self.dialect.bare_calls && MODIFIERS.contains(&name)
    }
}

const CHANGING_METHODS: &[&str] = &[
    "append", "extend", "insert", "push", "unshift", "splice", "concat", "pop", "shift", "remove", "reverse", "sort",
    "fill",
];

/// Members of functions that do not call them.
const HARMLESS_MEMBERS: &[&str] = &[
    "__name__",
    "__doc__",
    "__module__",
    "name",
    "length",
    "meta",
    "resolve",
    "main",
    "cache",
    "extensions",
    "prototype",
];

fn is_sigiled(token: &Token) -> bool {
    token.name().is_some_and(|name| name.starts_with('$'))
}

/// What a call goes through, which is then the first parameter of the function that it is given.
fn iteration(callee: &Value) -> Option<Value> {
    match callee {
        Value::Method(receiver, name)
            if matches!(
                name.as_str(),
                "forEach" | "map" | "each" | "each_with_index" | "flatMap" | "filter" | "select"
            ) =>
        {
            Some(receiver.element())
        }
        _ => None,
    }
}

/// Whether parentheses and a block behind it make it a definition.
fn is_definition(callee: &Value) -> bool {
    matches!(callee, Value::Thing(name) if !matches!(name.as_str(), "if" | "while" | "for" | "switch" | "with"))
}
