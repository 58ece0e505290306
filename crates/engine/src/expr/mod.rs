//! Expressions: the one language in which conditions are written, wherever they are written.
//!
//! It is a subset of Python with Jinja's filters. The engine (minijinja) parses and runs it; this module decides what
//! an expression may say ([`check`]), what its names stand for ([`Situation`]), and what it may cost. Text that came
//! from an agent is only ever a value here: it is never parsed, compiled or rendered.
//!
//! Where the language departs from Python, or Python leaves room:
//! - A missing name, key, attribute or index is *undefined*. Undefined equals null, `is None`, is false, has length 0
//!   and no items, contains nothing; a method or filter on undefined or null gives undefined (`length`: 0, `default`:
//!   its argument). The result of [`evaluate`] is then null.
//! - Order across kinds, or with null or undefined, is false in both directions. Booleans are the numbers 0 and 1, so
//!   `True == 1`, as in Python; `is True` tells them apart.
//! - Every operand of a chained comparison is evaluated; `and`, `or` and the ternary evaluate only what they need.
//! - `+ - * // %` on null or undefined is an error, as on any kinds that do not fit: a wrong number would decide
//!   silently. So is dividing by zero, and a result that no JSON number holds.
//! - `x in text` is false for an `x` that is not text; `in` a number or boolean is an error.
//! - `a if b` without `else` gives undefined otherwise. A tuple is a list. Arguments have no names. There are no slices,
//!   comprehensions or lambdas, no `/`, `**` or `~`.
//! - `sort` and `unique` tell upper from lower case. `min` and `max` of nothing are undefined.
//!
//! Limits: 4 KiB of text, 32 brackets within brackets, 160 levels in all (`source`); a fixed amount of text and items
//! that an evaluation may go through or build (`work`); regular expressions have their own (`search`).

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
mod mention;
mod methods;
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
    context::Root,
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

/// More steps than the longest expression has.
const FUEL: u64 = 20_000;

/// Empty but for what lowered expressions call; built once a process.
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

/// Every problem that can be known before the expression runs, in the order of the text.
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
    errors.into_iter().map(|error| source.written_error(error)).collect()
}

/// What is wrong with a text that was lowered, in its order.
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

/// The file rules that the expression asks about by name. None where it is no expression.
pub fn file_rules_named(source: &str) -> Vec<String> {
    let Ok(source) = Source::read(source) else { return Vec::new() };
    let Ok((_, lowering)) = lowered(&source) else { return Vec::new() };
    let named = lowering.patterns.iter().filter(|pattern| pattern.kind == PatternKind::FileRule);
    named.filter_map(|pattern| pattern.text.as_str().map(str::to_owned)).collect()
}

/// The claims that the expression names, as `claims.NAME`. None where it is no expression.
pub fn claims_named(source: &str) -> Vec<String> {
    let Ok(source) = Source::read(source) else { return Vec::new() };
    let Ok((_, lowering)) = lowered(&source) else { return Vec::new() };
    let named = lowering.mentions.iter().filter(|mention| mention.name == "claims");
    named.filter_map(|mention| Some(mention.field.as_ref()?.0.to_owned())).collect()
}

/// What the expression gives in this situation; an undefined result is null.
pub fn evaluate(source: &str, situation: &Arc<Situation>) -> Result<Json, EvaluationError> {
    in_situation(source, situation, ChangeScope::default(), |value| {
        json::to_json(value, &mut WorkBudget::default()).map_err(|error| ExprError::from_engine(&error, source.len()))
    })
}

/// Whether the expression is true in this situation, where `files` are the changes within `reach`. Cheaper than
/// [`evaluate`], which copies the result.
pub fn holds(source: &str, situation: &Arc<Situation>, reach: ChangeScope) -> Result<bool, EvaluationError> {
    in_situation(source, situation, reach, |value| Ok(value.is_true()))
}

/// `read` may ask for more facts: some values are worked out when they are looked at.
fn in_situation<T>(
    source: &str,
    situation: &Arc<Situation>,
    reach: ChangeScope,
    read: impl FnOnce(&Value) -> Result<T, ExprError>,
) -> Result<T, EvaluationError> {
    let source = Source::read(source)?;
    let (tree, _) = lowered(&source)?;
    let facts = Arc::new(FactReader::new(situation, OnMissing::Abort));
    let value = run(&source, &tree, Root::Situation(Arc::clone(&facts), reach)).and_then(|value| read(&value));
    facts.check()?;
    Ok(value?)
}

/// What an expression gives where somebody wrote down what its names stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    pub value: Json,
    pub truthy: bool,
    /// The names that the expression mentions and that stand for nothing; sorted.
    pub unknown: Vec<String>,
    /// A fact that the expression asks for and that is missing; it was taken for nothing.
    pub missing: Option<Missing>,
}

/// Evaluates with the names of a dictionary. As everywhere, variables under `variables` are also bare names, and
/// `tool_name`, `tool_input` and `source` are short for fields of `event`. Without a scope names are not checked: what is unknown is
/// undefined, and reported. `known`: a situation for `files`, `git` and functions. `scope`: what may be named; what may not is
/// an error.
pub fn evaluate_beside(
    source: &str,
    with: &Map<String, Json>,
    known: Option<&Arc<Situation>>,
    scope: Option<&Scope>,
) -> Result<Evaluation, ExprError> {
    let source = Source::read(source)?;
    let (tree, lowering) = lowered(&source)?;
    let problem = scope.and_then(|scope| lowering.mentions.iter().find_map(|mention| scope.check(mention)));
    if let Some(problem) = problem {
        return Err(source.written_error(problem));
    }
    let facts = known.map(|situation| Arc::new(FactReader::new(situation, OnMissing::TakeForNothing)));
    let root = Root::given(with, facts.as_ref());
    let unknown: BTreeSet<&str> =
        lowering.mentions.iter().map(|mention| mention.name).filter(|name| root.resolve(name).is_none()).collect();
    let unknown = unknown.into_iter().map(str::to_owned).collect();
    let value = run(&source, &tree, root)?;
    let json = json::to_json(&value, &mut WorkBudget::default())
        .map_err(|error| source.written_error(ExprError::from_engine(&error, source.text.len())))?;
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
        Err(source.written_error(lowering.errors.swap_remove(0)))
    }
}

fn run(source: &Source<'_>, tree: &Expr<'_>, root: Root) -> Result<Value, ExprError> {
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
        Err(error) => Err(source.written_error(ExprError::from_engine(&error, source.text.len()))),
    }
}
