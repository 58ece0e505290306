//! Expressions: the language of all conditions.
//!
//! A subset of Python with Jinja's filters. minijinja parses and evaluates it; this module decides what an expression
//! may contain ([`check`]), what its names resolve to ([`Situation`]), and what it may cost. Text from an agent is
//! always a value: it is never parsed, compiled or rendered.
//!
//! Differences from Python:
//! - A missing name, key, attribute or index is *undefined*. Undefined equals null, `is None`, is false, has length 0
//!   and no items, and contains nothing. Methods and filters on undefined or null give undefined (except `length`: 0,
//!   and `default`: its argument). The result of [`evaluate`] is then null.
//! - Ordering values of different kinds, or null or undefined, is false in both directions. Booleans are the numbers 0
//!   and 1, so `True == 1`, as in Python; `is True` distinguishes them.
//! - Every operand of a chained comparison is evaluated; `and`, `or` and the ternary evaluate only what they need.
//! - `+ - * // %` on null, undefined or mismatched kinds is an error, because a wrong number would silently change a
//!   decision. So are division by zero and results that no JSON number can represent.
//! - `x in text` is false if `x` is not a string; `in` a number or boolean is an error.
//! - `a if b` without `else` is undefined if `b` is false. Tuples are lists. There are no keyword arguments, slices,
//!   comprehensions or lambdas, and no `/`, `**` or `~`.
//! - `sort` and `unique` are case-sensitive. `min` and `max` of nothing are undefined.
//!
//! Limits: 4 KiB of text, 32 nested brackets and a tree depth of 160 (`source`); a budget for the text and items that
//! an evaluation reads or builds (`work_budget`); regexes have their own limits (`bounded_regex`).

mod builtin;
mod compare;
mod conditions;
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

/// Maximum number of evaluation steps, more than the longest expression needs.
const FUEL: u64 = 20_000;

/// Contains only the callables of lowered expressions; built once per process.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    for (name, run) in OPERATORS {
        environment.add_global(*name, Value::from_object(Builtin(*run)));
    }
    environment.add_global(methods::METHOD, Value::from_object(Builtin(methods::run)));
    environment.add_global(conditions::CONDITION, Value::from_object(Builtin(conditions::run)));
    environment.add_global(template::SHOW, Value::from_object(Builtin(template::show)));
    for filter in FILTERS {
        environment.add_global(filter.global, Value::from_object(Builtin(filter.run)));
    }
    for function in FUNCTIONS {
        environment.add_global(function.global, Value::from_object(Builtin(function.run)));
    }
    environment
});

/// All problems that can be found without evaluation, in the order of the text.
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

/// All problems of a lowered expression or template, in the order of the text.
fn problems(lowering: &mut Lowering<'_>, scope: &Scope) -> Vec<ExprError> {
    let mut errors = std::mem::take(&mut lowering.errors);
    for mention in &lowering.mentions {
        errors.extend(scope.check(mention));
    }
    errors.extend(lowering.calls.iter().filter_map(|call| scope.check_call(call)));
    for pattern in &lowering.patterns {
        if let Err(problem) = pattern.kind.check(pattern.text.as_str().unwrap_or_default()) {
            errors.push(ExprError::new(pattern.span.clone(), problem));
        }
    }
    errors.sort_by_key(|error| error.span.start);
    errors
}

/// Ids of file rules that the expression names. Empty if it does not parse.
pub fn file_rules_named(source: &str) -> Vec<String> {
    let Ok(source) = Source::read(source) else { return Vec::new() };
    let Ok((_, lowering)) = lowered(&source) else { return Vec::new() };
    let named = lowering.patterns.iter().filter(|pattern| pattern.kind == PatternKind::FileRule);
    named.filter_map(|pattern| pattern.text.as_str().map(str::to_owned)).collect()
}

/// Claims that the expression names as `claims.NAME`. Empty if it does not parse.
pub fn claims_named(source: &str) -> Vec<String> {
    let Ok(source) = Source::read(source) else { return Vec::new() };
    let Ok((_, lowering)) = lowered(&source) else { return Vec::new() };
    let named = lowering.mentions.iter().filter(|mention| mention.name == "claims");
    named.filter_map(|mention| Some(mention.field.as_ref()?.0.to_owned())).collect()
}

/// Evaluates the expression in a situation. An undefined result is null.
pub fn evaluate(source: &str, situation: &Arc<Situation>) -> Result<Json, EvaluationError> {
    in_situation(source, situation, ChangeScope::default(), |value| {
        json::to_json(value, &mut WorkBudget::default()).map_err(|error| ExprError::from_engine(&error, source.len()))
    })
}

/// True if the expression is true in this situation, where `files` are the changes within `change_scope`. Cheaper than
/// [`evaluate`], which converts the result.
pub fn is_true(source: &str, situation: &Arc<Situation>, change_scope: ChangeScope) -> Result<bool, EvaluationError> {
    in_situation(source, situation, change_scope, |value| Ok(value.is_true()))
}

/// `read` may request further facts, because some values are computed lazily.
fn in_situation<T>(
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

/// The result of an evaluation with given names.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    pub value: Json,
    pub truthy: bool,
    /// Names in the expression that have no value; sorted.
    pub unknown: Vec<String>,
    /// A missing fact that the expression requested; its default was used.
    pub missing: Option<Missing>,
}

/// Evaluates with the names of a dictionary. As in every expression, variables under `variables` can also be used as
/// bare names, and `tool_name`, `tool_input` and `source` are short for fields of `event`. `known` is a situation for
/// `files`, `git` and functions. `scope` limits the permitted names; without it, unknown names are undefined and
/// reported.
pub fn evaluate_with_names(
    source: &str,
    with: &Map<String, Json>,
    known: Option<&Arc<Situation>>,
    scope: Option<&Scope>,
) -> Result<Evaluation, ExprError> {
    let source = Source::read(source)?;
    let (tree, lowering) = lowered(&source)?;
    let problem = scope.and_then(|scope| lowering.mentions.iter().find_map(|mention| scope.check(mention)));
    if let Some(problem) = problem {
        return Err(source.original_error(problem));
    }
    let facts = known.map(|situation| Arc::new(FactReader::new(situation, OnMissing::UseDefault)));
    let root = NameSource::given(with, facts.as_ref());
    let unknown: BTreeSet<&str> =
        lowering.mentions.iter().map(|mention| mention.name).filter(|name| root.resolve(name).is_none()).collect();
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
