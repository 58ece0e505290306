//! The filters of the expression language. For a missing value (undefined or null), `length` is 0, `default` returns
//! its argument, and all other filters return undefined.

use std::collections::BTreeSet;

use minijinja::{Error, State, Value};

use super::{
    builtin::{Arity, BuiltinFn},
    compare::{self, Number, is_missing},
    error::{failure, wrong_arity},
    methods,
    values::{items, join_with, length},
    work_budget::{self, WorkBudget},
};

pub(super) struct Filter {
    pub(super) name: &'static str,
    pub(super) global: &'static str,
    /// The number of arguments, excluding the value before the `|`.
    pub(super) arity: Arity,
    pub(super) run: BuiltinFn,
}

macro_rules! filter {
    ($name:literal, $arity:expr, $run:expr) => {
        Filter { name: $name, global: concat!("|", $name), arity: $arity, run: $run }
    };
}

pub(super) const FILTERS: &[Filter] = &[
    filter!("default", Arity::between(1, 2), default),
    filter!("first", Arity::exactly(0), |state, args| if_present(state, args, first)),
    filter!("join", Arity::between(0, 1), |state, args| if_present(state, args, join)),
    filter!("last", Arity::exactly(0), |state, args| if_present(state, args, last)),
    filter!("length", Arity::exactly(0), |state, args| length(value(args)?, work_budget::of(state))),
    filter!("lower", Arity::exactly(0), |state, args| methods::call(state, "lower", args)),
    filter!("sort", Arity::exactly(0), |state, args| if_present(state, args, sort)),
    filter!("trim", Arity::exactly(0), |state, args| methods::call(state, "strip", args)),
    filter!("unique", Arity::exactly(0), |state, args| if_present(state, args, unique)),
    filter!("upper", Arity::exactly(0), |state, args| methods::call(state, "upper", args)),
];

pub(super) fn find(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|filter| filter.name == name)
}

fn value(args: &[Value]) -> Result<&Value, Error> {
    args.first().ok_or_else(wrong_arity)
}

/// Applies the filter; the result for a missing value is undefined.
fn if_present(
    state: &mut State,
    args: &[Value],
    filter: fn(&Value, Option<&Value>, &mut WorkBudget) -> Result<Value, Error>,
) -> Result<Value, Error> {
    let value = value(args)?;
    if is_missing(value) { Ok(Value::UNDEFINED) } else { filter(value, args.get(1), work_budget::of(state)) }
}

/// Replaces a missing value by the first argument. As in Jinja, the filter also replaces values that count as false if
/// its second argument is true.
fn default(_: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [value, replacement, rest @ ..] = args else { return Err(wrong_arity()) };
    let replaces_false = rest.first().is_some_and(Value::is_true);
    let is_replaced = is_missing(value) || replaces_false && !value.is_true();
    Ok(if is_replaced { replacement } else { value }.clone())
}

fn first(value: &Value, _: Option<&Value>, work: &mut WorkBudget) -> Result<Value, Error> {
    Ok(items(value, work)?.into_iter().next().unwrap_or_default())
}

fn last(value: &Value, _: Option<&Value>, work: &mut WorkBudget) -> Result<Value, Error> {
    Ok(items(value, work)?.pop().unwrap_or_default())
}

fn join(value: &Value, separator: Option<&Value>, work: &mut WorkBudget) -> Result<Value, Error> {
    let separator = match separator {
        Some(separator) => work_budget::text(separator, work)?,
        None => String::new(),
    };
    join_with(&separator, value, work)
}

/// Sorts a list of numbers or a list of strings. Any other list is an error, because its items have no obvious order.
fn sort(value: &Value, _: Option<&Value>, work: &mut WorkBudget) -> Result<Value, Error> {
    let mut items = items(value, work)?;
    work.charge_items(items.len())?;
    if items.iter().all(|item| item.as_str().is_some()) {
        items.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    } else if items.iter().all(|item| matches!(Number::of(item), Some(Number::Whole(_)))) {
        items.sort_by_key(|item| i128::try_from(item.clone()).unwrap_or_default());
    } else if items.iter().all(|item| Number::of(item).is_some()) {
        let float = |item: &Value| Number::of(item).map_or(0.0, Number::as_float);
        items.sort_by(|a, b| float(a).total_cmp(&float(b)));
    } else {
        return Err(failure("`sort` needs a list of numbers or a list of texts"));
    }
    Ok(Value::from(items))
}

fn unique(value: &Value, _: Option<&Value>, work: &mut WorkBudget) -> Result<Value, Error> {
    let items = items(value, work)?;
    if items.iter().all(|item| item.as_str().is_some()) {
        let mut seen = BTreeSet::new();
        return Ok(items.iter().filter(|item| seen.insert(item.as_str())).cloned().collect());
    }
    let mut kept: Vec<Value> = Vec::new();
    'items: for item in items {
        work.charge(kept.len())?;
        for earlier in &kept {
            if compare::equal(earlier, &item, work)? {
                continue 'items;
            }
        }
        kept.push(item);
    }
    Ok(Value::from(kept))
}
