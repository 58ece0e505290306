//! Walks the tokens of a program, evaluates its expressions and records the effects of its calls.
//!
//! The tokens are walked in several rounds. In the course of these rounds, each name collects all values that are
//! assigned to it. The result consists of the findings of the first round in which the value of no name changes.

use std::collections::BTreeMap;

use super::bindings::Bindings;
use super::budget::Budget;
use super::dialect::Dialect;
use super::evaluator_inputs::EvaluatorInputs;
use super::findings::Findings;
use super::function_effect::FunctionEffect;
use super::lex::lex;
use super::outline::Outline;
use super::spawn::Spawn;
use super::token::{Token, TokenKind};
use super::token_cursor::TokenCursor;
use super::value::Value;
use super::{Language, ProgramEffects, ProgramInputs, child_stdin, environment_variables};

/// The number of rounds after which the value of a name that still changes becomes unknown. If names still change after
/// [`MAX_ROUNDS`], the result is incomplete.
const ROUNDS_BEFORE_WIDENING: usize = 5;
const MAX_ROUNDS: usize = 10;

pub(super) struct Evaluator {
    pub(super) language: Language,
    pub(super) dialect: &'static Dialect,
    pub(super) inputs: EvaluatorInputs,
    pub(super) outline: Outline,
    pub(super) bindings: Bindings,
    /// The command line options that the program declares, with their defaults.
    pub(super) declared_options: BTreeMap<String, Value>,
    pub(super) findings: Findings,
    /// The value that the next function literal gets as its first parameter: an element of `list` in `list.forEach(…)`.
    pub(super) first_parameter: Option<Value>,
    /// True if the last expression was a comprehension: `x for x in y`.
    pub(super) is_comprehension: bool,
    /// True if the result of the next call is not used.
    pub(super) is_result_discarded: bool,
    pub(super) budget: Budget,
}

pub(super) fn evaluate(language: Language, source: &str, inputs: &ProgramInputs) -> ProgramEffects {
    let lexed = lex(language, source);
    let outline = Outline::of(language, &lexed.tokens);
    let mut evaluator = Evaluator {
        language,
        dialect: Dialect::of(language),
        inputs: EvaluatorInputs::of(language, inputs, &lexed.tokens),
        bindings: Bindings::default(),
        declared_options: BTreeMap::new(),
        findings: Findings::new(outline.order),
        outline,
        first_parameter: None,
        is_comprehension: false,
        is_result_discarded: false,
        budget: Budget::default(),
    };
    let is_stable = evaluator.evaluate_until_stable(&lexed.tokens);
    let Findings {
        accesses,
        written_files,
        unknown_accesses,
        spawns,
        printed_strings,
        unset_variables,
        is_opaque,
        in_unknown_directory,
        ..
    } = evaluator.findings.finish();
    let (spawns, reads_unknown_stdin) = child_stdin::with_scripts_on_stdin(spawns, &lexed.tokens);
    let exported_variables =
        if spawns.is_empty() { Vec::new() } else { environment_variables::exported_variables(&lexed.tokens) };
    let spawns: Vec<Spawn> = spawns.into_iter().map(|spawn| with_unset_variables(spawn, &unset_variables)).collect();
    // If the working directory is unknown, the files of relative paths and the working directories of commands are
    // unknown.
    let depends_on_unknown_directory =
        in_unknown_directory && (!spawns.is_empty() || accesses.iter().any(|(_, path)| !path.starts_with(['/', '~'])));
    let is_opaque = is_opaque || reads_unknown_stdin || has_ipython_magic(language, &lexed.tokens);
    ProgramEffects {
        accesses,
        written_files,
        unknown_accesses,
        spawns,
        exported_variables,
        printed_strings,
        is_complete: lexed.is_understood && is_stable && !is_opaque && !depends_on_unknown_directory,
    }
}

/// Returns the command with these variables removed from its environment.
fn with_unset_variables(mut spawn: Spawn, names: &[String]) -> Spawn {
    spawn.environment.unset.extend(names.iter().cloned());
    spawn
}

/// True if a line is a magic command or shell command of `ipython`: `%run x`, `!ls`.
fn has_ipython_magic(language: Language, tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    let mut is_line_start = true;
    for token in tokens.iter().filter(|_| language == Language::Python) {
        match token.kind {
            TokenKind::Punct("!" | "%") if is_line_start => return true,
            TokenKind::Punct("(" | "[" | "{") => depth += 1,
            TokenKind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_line_start = token.kind == TokenKind::Newline && depth == 0;
    }
    false
}

impl Evaluator {
    /// Walks the program in rounds until a round changes no values. Returns false if values still change in the last
    /// round.
    fn evaluate_until_stable(&mut self, tokens: &[Token]) -> bool {
        for round in 0..MAX_ROUNDS {
            self.findings = Findings::new(self.outline.order);
            self.bindings.has_changed = false;
            self.bindings.widens_to_unknown = round >= ROUNDS_BEFORE_WIDENING;
            let last = self.evaluate_all_statements(&mut TokenCursor::new(tokens));
            self.record_escape(Some(&last));
            if !self.bindings.has_changed {
                return true;
            }
        }
        false
    }

    /// Walks all statements, and returns the value of the last one.
    pub(super) fn evaluate_all_statements(&mut self, cursor: &mut TokenCursor<'_>) -> Value {
        let mut last = Value::Unknown;
        loop {
            if let Some(value) = self.evaluate_statements(cursor) {
                last = value;
            }
            // If a token is left, it is a closing bracket without an opening one, so the lexer has probably misread the
            // source.
            if cursor.next().is_none() {
                return last;
            }
            self.findings.is_opaque = true;
        }
    }

    /// Walks the statements up to a closing bracket.
    pub(super) fn evaluate_statements(&mut self, cursor: &mut TokenCursor<'_>) -> Option<Value> {
        let mut last = None;
        loop {
            match cursor.peek()?.kind {
                TokenKind::Punct(")" | "]" | "}") => return last,
                TokenKind::Newline | TokenKind::Punct(";" | "," | ":" | "=>") => {
                    cursor.next();
                }
                _ => {
                    self.record_escape(last.as_ref());
                    let start = cursor.position();
                    let value = self.evaluate_expression(cursor, false);
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

    /// Subtracts work from the budget. If the budget is exhausted, the cursor skips the remaining tokens.
    pub(super) fn spend(&mut self, work: usize, cursor: &mut TokenCursor<'_>) {
        if !self.budget.spend(work) {
            self.findings.is_opaque = true;
            cursor.skip_to_end();
        }
    }

    /// Records that a value escapes: it is used in code that the analysis does not follow, such as an unknown function.
    /// If the value is a function with effects, that code may call it.
    pub(super) fn record_escape(&mut self, value: Option<&Value>) {
        let Some(Value::QualifiedName(name)) = value else {
            // The code that the analysis does not follow can also write to an open file.
            return value.into_iter().for_each(|value| self.write_to_output(value, None));
        };
        let is_method = self.class_method_effect(name).is_some();
        let has_effect = self.effect_of(name).is_some_and(|effect| !effect.is_harmless());
        let is_global = name.is_empty() || name == "sys.modules" || self.dialect.is_global_object(name);
        self.findings.is_opaque |= is_global || has_effect || is_method || self.dialect.has_effectful_members(name);
    }

    /// Returns the effect of a function by its dotted name, or by its last segment after `from module import *`.
    pub(super) fn effect_of(&self, name: &str) -> Option<FunctionEffect> {
        self.dialect.function_effect(name).or_else(|| {
            let mut star_imports = self.bindings.star_imports.iter();
            star_imports.find_map(|module| self.dialect.function_effect(&format!("{module}.{name}")))
        })
    }
}
