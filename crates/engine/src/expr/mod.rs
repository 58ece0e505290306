//! Expressions: the language of all conditions.
//!
//! The language is a subset of Python with Jinja's filters. minijinja parses and evaluates expressions. This module
//! decides what an expression may contain ([`check`]), what its names resolve to ([`Situation`]), and how much work it
//! may take. Text from an agent is always a value: such text is never parsed as an expression or a template.
//!
//! Differences from Python:
//! - A missing name, key, attribute or index is *undefined*. An undefined value equals null (`x is None` is true),
//!   counts as false, has length 0 and no items, and contains nothing. A method or filter of an undefined value or of
//!   null is undefined (except `length`, which is 0, and `default`, which is its argument). An undefined result of
//!   [`evaluate`] is null.
//! - `<`, `<=`, `>` and `>=` are false for values of different kinds, for dictionaries, and for null or undefined.
//!   Booleans are the numbers 0 and 1, so `True == 1`, as in Python; `is True` distinguishes them.
//! - Every operand of a chained comparison is evaluated; `and`, `or` and `a if b else c` evaluate only the operands
//!   that decide the result.
//! - `+ - * // %` with null, undefined or values of different kinds is an error, because a wrong number would silently
//!   change a decision. Only `*` also accepts an integer and a string or list, which it repeats. A division by zero, or
//!   a result that no JSON number can represent, is an error too.
//! - `x in text` is false if `x` is not a string; `x in y` is an error if `y` is a number or a boolean.
//! - `a if b` without `else` is undefined if `b` is false. Tuples are lists. There are no keyword arguments, slices,
//!   comprehensions or lambdas, and no `/`, `**` or `~`.
//! - `sort` and `unique` are case-sensitive. `min` and `max` of no items are undefined.
//!
//! Limits: 4 KiB of text, 32 nested brackets and a tree depth of 160 (`source`); a budget for the text and items that
//! an evaluation reads or builds (`work_budget`); regexes have their own limits (`bounded_regex`).

mod behavior_conditions;
mod builtin;
mod compare;
mod context;
mod context_names;
mod error;
mod fact_reader;
mod filters;
mod functions;
mod json;
mod lower;
mod mcp;
mod methods;
mod name_reference;
mod names;
mod operators;
mod regex_cache;
mod source;
pub mod template;
mod values;
mod work_budget;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use minijinja::{
    AutoEscape, Environment, UndefinedBehavior, Value,
    machinery::{self, CodeGenerator, ast::Expr},
};
use serde_json::{Map, Value as Json};

use self::{
    builtin::Builtin,
    context::NameSource,
    fact_reader::FactReader,
    filters::FILTERS,
    functions::{FUNCTIONS, PatternKind},
    lower::Lowering,
    operators::OPERATORS,
    source::Source,
    work_budget::WorkBudget,
};
pub use self::{
    error::{EvaluationError, ExprError},
    fact_reader::OnMissing,
    json::truthy,
    names::{Scope, check_variable_name},
};
use crate::facts::Missing;
use crate::file_rules::ChangeScope;
use crate::situation::Situation;

/// The maximum number of evaluation steps. The longest permitted expression needs fewer steps.
const FUEL: u64 = 20_000;

/// The environment in which minijinja evaluates expressions. This environment contains only the functions that lowered
/// expressions can call, and is built once per process.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    for (name, run) in OPERATORS {
        environment.add_global(*name, Value::from_object(Builtin(*run)));
    }
    environment.add_global(methods::METHOD, Value::from_object(Builtin(methods::run)));
    environment
        .add_global(behavior_conditions::BEHAVIOR_CONDITION, Value::from_object(Builtin(behavior_conditions::run)));
    environment.add_global(template::SHOW, Value::from_object(Builtin(template::show)));
    for filter in FILTERS {
        environment.add_global(filter.global, Value::from_object(Builtin(filter.run)));
    }
    for function in FUNCTIONS {
        environment.add_global(function.global, Value::from_object(Builtin(function.run)));
    }
    environment
});

/// Returns all problems that can be found without evaluation, in the order of the text.
pub fn check(source: &str, scope: &Scope) -> Vec<ExprError> {
    let source = match Source::read(source) {
        Ok(source) => source,
        Err(error) => return vec![error],
    };
    let mut lowering = Lowering::new(&source.text);
    match machinery::parse_expr(&source.text) {
        Ok(tree) => lowering.lower(&tree),
        Err(error) => return vec![source.syntax_error(&error)],
    };
    let errors = problems(&mut lowering, scope);
    errors.into_iter().map(|error| source.original_error(error)).collect()
}

/// Returns all problems of a lowered expression or template, in the order of the text.
fn problems(lowering: &mut Lowering<'_>, scope: &Scope) -> Vec<ExprError> {
    let mut errors = std::mem::take(&mut lowering.errors);
    for reference in &lowering.names {
        errors.extend(scope.check(reference));
    }
    errors.extend(lowering.behavior_calls.iter().filter_map(|call| scope.check_call(call)));
    for pattern in &lowering.patterns {
        if let Err(problem) = pattern.kind.check(pattern.text.as_str().unwrap_or_default()) {
            errors.push(ExprError::new(pattern.span.clone(), problem));
        }
    }
    errors.sort_by_key(|error| error.span.start);
    errors
}

/// Returns the ids of the file rules that the expression names. Empty if the expression cannot be parsed.
pub fn file_rules_named(source: &str) -> Vec<String> {
    let Ok(source) = Source::read(source) else { return Vec::new() };
    let Ok((_, lowering)) = lowered(&source) else { return Vec::new() };
    let named = lowering.patterns.iter().filter(|pattern| pattern.kind == PatternKind::FileRule);
    named.filter_map(|pattern| pattern.text.as_str().map(str::to_owned)).collect()
}

/// Returns the claims that the expression names as `claims.NAME`. Empty if the expression cannot be parsed.
pub fn claims_named(source: &str) -> Vec<String> {
    let Ok(source) = Source::read(source) else { return Vec::new() };
    let Ok((_, lowering)) = lowered(&source) else { return Vec::new() };
    let named = lowering.names.iter().filter(|reference| reference.name == "claims");
    named.filter_map(|reference| Some(reference.field.as_ref()?.0.to_owned())).collect()
}

/// Evaluates the expression in a situation. An undefined result becomes null.
pub fn evaluate(source: &str, situation: &Arc<Situation>) -> Result<Json, EvaluationError> {
    evaluate_in(source, situation, ChangeScope::default(), |value| {
        json::to_json(value, &mut WorkBudget::default()).map_err(|error| ExprError::from_engine(&error, source.len()))
    })
}

/// True if the expression is true in this situation. `change_scope` selects the file changes that `files` refers to.
/// This function is faster than [`evaluate`], which converts the result to JSON.
pub fn is_true(source: &str, situation: &Arc<Situation>, change_scope: ChangeScope) -> Result<bool, EvaluationError> {
    evaluate_in(source, situation, change_scope, |value| Ok(value.is_true()))
}

/// Evaluates the expression, and reads the result with `read`. `read` may request more facts, because some values are
/// computed only when they are used.
fn evaluate_in<T>(
    source: &str,
    situation: &Arc<Situation>,
    change_scope: ChangeScope,
    read: impl FnOnce(&Value) -> Result<T, ExprError>,
) -> Result<T, EvaluationError> {
    let source = Source::read(source)?;
    let (tree, _) = lowered(&source)?;
    let facts = Arc::new(FactReader::new(situation, OnMissing::Abort));
    let value =
        run(&source, &tree, NameSource::Situation(Arc::clone(&facts), change_scope)).and_then(|value| read(&value));
    facts.check()?;
    Ok(value?)
}

/// The result of [`evaluate_with_names`].
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    pub value: Json,
    pub truthy: bool,
    /// The names in the expression that have no value, sorted.
    pub unknown: Vec<String>,
    /// The first missing fact that the expression requested. The evaluation used the default of this fact instead.
    pub missing: Option<Missing>,
}

/// Evaluates the expression with the names and values of a dictionary. As in every expression, the variables under
/// `variables` can also be used by their names alone, and `tool_name`, `tool_input` and `source` are short for fields
/// of `event`. `situation` provides `files`, `git` and the data of functions. `scope` limits the names that are
/// permitted; without a scope, unknown names are undefined and are listed in [`Evaluation::unknown`].
pub fn evaluate_with_names(
    source: &str,
    names: &Map<String, Json>,
    situation: Option<&Arc<Situation>>,
    scope: Option<&Scope>,
) -> Result<Evaluation, ExprError> {
    let source = Source::read(source)?;
    let (tree, lowering) = lowered(&source)?;
    let problem = scope.and_then(|scope| {
        let unknown_name = lowering.names.iter().find_map(|reference| scope.check(reference));
        unknown_name.or_else(|| lowering.behavior_calls.iter().find_map(|call| scope.check_call(call)))
    });
    if let Some(problem) = problem {
        return Err(source.original_error(problem));
    }
    let facts = situation.map(|situation| Arc::new(FactReader::new(situation, OnMissing::UseDefault)));
    let root = NameSource::dictionary(names, facts.as_ref());
    let unknown: BTreeSet<&str> =
        lowering.names.iter().map(|reference| reference.name).filter(|name| root.resolve(name).is_none()).collect();
    let unknown = unknown.into_iter().map(str::to_owned).collect();
    let value = run(&source, &tree, root)?;
    let json = json::to_json(&value, &mut WorkBudget::default())
        .map_err(|error| source.original_error(ExprError::from_engine(&error, source.text.len())))?;
    let missing = facts.and_then(|facts| facts.missing());
    Ok(Evaluation { value: json, truthy: value.is_true(), unknown, missing })
}

fn lowered<'s>(source: &'s Source<'_>) -> Result<(Expr<'s>, Lowering<'s>), ExprError> {
    let tree = machinery::parse_expr(&source.text).map_err(|error| source.syntax_error(&error))?;
    let mut lowering = Lowering::new(&source.text);
    let tree = lowering.lower(&tree);
    if lowering.errors.is_empty() {
        Ok((tree, lowering))
    } else {
        Err(source.original_error(lowering.errors.swap_remove(0)))
    }
}

fn run(source: &Source<'_>, tree: &Expr<'_>, root: NameSource) -> Result<Value, ExprError> {
    let mut generator = CodeGenerator::new("", &source.text);
    generator.compile_expr(tree);
    let (instructions, blocks) = generator.finish();
    let mut output = String::new();
    let result = machinery::eval(
        &ENVIRONMENT,
        &instructions,
        Value::from_object(root),
        &blocks,
        &mut machinery::make_string_output(&mut output),
        AutoEscape::None,
    );
    match result {
        Ok((value, _)) => Ok(value.unwrap_or_default()),
        Err(error) => Err(source.original_error(ExprError::from_engine(&error, source.text.len()))),
    }
}
