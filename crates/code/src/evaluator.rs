//! Walks the tokens of a program, evaluates its expressions and records the effects of its calls.
//!
//! The tokens are walked in several rounds: a name collects every value that is assigned to it anywhere, and the
//! findings of the first round in which no name changes are final.

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
use super::token::{Kind, Token};
use super::token_cursor::TokenCursor;
use super::value::Value;
use super::{Language, OneLiner, ProgramInputs, child_stdin, environment};

/// After this many rounds, a name that still changes becomes unknown. After [`MAX_ROUNDS`], the program is incomplete.
const ROUNDS_BEFORE_UNKNOWN: usize = 5;
const MAX_ROUNDS: usize = 10;

pub(super) struct Evaluator {
    pub(super) language: Language,
    pub(super) dialect: &'static Dialect,
    pub(super) inputs: Inputs,
    pub(super) outline: Outline,
    pub(super) names: Names,
    /// The command line options that the program declares, with their defaults.
    pub(super) options: BTreeMap<String, Value>,
    pub(super) findings: Findings,
    /// The element that the next function gets as its first parameter: `list.forEach(function)`.
    pub(super) iterated: Option<Value>,
    /// True if the last expression was a comprehension: `x for x in y`.
    pub(super) is_comprehension: bool,
    /// True if the result of the next call is not used.
    pub(super) is_result_discarded: bool,
    pub(super) budget: Budget,
}

pub(super) fn evaluate(language: Language, source: &str, inputs: &ProgramInputs) -> OneLiner {
    let lexed = lex(language, source);
    let outline = Outline::of(language, &lexed.tokens);
    let mut evaluator = Evaluator {
        language,
        dialect: Dialect::of(language),
        inputs: Inputs::of(language, inputs, &lexed.tokens),
        names: Names::default(),
        options: BTreeMap::new(),
        findings: Findings::new(outline.order),
        outline,
        iterated: None,
        is_comprehension: false,
        is_result_discarded: false,
        budget: Budget::default(),
    };
    let is_settled = evaluator.evaluate_until_stable(&lexed.tokens);
    let Findings {
        touches,
        contents,
        unknown_touches,
        spawns,
        prints,
        unset_variables,
        is_opaque,
        in_unknown_directory,
        ..
    } = evaluator.findings.finished();
    let (spawns, reads_unknown_stdin) = child_stdin::with_written_stdin(spawns, &lexed.tokens);
    let exported_variables =
        if spawns.is_empty() { Vec::new() } else { environment::exported_variables(&lexed.tokens) };
    let spawns: Vec<Spawn> = spawns.into_iter().map(|spawn| without_variables(spawn, &unset_variables)).collect();
    // After a change to an unknown directory, relative paths and the directories of spawned commands are not known.
    let has_unplaced_effects =
        in_unknown_directory && (!spawns.is_empty() || touches.iter().any(|(_, path)| !path.starts_with(['/', '~'])));
    let is_opaque = is_opaque || reads_unknown_stdin || has_ipython_magic(language, &lexed.tokens);
    OneLiner {
        touches,
        contents,
        unknown_touches,
        spawns,
        exported_variables,
        prints,
        is_complete: lexed.is_understood && is_settled && !is_opaque && !has_unplaced_effects,
    }
}

/// Returns the command with these variables removed from its environment.
fn without_variables(mut spawn: Spawn, names: &[String]) -> Spawn {
    spawn.environment.unset.extend(names.iter().cloned());
    spawn
}

/// True if a line is an `ipython` magic or shell command: `!ls`, `%run x`.
fn has_ipython_magic(language: Language, tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    let mut is_first = true;
    for token in tokens.iter().filter(|_| language == Language::Python) {
        match token.kind {
            Kind::Punct("!" | "%") if is_first => return true,
            Kind::Punct("(" | "[" | "{") => depth += 1,
            Kind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_first = token.kind == Kind::Newline && depth == 0;
    }
    false
}

impl Evaluator {
    /// Walks the program until no name changes any more. Returns false if that never happens.
    fn evaluate_until_stable(&mut self, tokens: &[Token]) -> bool {
        for round in 0..MAX_ROUNDS {
            self.findings = Findings::new(self.outline.order);
            self.names.changed = false;
            self.names.gives_up_changing = round >= ROUNDS_BEFORE_UNKNOWN;
            let last = self.all_statements(&mut TokenCursor::new(tokens));
            self.escape(Some(&last));
            if !self.names.changed {
                return true;
            }
        }
        false
    }

    /// Walks all statements, and returns the value of the last one.
    pub(super) fn all_statements(&mut self, cursor: &mut TokenCursor<'_>) -> Value {
        let mut last = Value::Unknown;
        loop {
            if let Some(value) = self.statements(cursor) {
                last = value;
            }
            // A closing bracket without an opening one: the tokens differ from those of the real language.
            if cursor.next().is_none() {
                return last;
            }
            self.findings.is_opaque = true;
        }
    }

    /// Walks the statements up to a closing bracket.
    pub(super) fn statements(&mut self, cursor: &mut TokenCursor<'_>) -> Option<Value> {
        let mut last = None;
        loop {
            match cursor.peek()?.kind {
                Kind::Punct(")" | "]" | "}") => return last,
                Kind::Newline | Kind::Punct(";" | "," | ":" | "=>") => {
                    cursor.next();
                }
                _ => {
                    self.escape(last.as_ref());
                    let start = cursor.position();
                    let value = self.expression(cursor, false);
                    // An assigned value stays reachable through its name, so it does not escape.
                    let is_assigned =
                        cursor.between(start, start + 4).iter().any(|token| token.is("=") || token.is(":="));
                    last = (!is_assigned).then_some(value);
                }
            }
            if cursor.peek().is_none() {
                return last;
            }
        }
    }

    /// Takes work from the budget. Without any left, the cursor skips to the end.
    pub(super) fn spend(&mut self, work: usize, cursor: &mut TokenCursor<'_>) {
        if !self.budget.spend(work) {
            self.findings.is_opaque = true;
            cursor.finish();
        }
    }

    /// Records that a value leaves what the analysis follows. The program becomes opaque if the value could have an
    /// effect there.
    pub(super) fn escape(&mut self, value: Option<&Value>) {
        let Some(Value::QualifiedName(name)) = value else {
            // Unknown code may write to an open file.
            return value.into_iter().for_each(|value| self.write_to_output(value, None));
        };
        let is_method = self.path_method(name).is_some();
        let has_effect = self.effect_of(name).is_some_and(|effect| !effect.is_harmless());
        let is_global = name.is_empty() || name == "sys.modules" || self.dialect.is_global_object(name);
        self.findings.is_opaque |= is_global || has_effect || is_method || self.dialect.has_effectful_members(name);
    }

    /// Returns the effect of a function by its name, also if `from module import *` made it a bare name.
    pub(super) fn effect_of(&self, name: &str) -> Option<FunctionEffect> {
        self.dialect.function(name).or_else(|| {
            let mut star_imports = self.names.star_imports.iter();
            star_imports.find_map(|module| self.dialect.function(&format!("{module}.{name}")))
        })
    }
}
