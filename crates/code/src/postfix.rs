//! Postfix operators: the member accesses, subscripts and calls after a value.

use super::Language;
use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::function_effect::FunctionEffect;
use super::statement_order::StatementOrder;
use super::token::{Token, TokenKind};
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

/// Methods that modify a string in place. Only Ruby strings can be modified.
const MUTATING_STRING_METHODS: &[&str] = &["replace", "insert", "prepend", "setbyte", "clear", "force_encoding"];

/// The maximum length of a dotted name. No table contains a longer one.
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

/// An expression, with the postfix operators that were read so far.
struct PostfixExpression<'n> {
    value: Value,
    /// The variable with which the expression begins.
    root: Option<&'n str>,
    /// True if the value is an element of the variable `root`, or of a part of that variable's value.
    is_element: bool,
    /// True after an arrow. A bracket after an arrow is a subscript, even if whitespace precedes the bracket.
    after_arrow: bool,
}

impl PostfixExpression<'_> {
    fn take_value(&mut self) -> Value {
        std::mem::replace(&mut self.value, Value::Unknown)
    }
}

impl Evaluator {
    /// Evaluates the member accesses, subscripts and calls that follow a value. `root` is the variable that contains
    /// the value, if it is one.
    pub(super) fn evaluate_postfix_operators(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        value: Value,
        root: Option<&str>,
    ) -> Value {
        let mut expression = PostfixExpression { value, root, is_element: false, after_arrow: false };
        loop {
            self.spend(1, cursor);
            self.skip_to_member(cursor);
            if !self.evaluate_postfix_operator(cursor, &mut expression) {
                break;
            }
        }
        if self.dialect.allows_bare_calls && self.is_function(&expression.value) {
            self.forget_if_mutated(cursor, &expression.value, root);
            let arguments = self.evaluate_unparenthesized_arguments(cursor, &expression.value);
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
    fn evaluate_postfix_operator(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        expression: &mut PostfixExpression<'_>,
    ) -> bool {
        let Some(token) = cursor.peek() else { return false };
        if let (TokenKind::String(literal), Language::JavaScript, false) =
            (&token.kind, self.language, token.after_space)
            && self.is_function(&expression.value)
        {
            cursor.next();
            let string = self.evaluate_literal(cursor, literal);
            let arguments = Arguments { positional: vec![string], ..Arguments::default() };
            expression.value = self.apply(expression.take_value(), &arguments);
            return true;
        }
        let TokenKind::Punct(punct) = token.kind else { return false };
        let is_adjacent = !token.after_space || expression.after_arrow;
        let is_perl = self.language == Language::Perl;
        let follows_value =
            expression.after_arrow || expression.is_element || cursor.previous().is_some_and(is_scalar_variable);
        let starts_perl_element = is_perl && is_adjacent && follows_value;
        match punct {
            punct if self.is_member_operator(punct) => {
                self.evaluate_member_operator(cursor, punct, expression);
                return true;
            }
            "(" if is_adjacent || !self.dialect.allows_bare_calls || self.is_function(&expression.value) => {
                self.evaluate_call_operator(cursor, expression);
            }
            "[" if if is_perl { starts_perl_element } else { is_adjacent || self.language != Language::Ruby } => {
                expression.value = self.evaluate_subscript(cursor, expression.take_value());
                expression.is_element = true;
            }
            "{" if starts_perl_element => {
                expression.value = self.evaluate_hash_element(cursor, expression.take_value());
                expression.is_element = true;
            }
            _ => return false,
        }
        expression.after_arrow = false;
        true
    }

    /// Evaluates the access to a member: `value.name`, or an arrow before another operator: `value->`.
    fn evaluate_member_operator(
        &mut self,
        cursor: &mut TokenCursor<'_>,
        punct: &str,
        expression: &mut PostfixExpression<'_>,
    ) {
        let is_perl = self.language == Language::Perl;
        cursor.next();
        expression.after_arrow = punct == "->" || punct == "?.";
        let Some(name) = cursor.take_any_name() else { return };
        expression.after_arrow = false;
        expression.is_element |= matches!(expression.value, Value::Record(_)) && !is_perl;
        expression.value = if name.starts_with(['$', '@', '%']) && is_perl {
            self.record_escape(Some(&expression.value));
            Value::Unknown
        } else {
            self.access_member(expression.take_value(), name)
        };
    }

    /// Evaluates a call: `value(arguments)`.
    fn evaluate_call_operator(&mut self, cursor: &mut TokenCursor<'_>, expression: &mut PostfixExpression<'_>) {
        let callee = expression.take_value();
        let appended = expression.root.filter(|root| self.appends(&callee, root));
        if appended.is_none() {
            self.forget_if_mutated(cursor, &callee, expression.root);
        }
        self.first_parameter = iterated_element(&callee).or_else(|| self.awaited_module(cursor, &callee));
        let start = cursor.position();
        let arguments = self.evaluate_arguments(cursor, &callee);
        if let (Some(root), Value::Method(_, name)) = (appended, &callee) {
            self.append(root, start, name, &arguments);
        }
        if self.language == Language::JavaScript && cursor.is("{") && is_method_definition(&callee) {
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

    /// Evaluates the access to an element of a hash: `$value{key}`, `$value{…}`.
    fn evaluate_hash_element(&mut self, cursor: &mut TokenCursor<'_>, value: Value) -> Value {
        let key = cursor.ahead(1).and_then(Token::name).filter(|_| cursor.ahead_is(2, "}"));
        let index = match key {
            Some(key) if !key.starts_with('$') => {
                for _ in 0..3 {
                    cursor.next();
                }
                vec![Value::string(key)]
            }
            _ => self.evaluate_list(cursor, "}"),
        };
        self.access_index(value, &index)
    }

    /// True if `callee` is a method that appends to a list, and that list is the value of the variable `root`.
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
            // A loop can append any number of times. For file names that are only partly known, the number does not
            // matter.
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

    /// Skips a newline if a member access follows it.
    pub(super) fn skip_to_member(&self, cursor: &mut TokenCursor<'_>) {
        if matches!(self.language, Language::JavaScript | Language::Ruby)
            && cursor.peek().is_some_and(|token| token.kind == TokenKind::Newline)
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
    fn evaluate_subscript(&mut self, cursor: &mut TokenCursor<'_>, value: Value) -> Value {
        let start = cursor.position();
        let index = self.evaluate_list(cursor, "]");
        let tokens = cursor.between(start, cursor.position());
        let is_slice = tokens.iter().any(|token| self.is_slice_operator(token));
        let indexed = number_in(tokens)
            .filter(|_| self.has_spread())
            .and_then(|number| if is_slice { elements_from(&value, number) } else { element_at(&value, number) });
        match indexed {
            Some(indexed) => indexed,
            None if is_slice => self.evaluate_slice(&value),
            None => self.access_index(value, &index),
        }
    }

    /// Returns the value of a slice whose bounds are unknown.
    fn evaluate_slice(&mut self, value: &Value) -> Value {
        self.record_escape(Some(value));
        match value {
            Value::Pending => Value::Pending,
            Value::List(values) if values.len() == 1 => value.clone(),
            _ => Value::Unknown,
        }
    }

    pub(super) fn access_index(&mut self, value: Value, index: &[Value]) -> Value {
        match (&value, index) {
            (Value::Pending, _) => Value::Pending,
            // `Dir["*.rb"]`
            (Value::QualifiedName(name), patterns) if name == "Dir" && self.language == Language::Ruby => {
                let arguments = Arguments { positional: patterns.to_vec(), ..Arguments::default() };
                self.apply_effect(FunctionEffect::Glob, "Dir.glob", &arguments)
            }
            (Value::QualifiedName(_), [index]) if index.only_string().is_some() => {
                self.access_member(value, index.only_string().unwrap_or_default())
            }
            (Value::Record(entries), [index]) => {
                index.only_string().and_then(|key| value_of_key(entries, key)).cloned().unwrap_or(Value::Unknown)
            }
            (Value::QualifiedName(_), _) => {
                self.record_escape(Some(&value));
                Value::Unknown
            }
            (Value::List(values), _) => {
                // If a program subscripts an empty list by anything but a number, it uses the list to get at methods.
                self.findings.is_opaque |=
                    values.is_empty() && !index.iter().all(|index| *index == Value::NumberOrDescriptor);
                value.element()
            }
            (_, [index]) if index.only_string().is_some() => {
                self.access_member(value, index.only_string().unwrap_or_default())
            }
            _ => Value::Unknown,
        }
    }

    pub(super) fn access_member(&mut self, value: Value, name: &str) -> Value {
        if matches!(&value, Value::QualifiedName(object) if object.is_empty() || object == "sys.modules") {
            return self.lookup(name);
        }
        // Through members such as `__globals__`, a program can get from any object to any function.
        self.findings.is_opaque |= name.starts_with("__") && self.dialect.distinctive_methods.contains(&name);
        match value {
            Value::QualifiedName(object) if name == "__dict__" || self.is_same_module(&object, name) => {
                Value::QualifiedName(object)
            }
            Value::QualifiedName(object) if object.len() > MAX_NAME_BYTES => {
                self.record_escape(Some(&Value::QualifiedName(object)));
                Value::Unknown
            }
            Value::QualifiedName(object) => {
                if REFLECTION_MEMBERS.contains(&name) && self.dialect.allows_bare_calls {
                    self.record_escape(Some(&Value::QualifiedName(object.clone())));
                }
                let qualified = format!("{object}.{name}");
                let is_function = self.dialect.function_effect(&object).is_some_and(|effect| !effect.is_harmless());
                let is_known = self.dialect.function_effect(&qualified).is_some()
                    || self.dialect.has_effectful_members(&qualified);
                self.findings.is_opaque |= is_function && !is_known && !HARMLESS_MEMBERS.contains(&name);
                self.value_of_qualified_name(qualified)
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
            // The object with the command line options has each option as a member.
            Value::Record(ref entries)
                if self.language == Language::Python && entries.iter().any(|(key, _)| key == name) =>
            {
                self.access_index(value, &[Value::string(name)])
            }
            // `name` is a member of a temporary file object: the path of the file.
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

    /// Returns the module that the callback in `import('fs').then(name => …)` gets as its argument. If the callback is
    /// not a function literal, the module escapes.
    fn awaited_module(&mut self, cursor: &TokenCursor<'_>, callee: &Value) -> Option<Value> {
        let Value::QualifiedName(name) = callee else { return None };
        let module = name.strip_suffix(".then").filter(|_| self.language == Language::JavaScript)?;
        let has_effects = self.dialect.has_effectful_members(module)
            || self.effect_of(module).is_some_and(|effect| !effect.is_harmless());
        let module = Some(Value::QualifiedName(module.to_owned())).filter(|_| has_effects);
        if !callback_is_function_literal(cursor) {
            self.record_escape(module.as_ref());
            return None;
        }
        module
    }

    /// True if the value is a known function or method, so that arguments without parentheses can follow it.
    pub(super) fn is_function(&self, value: &Value) -> bool {
        match value {
            Value::QualifiedName(name) => self.effect_of(name).is_some() || self.is_send(name),
            Value::Method(receiver, name) => receiver.is_path() || self.is_send(name),
            _ => false,
        }
    }

    /// If the call modifies its receiver or its first argument, makes the value of the variable that contains it
    /// unknown.
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
            Some(TokenKind::Punct("(" | "[" | "{")) => depth += 1,
            Some(TokenKind::Punct(")" | "]" | "}")) => depth = depth.saturating_sub(1),
            Some(_) => {}
            None => return false,
        }
        if depth == 0 {
            return token.is("(") && cursor.ahead_is(ahead + 1, "=>");
        }
    }
    false
}

/// True if a call is a whole statement. `arguments` is the position of the call's arguments. The cursor is after them.
fn is_statement(cursor: &TokenCursor<'_>, callee: &Value, arguments: usize) -> bool {
    let Value::QualifiedName(_) = callee else { return false };
    let ends = |token: &Token| token.kind == TokenKind::Newline || token.is(";");
    let mut before = cursor.between(0, arguments).iter().rev();
    // Goes back over the callee, in which names and dots alternate, to the first token of the call.
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
        [_, Token { kind: TokenKind::Number(number), .. }, _] => *number,
        [_, Token { kind: TokenKind::Number(number), .. }, operator, _] if operator.is(":") => *number,
        _ => None,
    }
}

/// Returns the elements of a list whose length is known; `None` if an element can stand for several ones, as a glob
/// does.
fn known_elements(list: &Value) -> Option<&[Value]> {
    let is_single = |value: &Value| {
        matches!(value, Value::Strings(_) | Value::Path(_) | Value::Instance | Value::ArgvPrefix | Value::Record(_))
    };
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

/// True for members of path objects that are not methods.
fn is_property(member: &str) -> bool {
    matches!(member, "parent" | "parents" | "name" | "path")
}

fn is_scalar_variable(token: &Token) -> bool {
    token.name().is_some_and(|name| name.starts_with('$'))
}

/// If the callee is an iteration method, returns the value of the element that it passes to its callback.
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

/// True if `name(…) {…}` defines a method, because the name is not a keyword such as `if`.
fn is_method_definition(callee: &Value) -> bool {
    matches!(callee, Value::QualifiedName(name) if !matches!(name.as_str(), "if" | "while" | "for" | "switch" | "with"))
}
