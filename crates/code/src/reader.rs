//! Goes through the tokens, works out what expressions are worth and notes what calls do.
//!
//! It goes through them several times: names are given every value that is assigned to them anywhere, and what was found
//! counts when that no longer changes.

use std::collections::BTreeMap;

use super::budget::Budget;
use super::dialect::Dialect;
use super::findings::Findings;
use super::function_effect::FunctionEffect;
use super::inputs::Inputs;
use super::lex::lex;
use super::names::Names;
use super::outline::Outline;
use super::spawn::Spawn;
use super::tape::Tape;
use super::token::{Kind, Token};
use super::value::Value;
use super::{Given, Language, OneLiner, child_stdin, environment};

/// After so many rounds, names that still change are given up; and the text after [`MAX_ROUNDS`].
const ROUNDS_TO_SETTLE: usize = 5;
const MAX_ROUNDS: usize = 10;

pub(super) struct Reader {
    pub(super) language: Language,
    pub(super) dialect: &'static Dialect,
    pub(super) inputs: Inputs,
    pub(super) outline: Outline,
    pub(super) names: Names,
    /// Options that the text declares, with their defaults.
    pub(super) options: BTreeMap<String, Value>,
    pub(super) found: Findings,
    /// What the function that is read next goes through.
    pub(super) iterated: Option<Value>,
    /// Whether what was read last is one value for each of many: `x for x in y`.
    pub(super) is_comprehension: bool,
    /// Whether nothing is done with what the next call gives.
    pub(super) is_discarded: bool,
    pub(super) budget: Budget,
}

pub(super) fn read(language: Language, text: &str, given: &Given) -> OneLiner {
    let lexed = lex(language, text);
    let outline = Outline::of(language, &lexed.tokens);
    let mut reader = Reader {
        language,
        dialect: Dialect::of(language),
        inputs: Inputs::of(language, given, &lexed.tokens),
        names: Names::default(),
        options: BTreeMap::new(),
        found: Findings::in_order(outline.order),
        outline,
        iterated: None,
        is_comprehension: false,
        is_discarded: false,
        budget: Budget::default(),
    };
    let is_settled = reader.settle(&lexed.tokens);
    let Findings { touches, texts, unknown, spawns, prints, forgotten, hidden, moved, .. } = reader.found.settled();
    let (spawns, is_fed_blindly) = child_stdin::with_input(spawns, &lexed.tokens);
    let sets = if spawns.is_empty() { Vec::new() } else { environment::set_by(&lexed.tokens) };
    let spawns: Vec<Spawn> = spawns.into_iter().map(|spawn| without_variables(spawn, &forgotten)).collect();
    // Where it goes is not followed, so what it then names from there is not known.
    let astray = moved && (!spawns.is_empty() || touches.iter().any(|(_, path)| !path.starts_with(['/', '~'])));
    let hidden = hidden || is_fed_blindly || has_magic(language, &lexed.tokens);
    OneLiner {
        touches,
        texts,
        unknown,
        spawns,
        sets,
        prints,
        complete: lexed.sound && is_settled && !hidden && !astray,
    }
}

/// The same, when these variables are gone.
fn without_variables(mut spawn: Spawn, names: &[String]) -> Spawn {
    spawn.environment.unset.extend(names.iter().cloned());
    spawn
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

impl Reader {
    /// Reads the text until names no longer change; whether they stopped changing.
    fn settle(&mut self, tokens: &[Token]) -> bool {
        for round in 0..MAX_ROUNDS {
            self.found = Findings::in_order(self.outline.order);
            self.names.changed = false;
            self.names.settling = round >= ROUNDS_TO_SETTLE;
            let last = self.all(&mut Tape::new(tokens));
            self.escape(Some(&last));
            if !self.names.changed {
                return true;
            }
        }
        false
    }

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
        if !self.budget.spend(work) {
            self.found.hidden = true;
            tape.finish();
        }
    }

    /// Where a value goes out of sight, what it can do may be done there.
    pub(super) fn escape(&mut self, value: Option<&Value>) {
        let Some(Value::Thing(name)) = value else {
            // Who knows what is written into it there.
            return value.into_iter().for_each(|value| self.put_into(value, None));
        };
        let is_method = self.path_method(name).is_some();
        let does = self.effect_of(name).is_some_and(|effect| !effect.is_harmless());
        let is_root = name.is_empty() || name == "sys.modules" || self.dialect.is_root(name);
        self.found.hidden |= is_root || does || is_method || self.dialect.is_telling_module(name);
    }

    /// What a function does, by its name here.
    pub(super) fn effect_of(&self, name: &str) -> Option<FunctionEffect> {
        self.dialect.function(name).or_else(|| {
            let mut opened = self.names.opened.iter();
            opened.find_map(|module| self.dialect.function(&format!("{module}.{name}")))
        })
    }
}
