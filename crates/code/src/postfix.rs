//! Postfix operators: the member accesses, subscripts and calls after a value.

use super::Language;
use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::function_effect::FunctionEffect;
use super::statement_order::StatementOrder;
use super::token::{Kind, Token};
use super::token_cursor::{MAX_LOOKAHEAD, TokenCursor};
use super::value::{Value, WORD_PLACEHOLDER, value_of_key};

const MUTATING_METHODS: &[&str] = &[
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

/// Ruby strings are mutable.
const MUTATING_STRING_METHODS: &[&str] = &["replace", "insert", "prepend", "setbyte", "clear", "force_encoding"];

/// The maximum length of a dotted name. Longer ones are in no table.
const MAX_NAME_BYTES: usize = 128;

/// Members that return a function as a value.
const REFLECTION_MEMBERS: &[&str] = &["can", "method", "public_method", "singleton_method", "instance_method"];

/// Members of functions that neither call nor change the function.
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

/// A value, after the postfix operators that were read so far.
struct PostfixExpression<'n> {
    value: Value,
    /// The variable that the expression begins with.
    root: Option<&'n str>,
    /// True if the value is an element of that variable, or of a part of it.
    is_element: bool,
    /// True after an arrow. A bracket is then a subscript, even after whitespace.
    after_arrow: bool,
}

impl PostfixExpression<'_> {
    fn take_value(&mut self) -> Value {
        std::mem::replace(&mut self.value, Value::Unknown)
    }
}

impl Evaluator {
    /// Evaluates the member accesses, subscripts and calls that follow a value. `root` is the variable that the value
    /// is from.
    pub(super) fn postfix_operators(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        value: Value,
        root: Option<&str>,
    ) -> Value {
        let mut expression = PostfixExpression { value, root, is_element: false, after_arrow: false };
        loop {
            self.spend(1, cursor);
            self.skip_to_member(cursor);
            if !self.postfix_operator(cursor, &mut expression) {
                break;
            }
        }
        if self.dialect.allows_bare_calls && self.is_function(&expression.value) {
            self.forget_if_mutated(cursor, &expression.value, root);
            let arguments = self.unparenthesized_arguments(cursor, &expression.value);
            expression.value = self.apply(expression.take_value(), &arguments);
        }
        let holds_value = root
            .and_then(|root| self.bindings.get(root))
            .is_some_and(|value| !matches!(value, Value::QualifiedName(_)));
        if let (Some(root), true) = (root, holds_value && expression.is_element && cursor.is("=")) {
            self.bind(root, Value::Unknown);
        }
        if let Value::Method(receiver, _) = &expression.value {
            self.forget_if_mutated(cursor, &expression.value, root);
            self.first_parameter = iterated_element(&expression.value);
            return if receiver.is_path() { Value::Path(None) } else { Value::Unknown };
        }
        expression.value
    }

    /// Evaluates one member access, subscript or call. Returns false if none follows.
    fn postfix_operator(&mut self, cursor: &mut TokenCursor<'_>, expression: &mut PostfixExpression<'_>) -> bool {
        let Some(token) = cursor.peek() else { return false };
        if let (Kind::String(literal), Language::JavaScript, false) = (&token.kind, self.language, token.after_space)
            && self.is_function(&expression.value)
        {
            cursor.next();
            let string = self.literal(cursor, literal);
            let arguments = Arguments { positional: vec![string], ..Arguments::default() };
            expression.value = self.apply(expression.take_value(), &arguments);
            return true;
        }
        let Kind::Punct(punct) = token.kind else { return false };
        let is_adjacent = !token.after_space || expression.after_arrow;
        let is_perl = self.language == Language::Perl;
        let follows_value =
            expression.after_arrow || expression.is_element || cursor.previous().is_some_and(is_scalar_variable);
        let starts_perl_element = is_perl && is_adjacent && follows_value;
        match punct {
            punct if self.is_member_operator(punct) => {
                self.member_operator(cursor, punct, expression);
                return true;
            }
            "(" if is_adjacent || !self.dialect.allows_bare_calls || self.is_function(&expression.value) => {
                self.call_operator(cursor, expression);
            }
            "[" if if is_perl { starts_perl_element } else { is_adjacent || self.language != Language::Ruby } => {
                expression.value = self.subscript(cursor, expression.take_value());
                expression.is_element = true;
            }
            "{" if starts_perl_element => {
                expression.value = self.hash_element(cursor, expression.take_value());
                expression.is_element = true;
            }
            _ => return false,
        }
        expression.after_arrow = false;
        true
    }

    /// `value.name`, `value->`.
    fn member_operator(&mut self, cursor: &mut TokenCursor<'_>, punct: &str, expression: &mut PostfixExpression<'_>) {
        let is_perl = self.language == Language::Perl;
        cursor.next();
        expression.after_arrow = punct == "->" || punct == "?.";
        let Some(name) = cursor.take_any_name() else { return };
        expression.after_arrow = false;
        expression.is_element |= matches!(expression.value, Value::Record(_)) && !is_perl;
        expression.value = if name.starts_with(['$', '@', '%']) && is_perl {
            self.escape(Some(&expression.value));
            Value::Unknown
        } else {
            self.member(expression.take_value(), name)
        };
    }

    /// `value(arguments)`.
    fn call_operator(&mut self, cursor: &mut TokenCursor<'_>, expression: &mut PostfixExpression<'_>) {
        let callee = expression.take_value();
        let appended = expression.root.filter(|root| self.appends(&callee, root));
        if appended.is_none() {
            self.forget_if_mutated(cursor, &callee, expression.root);
        }
        self.first_parameter = iterated_element(&callee).or_else(|| self.awaited_module(cursor, &callee));
        let start = cursor.position();
        let arguments = self.arguments(cursor, &callee);
        if let (Some(root), Value::Method(_, name)) = (appended, &callee) {
            self.append(root, start, name, &arguments);
        }
        if self.language == Language::JavaScript && cursor.is("{") && is_definition(&callee) {
            self.bind_parameters(cursor.between(start, cursor.position()));
        }
        self.is_result_discarded = is_statement(cursor, &callee, start);
        let rest = match (&callee, number_in(cursor.between(start, cursor.position()))) {
            (Value::Method(list, name), Some(number)) if name == "slice" && self.has_spread() => {
                elements_from(list, number)
            }
            _ => None,
        };
        expression.value = rest.unwrap_or_else(|| self.apply(callee, &arguments));
        self.is_result_discarded = false;
    }

    /// `$value{key}`, `$value{…}`.
    fn hash_element(&mut self, cursor: &mut TokenCursor<'_>, value: Value) -> Value {
        let key = cursor.ahead(1).and_then(Token::name).filter(|_| cursor.ahead_is(2, "}"));
        let index = match key {
            Some(key) if !key.starts_with('$') => {
                for _ in 0..3 {
                    cursor.next();
                }
                vec![Value::string(key)]
            }
            _ => self.list(cursor, "}"),
        };
        self.index(value, &index)
    }

    /// True if the call appends to a list, and that list is the value of the variable.
    fn appends(&self, callee: &Value, root: &str) -> bool {
        let Value::Method(receiver, name) = callee else { return false };
        let is_known = match self.language {
            Language::Python => matches!(name.as_str(), "append" | "extend"),
            Language::JavaScript => name == "push",
            Language::Perl | Language::Ruby => false,
        };
        let is_list = matches!(**receiver, Value::List(_) | Value::OneOfLists(_));
        is_known && is_list && self.bindings.get(root) == Some(&**receiver)
    }

    fn append(&mut self, name: &str, position: usize, method: &str, arguments: &Arguments) {
        let elements = match (method, arguments.positional.as_slice()) {
            ("extend", [elements @ (Value::List(_) | Value::OneOfLists(_))]) => {
                Some(elements.lists().into_iter().flat_map(Value::into_elements).collect())
            }
            ("extend", [Value::Pending]) => Some(vec![Value::Pending]),
            ("extend", _) => None,
            (_, elements) => Some(elements.to_vec()).filter(|_| arguments.named.is_empty()),
        };
        match elements {
            // A loop may append any number of times. For unknown file names the number does not matter.
            Some(elements) if elements.iter().all(|value| matches!(value, Value::PartlyKnown { .. })) => {
                for value in elements {
                    self.bind(name, Value::List(vec![value]));
                }
            }
            Some(elements) if elements.iter().any(Value::is_pending) => self.bind(name, Value::Pending),
            Some(_) if self.outline.order == StatementOrder::Loops => self.bind(name, Value::Unknown),
            Some(elements) if elements.iter().all(|value| value.only_string().is_some()) => {
                self.bindings.append(name, position, elements, self.outline.order);
            }
            _ => self.bind(name, Value::Unknown),
        }
    }

    /// Skips a newline before a member access.
    pub(super) fn skip_to_member(&self, cursor: &mut TokenCursor<'_>) {
        if matches!(self.language, Language::JavaScript | Language::Ruby)
            && cursor.peek().is_some_and(|token| token.kind == Kind::Newline)
            && (cursor.ahead_is(1, ".") || cursor.ahead_is(1, "?.") || cursor.ahead_is(1, "&."))
        {
            cursor.next();
        }
    }

    pub(super) fn is_member_operator(&self, punct: &str) -> bool {
        match self.language {
            Language::Python => punct == ".",
            Language::JavaScript => punct == "." || punct == "?.",
            Language::Perl => punct == "->" || punct == "::",
            Language::Ruby => matches!(punct, "." | "&." | "::"),
        }
    }

    /// True for the operator in `[1:]` or `[1..]`.
    fn is_slice_operator(&self, token: &Token) -> bool {
        match self.language {
            Language::Python => token.is(":") || token.is("::"),
            Language::Ruby => token.is("..") || token.is("..."),
            Language::JavaScript | Language::Perl => false,
        }
    }

    /// Evaluates `[…]` after a value.
    fn subscript(&mut self, cursor: &mut TokenCursor<'_>, value: Value) -> Value {
        let start = cursor.position();
        let index = self.list(cursor, "]");
        let tokens = cursor.between(start, cursor.position());
        let is_slice = tokens.iter().any(|token| self.is_slice_operator(token));
        let indexed = number_in(tokens)
            .filter(|_| self.has_spread())
            .and_then(|number| if is_slice { elements_from(&value, number) } else { element_at(&value, number) });
        match indexed {
            Some(indexed) => indexed,
            None if is_slice => self.slice(&value),
            None => self.index(value, &index),
        }
    }

    /// Returns a list of some of the elements, which are not known.
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
            (Value::QualifiedName(name), patterns) if name == "Dir" && self.language == Language::Ruby => {
                let arguments = Arguments { positional: patterns.to_vec(), ..Arguments::default() };
                self.apply_effect(FunctionEffect::Glob, "Dir.glob", &arguments)
            }
            (Value::QualifiedName(_), [index]) if index.only_string().is_some() => {
                self.member(value, index.only_string().unwrap_or_default())
            }
            (Value::Record(entries), [index]) => {
                index.only_string().and_then(|key| value_of_key(entries, key)).cloned().unwrap_or(Value::Unknown)
            }
            (Value::QualifiedName(_), _) => {
                self.escape(Some(&value));
                Value::Unknown
            }
            (Value::List(values), _) => {
                // An empty list is only subscripted to reach the methods of lists.
                self.findings.is_opaque |=
                    values.is_empty() && !index.iter().all(|index| *index == Value::NumberOrDescriptor);
                value.element()
            }
            (_, [index]) if index.only_string().is_some() => {
                self.member(value, index.only_string().unwrap_or_default())
            }
            _ => Value::Unknown,
        }
    }

    pub(super) fn member(&mut self, value: Value, name: &str) -> Value {
        if matches!(&value, Value::QualifiedName(object) if object.is_empty() || object == "sys.modules") {
            return self.lookup(name);
        }
        // Through these members, any function can be reached from any object.
        self.findings.is_opaque |= name.starts_with("__") && self.dialect.distinctive_methods.contains(&name);
        match value {
            Value::QualifiedName(object) if name == "__dict__" || self.is_same_module(&object, name) => {
                Value::QualifiedName(object)
            }
            Value::QualifiedName(object) if object.len() > MAX_NAME_BYTES => {
                self.escape(Some(&Value::QualifiedName(object)));
                Value::Unknown
            }
            Value::QualifiedName(object) => {
                if REFLECTION_MEMBERS.contains(&name) && self.dialect.allows_bare_calls {
                    self.escape(Some(&Value::QualifiedName(object.clone())));
                }
                let qualified = format!("{object}.{name}");
                let is_function = self.dialect.function(&object).is_some_and(|effect| !effect.is_harmless());
                let is_known =
                    self.dialect.function(&qualified).is_some() || self.dialect.has_effectful_members(&qualified);
                self.findings.is_opaque |= is_function && !is_known && !HARMLESS_MEMBERS.contains(&name);
                self.qualified_name(qualified)
            }
            value if value.is_path() && self.language == Language::Python && is_property(name) => match name {
                "parent" => value.parent(),
                "name" => value.file_name(),
                "path" => value.path_to_string(),
                _ => Value::List(
                    std::iter::successors(Some(value.parent()), |directory| Some(directory.parent()))
                        .take(MAX_PARENTS)
                        .collect(),
                ),
            },
            // The value of a command line option.
            Value::Record(ref entries)
                if self.language == Language::Python && entries.iter().any(|(key, _)| key == name) =>
            {
                self.index(value, &[Value::string(name)])
            }
            // The path of a temporary file.
            Value::Strings(strings)
                if name == "name" && strings.iter().all(|string| string.starts_with(path::TEMP_PLACEHOLDER)) =>
            {
                Value::Strings(strings)
            }
            Value::PartlyKnown { strings, is_path: false } if name == "stdout" && strings == [WORD_PLACEHOLDER] => {
                Value::PartlyKnown { strings, is_path: false }
            }
            Value::Pending => Value::Pending,
            Value::Method(receiver, _) if receiver.is_path() => {
                Value::Method(Box::new(Value::Path(None)), name.to_owned())
            }
            Value::Method(..) => Value::Method(Box::new(Value::Unknown), name.to_owned()),
            value => Value::Method(Box::new(value), name.to_owned()),
        }
    }

    /// True for a member that has the same functions as its module: `fs.promises`.
    fn is_same_module(&self, module: &str, member: &str) -> bool {
        match self.language {
            Language::JavaScript => member == "default" || (module == "fs" && member == "promises"),
            Language::Ruby => module == "FileUtils" && member == "Verbose",
            Language::Python | Language::Perl => false,
        }
    }

    /// Returns the module in `import('fs').then(name => …)`, which the callback gets. If the callback is not a function
    /// literal, the module escapes.
    fn awaited_module(&mut self, cursor: &TokenCursor<'_>, callee: &Value) -> Option<Value> {
        let Value::QualifiedName(name) = callee else { return None };
        let module = name.strip_suffix(".then").filter(|_| self.language == Language::JavaScript)?;
        let has_effects = self.dialect.has_effectful_members(module)
            || self.effect_of(module).is_some_and(|effect| !effect.is_harmless());
        let module = Some(Value::QualifiedName(module.to_owned())).filter(|_| has_effects);
        if !callback_is_function_literal(cursor) {
            self.escape(module.as_ref());
            return None;
        }
        module
    }

    /// True if the value is a known function or method, so that arguments without parentheses may follow.
    pub(super) fn is_function(&self, value: &Value) -> bool {
        match value {
            Value::QualifiedName(name) => self.effect_of(name).is_some() || self.is_send(name),
            Value::Method(receiver, name) => receiver.is_path() || self.is_send(name),
            _ => false,
        }
    }

    /// Makes the variable of the receiver, or of the first argument, unknown if the call modifies its value.
    pub(super) fn forget_if_mutated(&mut self, cursor: &TokenCursor<'_>, callee: &Value, root: Option<&str>) {
        match callee {
            Value::Method(receiver, name) => {
                let changes = matches!(**receiver, Value::List(_) | Value::OneOfLists(_) | Value::Record(_))
                    && MUTATING_METHODS.contains(&name.as_str())
                    || name.ends_with('!')
                    || matches!(**receiver, Value::Strings(_)) && name == "concat"
                    || self.language == Language::Ruby && MUTATING_STRING_METHODS.contains(&name.as_str());
                // The call modifies the result of a function of the module, not the module.
                let is_module = |root: &str| matches!(self.bindings.get(root), Some(Value::QualifiedName(_)));
                if let (Some(root), true) = (root.filter(|root| !is_module(root)), changes) {
                    self.bind(root, Value::Unknown);
                }
            }
            Value::QualifiedName(name) if matches!(self.effect_of(name), Some(FunctionEffect::MutateFirst)) => {
                let first =
                    (0..3).filter_map(|ahead| cursor.ahead(ahead)?.name()).find(|name| name.starts_with(['$', '@']));
                if let Some(first) = first {
                    self.bind(first, Value::Unknown);
                }
            }
            _ => {}
        }
    }
}

/// True if the first argument is a function literal: `name => …`, `(names) => …`, `function (names) …`. The cursor is
/// at the opening parenthesis.
fn callback_is_function_literal(cursor: &TokenCursor<'_>) -> bool {
    let is_async = cursor.ahead(1).and_then(Token::name) == Some("async");
    let first = if is_async { 2 } else { 1 };
    let Some(token) = cursor.ahead(first) else { return false };
    if let Some(name) = token.name() {
        return name == "function" || cursor.ahead_is(first + 1, "=>");
    }
    let mut depth = 0_usize;
    for ahead in first..first + MAX_LOOKAHEAD {
        match cursor.ahead(ahead).map(|token| &token.kind) {
            Some(Kind::Punct("(" | "[" | "{")) => depth += 1,
            Some(Kind::Punct(")" | "]" | "}")) => depth = depth.saturating_sub(1),
            Some(_) => {}
            None => return false,
        }
        if depth == 0 {
            return token.is("(") && cursor.ahead_is(ahead + 1, "=>");
        }
    }
    false
}

/// True if a call is a whole statement. `arguments` is the position of its arguments; the cursor is after them.
fn is_statement(cursor: &TokenCursor<'_>, callee: &Value, arguments: usize) -> bool {
    let Value::QualifiedName(_) = callee else { return false };
    let ends = |token: &Token| token.kind == Kind::Newline || token.is(";");
    let mut before = cursor.between(0, arguments).iter().rev();
    // Names and dots alternate.
    let first = loop {
        match (before.next().and_then(Token::name), before.next()) {
            (Some(_), Some(dot)) if dot.is(".") => {}
            (Some(_), first) => break first,
            (None, _) => return false,
        }
    };
    cursor.peek().is_none_or(ends) && first.is_none_or(|token| ends(token) || token.is(":"))
}

/// Returns the number in `[1]`, `[1:]` or `(1)`.
fn number_in(tokens: &[Token]) -> Option<usize> {
    match tokens {
        [_, Token { kind: Kind::Number(number), .. }, _] => *number,
        [_, Token { kind: Kind::Number(number), .. }, operator, _] if operator.is(":") => *number,
        _ => None,
    }
}

/// Returns the elements of a list of known length; `None` if one of them may stand for several, such as a glob.
fn known_elements(list: &Value) -> Option<&[Value]> {
    let is_single =
        |value: &Value| matches!(value, Value::Strings(_) | Value::Path(_) | Value::Instance | Value::Record(_));
    match list {
        Value::List(values) if values.iter().all(is_single) => Some(values),
        _ => None,
    }
}

fn element_at(list: &Value, index: usize) -> Option<Value> {
    known_elements(list)?.get(index).cloned()
}

/// Returns the elements from an index to the end.
fn elements_from(list: &Value, number: usize) -> Option<Value> {
    known_elements(list).map(|values| Value::List(values.get(number..).unwrap_or_default().to_vec()))
}

/// The maximum number of directories in `path.parents`.
const MAX_PARENTS: usize = 4;

/// True for attributes of path objects other than methods.
fn is_property(member: &str) -> bool {
    matches!(member, "parent" | "parents" | "name" | "path")
}

fn is_scalar_variable(token: &Token) -> bool {
    token.name().is_some_and(|name| name.starts_with('$'))
}

/// Returns the element that an iteration method passes to its callback.
fn iterated_element(callee: &Value) -> Option<Value> {
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

/// True if the parentheses and the block after the name make this the definition of a method.
fn is_definition(callee: &Value) -> bool {
    matches!(callee, Value::QualifiedName(name) if !matches!(name.as_str(), "if" | "while" | "for" | "switch" | "with"))
}
