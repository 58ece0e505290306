//! What is done with a value: its members, its elements, its calls.

use super::Language;
use super::arguments::Arguments;
use super::function_effect::FunctionEffect;
use super::reader::Reader;
use super::statement_order::StatementOrder;
use super::tape::{MAX_LOOKAHEAD, Tape};
use super::token::{Kind, Token};
use super::value::{SOME_WORD, Value, entry};

const CHANGING_METHODS: &[&str] = &[
    "append",
    "extend",
    "insert",
    "push",
    "unshift",
    "splice",
    "concat",
    "pop",
    "shift",
    "remove",
    "reverse",
    "sort",
    "fill",
    "update",
    "setdefault",
    "clear",
    "__setitem__",
];

/// Texts of Ruby can be changed in their places.
const CHANGING_TEXT_METHODS: &[&str] = &["replace", "insert", "prepend", "setbyte", "clear", "force_encoding"];

/// Longer dotted names mean nothing.
const LONGEST_NAME: usize = 128;

/// Members that give a function as a value.
const REFLECTING: &[&str] = &["can", "method", "public_method", "singleton_method", "instance_method"];

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

/// How far a chain of members, elements and calls was read.
struct Chain<'n> {
    value: Value,
    /// The variable that it begins with.
    root: Option<&'n str>,
    /// Whether it reached an element of that variable.
    is_element: bool,
    /// Whether an arrow was read last, so that a bracket belongs to the value even behind white space.
    after_arrow: bool,
}

impl Chain<'_> {
    fn take_value(&mut self) -> Value {
        std::mem::replace(&mut self.value, Value::Unknown)
    }
}

impl Reader {
    /// What is called on a value, member by member.
    pub(super) fn chain(&mut self, tape: &mut Tape<'_>, value: Value, root: Option<&str>) -> Value {
        let mut chain = Chain { value, root, is_element: false, after_arrow: false };
        loop {
            self.spend(1, tape);
            self.skip_to_member(tape);
            if !self.link(tape, &mut chain) {
                break;
            }
        }
        if self.dialect.bare_calls && self.is_function(&chain.value) {
            self.note_changes(tape, &chain.value, root);
            let arguments = self.bare_arguments(tape, &chain.value);
            chain.value = self.apply(chain.take_value(), &arguments);
        }
        let is_own = root.and_then(|root| self.names.get(root)).is_some_and(|value| !matches!(value, Value::Thing(_)));
        if let (Some(root), true) = (root, is_own && chain.is_element && tape.is("=")) {
            self.bind(root, Value::Unknown);
        }
        if let Value::Method(receiver, _) = &chain.value {
            self.note_changes(tape, &chain.value, root);
            self.iterated = iteration(&chain.value);
            return if receiver.is_path() { Value::Path(None) } else { Value::Unknown };
        }
        chain.value
    }

    /// One more member, element or call. False where the chain ends.
    fn link(&mut self, tape: &mut Tape<'_>, chain: &mut Chain<'_>) -> bool {
        let Some(token) = tape.peek() else { return false };
        if let (Kind::Text(literal), Language::Node, false) = (&token.kind, self.language, token.spaced)
            && self.is_function(&chain.value)
        {
            tape.next();
            let text = self.literal(tape, literal);
            let arguments = Arguments { positional: vec![text], ..Arguments::default() };
            chain.value = self.apply(chain.take_value(), &arguments);
            return true;
        }
        let Kind::Mark(mark) = token.kind else { return false };
        let is_tight = !token.spaced || chain.after_arrow;
        let is_perl = self.language == Language::Perl;
        let is_behind_value = chain.after_arrow || chain.is_element || tape.before().is_some_and(is_sigiled);
        let starts_element = is_perl && is_tight && is_behind_value;
        match mark {
            mark if self.is_member_sign(mark) => {
                self.member_link(tape, mark, chain);
                return true;
            }
            "(" if is_tight || !self.dialect.bare_calls || self.is_function(&chain.value) => {
                self.call_link(tape, chain);
            }
            "[" if if is_perl { starts_element } else { is_tight || self.language != Language::Ruby } => {
                chain.value = self.subscript(tape, chain.take_value());
                chain.is_element = true;
            }
            "{" if starts_element => {
                chain.value = self.hash_element(tape, chain.take_value());
                chain.is_element = true;
            }
            _ => return false,
        }
        chain.after_arrow = false;
        true
    }

    /// `value.name`, `value->`.
    fn member_link(&mut self, tape: &mut Tape<'_>, mark: &str, chain: &mut Chain<'_>) {
        let is_perl = self.language == Language::Perl;
        tape.next();
        chain.after_arrow = mark == "->" || mark == "?.";
        let Some(name) = tape.any_name() else { return };
        chain.after_arrow = false;
        chain.is_element |= matches!(chain.value, Value::Record(_)) && !is_perl;
        chain.value = if name.starts_with(['$', '@', '%']) && is_perl {
            self.escape(Some(&chain.value));
            Value::Unknown
        } else {
            self.member(chain.take_value(), name)
        };
    }

    /// `value(arguments)`.
    fn call_link(&mut self, tape: &mut Tape<'_>, chain: &mut Chain<'_>) {
        let callee = chain.take_value();
        let appended = chain.root.filter(|root| self.appends(&callee, root));
        if appended.is_none() {
            self.note_changes(tape, &callee, chain.root);
        }
        self.iterated = iteration(&callee).or_else(|| self.module_awaited(tape, &callee));
        let start = tape.place();
        let arguments = self.arguments(tape, &callee);
        if let (Some(root), Value::Method(_, name)) = (appended, &callee) {
            self.append(root, start, name, &arguments);
        }
        if self.language == Language::Node && tape.is("{") && is_definition(&callee) {
            self.bind_parameters(tape.between(start, tape.place()));
        }
        self.is_discarded = is_statement(tape, &callee, start);
        let rest = match (&callee, number_in(tape.between(start, tape.place()))) {
            (Value::Method(list, name), Some(number)) if name == "slice" && self.spreads() => tail(list, number),
            _ => None,
        };
        chain.value = rest.unwrap_or_else(|| self.apply(callee, &arguments));
        self.is_discarded = false;
    }

    /// `$value{key}`, `$value{…}`.
    fn hash_element(&mut self, tape: &mut Tape<'_>, value: Value) -> Value {
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
        self.index(value, &index)
    }

    /// Whether a call puts something behind the list that a name means.
    fn appends(&self, callee: &Value, root: &str) -> bool {
        let Value::Method(receiver, name) = callee else { return false };
        let is_known = match self.language {
            Language::Python => matches!(name.as_str(), "append" | "extend"),
            Language::Node => name == "push",
            Language::Perl | Language::Ruby => false,
        };
        let is_list = matches!(**receiver, Value::List(_) | Value::OneOf(_));
        is_known && is_list && self.names.get(root) == Some(&**receiver)
    }

    fn append(&mut self, name: &str, place: usize, method: &str, arguments: &Arguments) {
        let more = match (method, arguments.positional.as_slice()) {
            ("extend", [more @ (Value::List(_) | Value::OneOf(_))]) => {
                Some(more.lists().into_iter().flat_map(Value::into_elements).collect())
            }
            ("extend", [Value::Pending]) => Some(vec![Value::Pending]),
            ("extend", _) => None,
            (_, more) => Some(more.to_vec()).filter(|_| arguments.named.is_empty()),
        };
        match more {
            // Where loops do that, nobody knows how often; of names of files, nobody counts how many.
            Some(more) if more.iter().all(|value| matches!(value, Value::Like { .. })) => {
                for value in more {
                    self.bind(name, Value::List(vec![value]));
                }
            }
            Some(more) if more.iter().any(Value::is_pending) => self.bind(name, Value::Pending),
            Some(_) if self.outline.order == StatementOrder::Loops => self.bind(name, Value::Unknown),
            Some(more) if more.iter().all(|value| value.only_text().is_some()) => {
                self.names.append(name, place, more, self.outline.order);
            }
            _ => self.bind(name, Value::Unknown),
        }
    }

    /// A chain may go on in the next line.
    pub(super) fn skip_to_member(&self, tape: &mut Tape<'_>) {
        if matches!(self.language, Language::Node | Language::Ruby)
            && tape.peek().is_some_and(|token| token.kind == Kind::Newline)
            && (tape.ahead_is(1, ".") || tape.ahead_is(1, "?.") || tape.ahead_is(1, "&."))
        {
            tape.next();
        }
    }

    pub(super) fn is_member_sign(&self, mark: &str) -> bool {
        match self.language {
            Language::Python => mark == ".",
            Language::Node => mark == "." || mark == "?.",
            Language::Perl => mark == "->" || mark == "::",
            Language::Ruby => matches!(mark, "." | "&." | "::"),
        }
    }

    /// `[1:]`, `[1..]`
    fn is_slice_mark(&self, token: &Token) -> bool {
        match self.language {
            Language::Python => token.is(":") || token.is("::"),
            Language::Ruby => token.is("..") || token.is("..."),
            Language::Node | Language::Perl => false,
        }
    }

    /// `value[…]`
    fn subscript(&mut self, tape: &mut Tape<'_>, value: Value) -> Value {
        let start = tape.place();
        let index = self.list(tape, "]");
        let tokens = tape.between(start, tape.place());
        let is_slice = tokens.iter().any(|token| self.is_slice_mark(token));
        let counted = number_in(tokens)
            .filter(|_| self.spreads())
            .and_then(|number| if is_slice { tail(&value, number) } else { element_at(&value, number) });
        match counted {
            Some(counted) => counted,
            None if is_slice => self.slice(&value),
            None => self.index(value, &index),
        }
    }

    /// Some of its elements; nobody counts which.
    fn slice(&mut self, value: &Value) -> Value {
        self.escape(Some(value));
        match value {
            Value::Pending => Value::Pending,
            Value::List(values) if values.len() == 1 => value.clone(),
            _ => Value::Unknown,
        }
    }

    pub(super) fn index(&mut self, value: Value, index: &[Value]) -> Value {
        match (&value, index) {
            (Value::Pending, _) => Value::Pending,
            // `Dir["*.rb"]`
            (Value::Thing(name), patterns) if name == "Dir" && self.language == Language::Ruby => {
                let arguments = Arguments { positional: patterns.to_vec(), ..Arguments::default() };
                self.perform(FunctionEffect::Glob, "Dir.glob", &arguments)
            }
            (Value::Thing(_), [index]) if index.only_text().is_some() => {
                self.member(value, index.only_text().unwrap_or_default())
            }
            (Value::Record(entries), [index]) => {
                index.only_text().and_then(|key| entry(entries, key)).cloned().unwrap_or(Value::Unknown)
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
            Value::Thing(thing) if name == "__dict__" || self.is_the_module_itself(&thing, name) => Value::Thing(thing),
            Value::Thing(thing) if thing.len() > LONGEST_NAME => {
                self.escape(Some(&Value::Thing(thing)));
                Value::Unknown
            }
            Value::Thing(thing) => {
                if REFLECTING.contains(&name) && self.dialect.bare_calls {
                    self.escape(Some(&Value::Thing(thing.clone())));
                }
                let full = format!("{thing}.{name}");
                let is_function = self.dialect.function(&thing).is_some_and(|effect| !effect.is_harmless());
                let is_known = self.dialect.function(&full).is_some() || self.dialect.is_telling_module(&full);
                self.found.hidden |= is_function && !is_known && !HARMLESS_MEMBERS.contains(&name);
                self.thing(full)
            }
            value if value.is_path() && self.language == Language::Python && is_property(name) => match name {
                "parent" => value.folder(),
                "name" => value.name(),
                "path" => value.without_path(),
                _ => Value::List(
                    std::iter::successors(Some(value.folder()), |folder| Some(folder.folder()))
                        .take(MOST_PARENTS)
                        .collect(),
                ),
            },
            // What an option is.
            Value::Record(ref entries)
                if self.language == Language::Python && entries.iter().any(|(known, _)| known == name) =>
            {
                self.index(value, &[Value::text(name)])
            }
            // A temporary file by its name.
            Value::Texts(texts) if name == "name" && texts.iter().all(|text| text.starts_with(path::TEMP)) => {
                Value::Texts(texts)
            }
            Value::Like { texts, is_path: false } if name == "stdout" && texts == [SOME_WORD] => {
                Value::Like { texts, is_path: false }
            }
            Value::Pending => Value::Pending,
            Value::Method(receiver, _) if receiver.is_path() => {
                Value::Method(Box::new(Value::Path(None)), name.to_owned())
            }
            Value::Method(..) => Value::Method(Box::new(Value::Unknown), name.to_owned()),
            value => Value::Method(Box::new(value), name.to_owned()),
        }
    }

    /// Members of a module that have all that it has.
    fn is_the_module_itself(&self, module: &str, member: &str) -> bool {
        match self.language {
            Language::Node => member == "default" || (module == "fs" && member == "promises"),
            Language::Ruby => module == "FileUtils" && member == "Verbose",
            Language::Python | Language::Perl => false,
        }
    }

    /// `import('fs').then(name => …)`: the module, which is then the first parameter of the function that stands here.
    /// Where none does, whoever gets it may do anything with it.
    fn module_awaited(&mut self, tape: &Tape<'_>, callee: &Value) -> Option<Value> {
        let Value::Thing(name) = callee else { return None };
        let module = name.strip_suffix(".then").filter(|_| self.language == Language::Node)?;
        let tells = self.dialect.is_telling_module(module)
            || self.effect_of(module).is_some_and(|effect| !effect.is_harmless());
        let module = Some(Value::Thing(module.to_owned())).filter(|_| tells);
        if !starts_function(tape) {
            self.escape(module.as_ref());
            return None;
        }
        module
    }

    /// Whether it is called wherever it stands.
    pub(super) fn is_function(&self, value: &Value) -> bool {
        match value {
            Value::Thing(name) => self.effect_of(name).is_some() || self.is_sending(name),
            Value::Method(receiver, name) => receiver.is_path() || self.is_sending(name),
            _ => false,
        }
    }

    /// Changes the variable that a call is made on, or its first argument, where the call does that.
    pub(super) fn note_changes(&mut self, tape: &Tape<'_>, callee: &Value, root: Option<&str>) {
        match callee {
            Value::Method(receiver, name) => {
                let changes = matches!(**receiver, Value::List(_) | Value::OneOf(_) | Value::Record(_))
                    && CHANGING_METHODS.contains(&name.as_str())
                    || name.ends_with('!')
                    || matches!(**receiver, Value::Texts(_)) && name == "concat"
                    || self.language == Language::Ruby && CHANGING_TEXT_METHODS.contains(&name.as_str());
                // What a module gives is not the module.
                let is_module = |root: &str| matches!(self.names.get(root), Some(Value::Thing(_)));
                if let (Some(root), true) = (root.filter(|root| !is_module(root)), changes) {
                    self.bind(root, Value::Unknown);
                }
            }
            Value::Thing(name) if matches!(self.effect_of(name), Some(FunctionEffect::Changes)) => {
                let first =
                    (0..3).filter_map(|ahead| tape.ahead(ahead)?.name()).find(|name| name.starts_with(['$', '@']));
                if let Some(first) = first {
                    self.bind(first, Value::Unknown);
                }
            }
            _ => {}
        }
    }
}

/// Whether the first argument, behind the parenthesis here, is a function: `name => …`, `(names) => …`, `function (names) …`.
fn starts_function(tape: &Tape<'_>) -> bool {
    let is_async = tape.ahead(1).and_then(Token::name) == Some("async");
    let first = if is_async { 2 } else { 1 };
    let Some(token) = tape.ahead(first) else { return false };
    if let Some(name) = token.name() {
        return name == "function" || tape.ahead_is(first + 1, "=>");
    }
    let mut depth = 0_usize;
    for ahead in first..first + MAX_LOOKAHEAD {
        match tape.ahead(ahead).map(|token| &token.kind) {
            Some(Kind::Mark("(" | "[" | "{")) => depth += 1,
            Some(Kind::Mark(")" | "]" | "}")) => depth = depth.saturating_sub(1),
            Some(_) => {}
            None => return false,
        }
        if depth == 0 {
            return token.is("(") && tape.ahead_is(ahead + 1, "=>");
        }
    }
    false
}

/// Whether a call of a dotted name, whose arguments began at a place and end here, is a statement of its own.
fn is_statement(tape: &Tape<'_>, callee: &Value, arguments: usize) -> bool {
    let Value::Thing(_) = callee else { return false };
    let ends = |token: &Token| token.kind == Kind::Newline || token.is(";");
    let mut before = tape.between(0, arguments).iter().rev();
    // Names and points by turns.
    let first = loop {
        match (before.next().and_then(Token::name), before.next()) {
            (Some(_), Some(point)) if point.is(".") => {}
            (Some(_), first) => break first,
            (None, _) => return false,
        }
    };
    tape.peek().is_none_or(ends) && first.is_none_or(|token| ends(token) || token.is(":"))
}

/// The number in `[1]`, `[1:]` or `(1)`.
fn number_in(tokens: &[Token]) -> Option<usize> {
    match tokens {
        [_, Token { kind: Kind::Number(number), .. }, _] => *number,
        [_, Token { kind: Kind::Number(number), .. }, sign, _] if sign.is(":") => *number,
        _ => None,
    }
}

/// The elements of a list each of which is one: files that are found, and what nobody knows, may be any number.
fn counted(list: &Value) -> Option<&[Value]> {
    let is_one = |value: &Value| matches!(value, Value::Texts(_) | Value::Path(_) | Value::Instance | Value::Record(_));
    match list {
        Value::List(values) if values.iter().all(is_one) => Some(values),
        _ => None,
    }
}

fn element_at(list: &Value, number: usize) -> Option<Value> {
    counted(list)?.get(number).cloned()
}

/// What is left behind so many.
fn tail(list: &Value, number: usize) -> Option<Value> {
    counted(list).map(|values| Value::List(values.get(number..).unwrap_or_default().to_vec()))
}

/// More folders around a path are not looked at.
const MOST_PARENTS: usize = 4;

/// What a path object has, and is not called.
fn is_property(member: &str) -> bool {
    matches!(member, "parent" | "parents" | "name" | "path")
}

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
