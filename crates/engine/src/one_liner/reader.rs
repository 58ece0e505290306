//! Goes through the tokens, works out what expressions are worth and notes what calls do.
//!
//! It goes through them several times: names are given every value that is assigned to them anywhere, and what was found
//! counts when that no longer changes.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::Classes;
use super::deed::Deed;
use super::dialect::Dialect;
use super::found::Found;
use super::functions::{Functions, only_called};
use super::lex::lex;
use super::names::Names;
use super::names::awaited;
use super::spawning::without_variables;
use super::tape::Tape;
use super::token::{Kind, Token};
use super::value::Value;
use super::{Given, Language, MAX_DEPTH, OneLiner, environment, fed, wanted};

/// After these many rounds, names that still change are given up; and the text after so many more.
const ROUNDS_TO_SETTLE: usize = 5;
const MAX_ROUNDS: usize = 10;

/// Expressions and bytes of constants, over all rounds.
const MAX_WORK: usize = 1_000_000;

/// Tokens of `($name = value)`.
const LONGEST_GROUP: usize = 64;

/// What stands behind a statement of Perl or Ruby and belongs to no argument.
const MODIFIERS: &[&str] =
    &["if", "unless", "while", "until", "for", "foreach", "or", "and", "rescue", "end", "do", "then"];

/// Words by which a text chooses among what it finds.
const CHOOSING: &[&str] = &["if", "unless", "filter", "select", "grep"];

pub(super) struct Reader {
    pub(super) language: Language,
    pub(super) dialect: &'static Dialect,
    pub(super) names: Names,
    pub(super) found: Found,
    /// What the function that is read next goes through.
    pub(super) iterated: Option<Value>,
    /// The text's own, where they are only called.
    pub(super) functions: Functions,
    pub(super) classes: Classes,
    /// What the text is given, by the name that the language has for it.
    pub(super) given: Option<Value>,
    /// The file that it stands in.
    pub(super) file: Option<String>,
    /// Variables of the environment that it finds, and does not set.
    pub(super) variables: Vec<(String, String)>,
    /// Options that it says it takes, with what they are where they are not given.
    pub(super) options: BTreeMap<String, Value>,
    /// Names that are given a value somewhere.
    pub(super) awaited: BTreeSet<String>,
    /// Whether what was read last is one value for each of many: `x for x in y`.
    pub(super) is_comprehension: bool,
    /// Whether it says which of many are meant.
    pub(super) chooses: bool,
    /// Whether nothing is done with what the next call gives.
    pub(super) is_discarded: bool,
    /// The names that it looks for among those of files, as patterns.
    pub(super) wanted: Vec<String>,
    pub(super) order: Order,
    pub(super) depth: usize,
    work: usize,
}

/// In which order its statements may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// As they stand there, each at most once.
    Straight,
    /// Some whenever they are called.
    Functions,
    Loops,
}

impl Order {
    fn of(tokens: &[Token]) -> Self {
        let has = |words: &[&str]| tokens.iter().filter_map(Token::name).any(|name| words.contains(&name));
        let has_arrows = || tokens.iter().any(|token| token.is("=>"));
        if has(&["for", "while", "until", "do", "forEach", "map", "each", "reduce"]) {
            Self::Loops
        } else if has(&["def", "function", "lambda", "class"]) || has_arrows() {
            Self::Functions
        } else {
            Self::Straight
        }
    }
}

/// What a sequence turned out to be.
enum Read {
    Sequence(Value),
    Comprehension(Value),
}

pub(super) fn read(language: Language, text: &str, given: &Given) -> OneLiner {
    let lexed = lex(language, text);
    let order = Order::of(&lexed.tokens);
    let is_kept = |(name, _): &&(String, String)| !environment::may_set(&lexed.tokens, name);
    let mut reader = Reader {
        language,
        dialect: Dialect::of(language),
        names: Names::default(),
        found: Found::in_order(order),
        iterated: None,
        given: given.words.as_deref().map(|words| Dialect::of(language).given(words, given.in_command)),
        file: given.file.clone(),
        variables: given.variables.iter().filter(is_kept).cloned().collect(),
        options: BTreeMap::new(),
        awaited: BTreeSet::new(),
        is_comprehension: false,
        classes: Classes::of(language, &lexed.tokens),
        functions: only_called(language, &lexed.tokens),
        chooses: lexed.tokens.iter().filter_map(Token::name).any(|name| CHOOSING.contains(&name)),
        is_discarded: false,
        wanted: wanted::names(&lexed.tokens),
        order,
        depth: 0,
        work: 0,
    };
    let parameters = reader.functions.values().flat_map(|own| own.parameters.iter().map(|one| one.name.clone()));
    let awaited: BTreeSet<String> = awaited(language, &lexed.tokens).chain(parameters).collect();
    let is_meant = |name: &String| reader.deed(name).is_some() || reader.functions.contains_key(name);
    reader.awaited = awaited.into_iter().filter(|name| !is_meant(name)).collect();
    let mut settled = false;
    for round in 0..MAX_ROUNDS {
        reader.found = Found::in_order(order);
        reader.names.changed = false;
        reader.names.settling = round >= ROUNDS_TO_SETTLE;
        let last = reader.all(&mut Tape::new(&lexed.tokens));
        reader.escape(Some(&last));
        settled = !reader.names.changed;
        if settled {
            break;
        }
    }
    let Found { touches, texts, unknown, spawns, prints, forgotten, hidden, moved, .. } = reader.found.settled();
    let (spawns, is_fed_blindly) = fed::with_input(spawns, &lexed.tokens);
    let sets = if spawns.is_empty() { Vec::new() } else { environment::set_by(&lexed.tokens) };
    let spawns = spawns.into_iter().map(|spawn| without_variables(spawn, &forgotten)).collect::<Vec<_>>();
    // Where it goes is not followed, so what it then names from there is not known.
    let astray = moved && (!spawns.is_empty() || touches.iter().any(|(_, path)| !path.starts_with(['/', '~'])));
    let hidden = hidden || is_fed_blindly || has_magic(language, &lexed.tokens);
    OneLiner { touches, texts, unknown, spawns, sets, prints, complete: lexed.sound && settled && !hidden && !astray }
}

/// Whether a line is for the shell, or for the session itself, as `ipython` has them: `!ls`, `%run x`.
fn has_magic(language: Language, tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    let mut is_first = true;
    for token in tokens.iter().filter(|_| language == Language::Python) {
        match token.kind {
            Kind::Mark("!" | "%") if is_first => return true,
            Kind::Mark("(" | "[" | "{") => depth += 1,
            Kind::Mark(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_first = token.kind == Kind::Newline && depth == 0;
    }
    false
}

/// One of which nothing is known that would be a text.
fn is_anything(value: &Value) -> bool {
    matches!(value, Value::Unknown | Value::Thing(_) | Value::Instance | Value::Descriptor)
}

/// Whether all names there are follow, and nothing is taken from among them.
fn looks_at_names(tape: &Tape<'_>) -> bool {
    let is_all = tape.ahead(1).and_then(Token::name).is_some_and(|name| matches!(name, "globals" | "locals"));
    is_all && tape.ahead_is(2, "(") && tape.ahead_is(3, ")") && !tape.ahead_is(4, ".") && !tape.ahead_is(4, "[")
}

/// The variable of `($name = value)`, which an operator behind it changes.
fn assigned_in_group<'t>(tape: &Tape<'t>) -> Option<&'t str> {
    let end = tape.place().checked_sub(2)?;
    let tokens = tape.between(end.saturating_sub(LONGEST_GROUP), end);
    let start = tokens.iter().rposition(|token| token.is("("))?;
    let mut behind = tokens.get(start..)?.windows(2);
    behind.find_map(|pair| matches!(pair, [_, sign] if sign.is("=")).then(|| pair.first()?.name())?)
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
    pub(super) fn statements(&mut self, tape: &mut Tape<'_>) -> Option<Value> {
        let mut last = None;
        loop {
            match tape.peek()?.kind {
                Kind::Mark(")" | "]" | "}") => return last,
                Kind::Newline | Kind::Mark(";" | "," | ":" | "=>") => {
                    tape.next();
                }
                _ => {
                    self.escape(last.as_ref());
                    let start = tape.place();
                    let value = self.sequence(tape, false);
                    // What was assigned is still in sight.
                    let is_assigned =
                        tape.between(start, start + 4).iter().any(|token| token.is("=") || token.is(":="));
                    last = (!is_assigned).then_some(value);
                }
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

    pub(super) fn sequence_here(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        let value = self.sequence_or_comprehension(tape, in_brackets);
        self.is_comprehension = matches!(value, Read::Comprehension(_));
        match value {
            Read::Sequence(value) | Read::Comprehension(value) => value,
        }
    }

    fn sequence_or_comprehension(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Read {
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
                Kind::Mark("(" | "[" | "{") | Kind::Text(_) | Kind::Number(_) => {
                    let value = self.operand(tape, in_brackets);
                    spoiled |= self.put(&mut result, value);
                }
                Kind::Mark(mark) => {
                    tape.next();
                    let left = result.take();
                    let combined = self.operator(tape, mark, left, in_brackets);
                    spoiled |= combined.is_none();
                    result = combined;
                }
                // `'x' in globals()` only looks.
                Kind::Name(name) if name == "in" && self.language == Language::Python && looks_at_names(tape) => {
                    for _ in 0..4 {
                        tape.next();
                    }
                    (result, spoiled) = (Some(Value::Unknown), true);
                }
                // `[value for name in values]`
                Kind::Name(name)
                    if name == "for" && self.language == Language::Python && in_brackets && result.is_some() =>
                {
                    let element = result.take().filter(|_| !spoiled).unwrap_or(Value::Unknown);
                    self.escape(Some(&element));
                    return Read::Comprehension(self.comprehension(tape, &element));
                }
                // `value if condition else other`, `value or other`
                Kind::Name(name)
                    if matches!(name.as_str(), "if" | "or")
                        && self.language == Language::Python
                        && result.is_some() =>
                {
                    let left = result.take().filter(|_| !spoiled).unwrap_or(Value::Unknown);
                    let value = self.either(tape, left, in_brackets);
                    (spoiled, result) = (value.is_none(), value);
                }
                // `with open(path) as name`
                Kind::Name(name) if name == "as" && self.language == Language::Python && result.is_some() => {
                    tape.next();
                    let value = result.take().filter(|_| !spoiled).unwrap_or(Value::Unknown);
                    if !matches!(value, Value::Output(_)) {
                        self.escape(Some(&value));
                    }
                    let is_object = matches!(&value, Value::Thing(name) if name.ends_with("()"));
                    let is_known = is_object
                        || matches!(
                            value,
                            Value::Texts(_)
                                | Value::Like { .. }
                                | Value::Content(_)
                                | Value::Output(_)
                                | Value::List(_)
                        );
                    if let Some(name) = tape.any_name() {
                        self.bind(name, if is_known { value } else { Value::Unknown });
                    }
                }
                // `value as Type`
                Kind::Name(name) if name == "as" && self.language == Language::Node && result.is_some() => {
                    tape.next();
                    while tape.any_name().is_some() && tape.take(".") {}
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
        Read::Sequence(match result {
            Some(value) if !spoiled => value,
            value => {
                self.escape(value.as_ref());
                Value::Unknown
            }
        })
    }

    /// At the word between two values of which one is meant. None where it stands behind a comprehension.
    fn either(&mut self, tape: &mut Tape<'_>, left: Value, in_brackets: bool) -> Option<Value> {
        let is_condition = tape.name() == Some("if");
        tape.next();
        if is_condition {
            let condition = self.condition(tape, in_brackets);
            self.escape(Some(&condition));
            if !tape.take_name("else") {
                self.escape(Some(&left));
                return None;
            }
        }
        let right = self.right(tape, in_brackets);
        self.escape(Some(&left));
        self.escape(Some(&right));
        Some(match (left, right) {
            (left, right @ Value::Texts(_)) if is_anything(&left) => right.or_some_word(),
            (left @ Value::Texts(_), right) if is_condition && is_anything(&right) => left.or_some_word(),
            (left, right) => left.or(right),
        })
    }

    /// Up to the `else` behind it.
    fn condition(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        let ends = |token: &Token| {
            token.name() == Some("else")
                || matches!(token.kind, Kind::Newline | Kind::Mark(";" | "," | ":" | ")" | "]" | "}"))
        };
        while !tape.peek().is_none_or(ends) {
            if tape.name() == Some("in") && looks_at_names(tape) {
                for _ in 0..4 {
                    tape.next();
                }
                continue;
            }
            let value = self.operand(tape, in_brackets);
            self.escape(Some(&value));
        }
        Value::Unknown
    }

    /// Whether there was a value already, so that both together mean something else.
    pub(super) fn put(&mut self, result: &mut Option<Value>, value: Value) -> bool {
        let Some(before) = result.replace(value) else { return false };
        self.escape(Some(&before));
        let after = result.take();
        self.escape(after.as_ref());
        *result = Some(Value::Unknown);
        true
    }

    /// Behind an operator. None where the result cannot be told.
    pub(super) fn operator(
        &mut self,
        tape: &mut Tape<'_>,
        mark: &str,
        left: Option<Value>,
        in_brackets: bool,
    ) -> Option<Value> {
        let is_path = Value::is_path;
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
                let may_be_false = mark == "||" && texts.iter().any(|text| matches!(text.as_str(), "" | "0"));
                let left = Value::Texts(texts);
                Some(if may_be_false { left.or(right) } else { left })
            }
            // It may be the constant on the other side.
            Some(left)
                if matches!(mark, "||" | "//" | "??")
                    && matches!(tape.peek(), Some(Token { kind: Kind::Text(_), .. })) =>
            {
                self.escape(Some(&left));
                Some(self.right(tape, in_brackets).or_some_word())
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
                if let Some(name) = assigned_in_group(tape).filter(|_| mark == "=~") {
                    self.bind(name, Value::Unknown);
                }
                self.escape(left.as_ref());
                None
            }
        }
    }

    pub(super) fn right(&mut self, tape: &mut Tape<'_>, in_brackets: bool) -> Value {
        tape.skip_newlines();
        match tape.peek().map(|token| &token.kind) {
            Some(Kind::Name(_) | Kind::Text(_) | Kind::Number(_) | Kind::Mark("(" | "[" | "{")) => {
                self.operand(tape, in_brackets)
            }
            _ => Value::Unknown,
        }
    }

    /// Where a value goes out of sight, what it can do may be done there.
    pub(super) fn escape(&mut self, value: Option<&Value>) {
        let Some(Value::Thing(name)) = value else {
            // Who knows what is written into it there.
            return value.into_iter().for_each(|value| self.put_into(value, None));
        };
        let is_method = self.path_method(name).is_some();
        let does = self.deed(name).is_some_and(|deed| !deed.is_harmless());
        let is_root = name.is_empty() || name == "sys.modules" || self.dialect.is_root(name);
        self.found.hidden |= is_root || does || is_method || self.dialect.is_telling_module(name);
    }

    /// What a function does, by its name here.
    pub(super) fn deed(&self, name: &str) -> Option<Deed> {
        self.dialect.function(name).or_else(|| {
            let mut opened = self.names.opened.iter();
            opened.find_map(|module| self.dialect.function(&format!("{module}.{name}")))
        })
    }

    pub(super) fn is_modifier(&self, name: &str) -> bool {
        self.dialect.bare_calls && MODIFIERS.contains(&name)
    }
}
