//! The functions of the expression language.

use minijinja::{Error, State, Value, value::ValueKind};

use super::{
    builtin::{Arity, BuiltinFn},
    compare::{self, Number, is_list, is_missing, kind_name},
    context,
    error::{failure, wrong_arity},
    mcp,
    operators::{dictionary_key, whole},
    regex_cache::cached_regex,
    values::{items, length, text_argument},
    work_budget::{self, WorkBudget},
};
use path::pattern::Pattern;

use crate::{behavior_names::MCP_CALL_TRACKING, bounded_regex::BoundedRegex, facts::RanCommand};

pub(super) struct Function {
    pub(super) name: &'static str,
    /// The function's name in lowered expressions. Source text cannot contain this name, so a variable cannot shadow
    /// the function.
    pub(super) global: &'static str,
    pub(super) arity: Arity,
    /// If one of the arguments is a pattern: the index of this argument, and the kind of the pattern.
    pub(super) pattern: Option<(usize, PatternKind)>,
    pub(super) run: BuiltinFn,
    /// The built-in behavior that provides the function's data.
    pub(super) behavior: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternKind {
    Regex,
    Glob,
    /// The id of a file rule.
    FileRule,
}

impl PatternKind {
    pub(super) fn check(self, pattern: &str) -> Result<(), String> {
        match self {
            Self::Regex => BoundedRegex::parse(pattern).map(|_| ()).map_err(|problem| problem.message),
            Self::Glob => Pattern::parse(pattern).map(|_| ()).map_err(|problem| format!("invalid pattern: {problem}")),
            // Whether a rule with this id exists is not checked, because this module does not know the rules.
            Self::FileRule => Ok(()),
        }
    }
}

macro_rules! function {
    ($name:literal, $arity:expr, $run:expr) => {
        function!($name, $arity, $run, None)
    };
    ($name:literal, $arity:expr, $run:expr, $pattern:expr) => {
        Function {
            name: $name,
            global: concat!("@", $name),
            arity: $arity,
            pattern: $pattern,
            run: $run,
            behavior: None,
        }
    };
    ($name:literal, $arity:expr, $run:expr, behavior $behavior:expr) => {
        Function { behavior: Some($behavior), ..function!($name, $arity, $run) }
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    function!("all", Arity::exactly(1), all),
    function!("any", Arity::exactly(1), any),
    function!("bool", Arity::exactly(1), bool),
    function!("command_ran", Arity::between(1, 2), command_ran, Some((0, PatternKind::Regex))),
    function!("command_succeeded", Arity::between(1, 2), command_succeeded, Some((0, PatternKind::Regex))),
    function!("dict", Arity::between(0, 1), dict),
    function!("file_rule_met", Arity::exactly(1), file_rule_met, Some((0, PatternKind::FileRule))),
    function!("glob", Arity::exactly(2), glob, Some((1, PatternKind::Glob))),
    function!("has_stop_signal", Arity::between(0, 1), has_stop_signal),
    function!("int", Arity::exactly(1), int),
    function!("len", Arity::exactly(1), len),
    function!("list", Arity::between(0, 1), list),
    function!("matches", Arity::exactly(2), matches, Some((1, PatternKind::Regex))),
    function!("max", Arity::at_least(1), |state, args| extreme(state, args, std::cmp::Ordering::is_gt)),
    function!("mcp_called", Arity::between(1, 2), mcp::called, behavior MCP_CALL_TRACKING),
    function!("mcp_failed", Arity::exactly(2), mcp::failed, behavior MCP_CALL_TRACKING),
    function!("mcp_result_has", Arity::exactly(4), mcp::result_has, behavior MCP_CALL_TRACKING),
    function!("mcp_result_is_null", Arity::exactly(2), mcp::result_is_null, behavior MCP_CALL_TRACKING),
    function!("min", Arity::at_least(1), |state, args| extreme(state, args, std::cmp::Ordering::is_lt)),
    function!("str", Arity::exactly(1), str),
    function!("task_needs_user_review", Arity::exactly(1), task_needs_user_review),
    function!("task_tree_complete", Arity::exactly(1), task_tree_complete),
];

pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

fn first_argument(args: &[Value]) -> Result<&Value, Error> {
    args.first().ok_or_else(wrong_arity)
}

fn len(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    length(first_argument(args)?, work_budget::of(state))
}

fn str(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    work_budget::text(first_argument(args)?, work_budget::of(state)).map(Value::from)
}

fn int(_: &mut State, args: &[Value]) -> Result<Value, Error> {
    let value = first_argument(args)?;
    let number = match (Number::of(value), value.as_str()) {
        (Some(Number::Whole(number)), _) => Some(number),
        #[expect(clippy::cast_possible_truncation, reason = "as in Python, towards zero; the range is checked")]
        (Some(Number::Float(number)), _) => (number.abs() < 1e30).then_some(number.trunc() as i128),
        (None, Some(text)) => text.trim().parse().ok(),
        (None, None) => return Err(failure(format!("`int` does not accept {}", kind_name(value)))),
    };
    number.map(whole).ok_or_else(|| failure("`int` cannot convert this to an integer"))
}

fn bool(_: &mut State, args: &[Value]) -> Result<Value, Error> {
    first_argument(args).map(|value| Value::from(value.is_true()))
}

fn list(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    items(args.first().unwrap_or(&Value::UNDEFINED), work_budget::of(state)).map(Value::from)
}

fn dict(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let value = args.first().unwrap_or(&Value::UNDEFINED);
    if value.kind() == ValueKind::Map {
        return Ok(value.clone());
    }
    let work = work_budget::of(state);
    let mut pairs = Vec::new();
    for item in items(value, work)? {
        match items(&item, work)?.as_slice() {
            [key, value] => pairs.push((dictionary_key(key)?, value.clone())),
            _ => return Err(failure("`dict` needs a dictionary or a list of pairs")),
        }
    }
    Ok(Value::from_pairs(pairs))
}

fn any(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    Ok(Value::from(items(first_argument(args)?, work_budget::of(state))?.iter().any(Value::is_true)))
}

fn all(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    Ok(Value::from(items(first_argument(args)?, work_budget::of(state))?.iter().all(Value::is_true)))
}

/// `min` or `max` of the arguments, or of the items of a single argument. The result for no items is undefined.
fn extreme(state: &mut State, args: &[Value], better: fn(std::cmp::Ordering) -> bool) -> Result<Value, Error> {
    let work = work_budget::of(state);
    let candidates = match args {
        [only] => items(only, work)?,
        several => several.to_vec(),
    };
    let mut candidates = candidates.into_iter();
    let Some(mut best) = candidates.next() else { return Ok(Value::UNDEFINED) };
    for candidate in candidates {
        let Some(order) = compare::order(&candidate, &best, work)? else {
            return Err(failure(format!("cannot compare {} and {}", kind_name(&best), kind_name(&candidate))));
        };
        if better(order) {
            best = candidate;
        }
    }
    Ok(best)
}

/// Charges the budget for the compilation of a regex, even if the compiled regex is cached. Otherwise, earlier
/// evaluations would decide whether this evaluation exceeds its budget.
fn charge_regex(pattern: &str, work: &mut WorkBudget) -> Result<(), Error> {
    work.charge(pattern.len() * 1024)
}

fn is_regex_match(pattern: &str, text: &str, work: &mut WorkBudget) -> Result<bool, Error> {
    work.charge(text.len() * 4)?;
    cached_regex(pattern).is_match(text).map_err(|problem| failure(problem.message))
}

fn matches(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [text, pattern] = args else { return Err(wrong_arity()) };
    let Some(pattern) = text_argument(pattern, "matches")? else {
        return Err(failure("`matches` needs a regular expression"));
    };
    let Some(text) = text_argument(text, "matches")? else { return Ok(Value::from(false)) };
    let work = work_budget::of(state);
    charge_regex(pattern, work)?;
    is_regex_match(pattern, text, work).map(Value::from)
}

fn glob(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [path, pattern] = args else { return Err(wrong_arity()) };
    let Some(pattern) = text_argument(pattern, "glob")? else { return Err(failure("`glob` needs a pattern")) };
    let Some(path) = text_argument(path, "glob")? else { return Ok(Value::from(false)) };
    work_budget::of(state).charge(pattern.len() * 1024 + path.len() * 4)?;
    let pattern = Pattern::parse(pattern).map_err(|problem| failure(format!("invalid glob pattern: {problem}")))?;
    Ok(Value::from(pattern.matches(path)))
}

fn file_rule_met(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let id = text_argument(first_argument(args)?, "file_rule_met")?;
    let Some(id) = id else { return Err(failure("`file_rule_met` needs the name of a rule")) };
    let facts = context::facts(state).ok_or_else(|| failure("`file_rule_met` needs the files that changed"))?;
    let rule = facts.situation.facts.file_rule(id);
    let rule = rule.ok_or_else(|| failure(format!("no file rule `{id}` is in force")))?;
    let Some(changes) = facts.resolve(facts.situation.facts.changes(rule.scope))? else {
        return Err(failure("`file_rule_met`: Linchpin can't tell which files changed"));
    };
    let file_match = rule.judge(&changes).map_err(|error| failure(error.to_string()))?;
    Ok(Value::from(!file_match.is_unmet()))
}

fn has_stop_signal(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let session = args.first().map(|session| text_argument(session, "has_stop_signal")).transpose()?.flatten();
    let facts = context::facts(state).ok_or_else(|| failure("`has_stop_signal` needs a session"))?;
    facts.resolve(facts.situation.facts.stop_signal(session)).map(Value::from)
}

/// True if the task with this id, or all tasks of a list of ids, are complete with their subtasks. Missing and empty
/// ids are ignored; the result is true if no other ids are given.
fn task_tree_complete(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let argument = first_argument(args)?;
    let ids = if is_list(argument) { items(argument, work_budget::of(state))? } else { vec![argument.clone()] };
    let mut ids = ids.iter().map(|id| text_argument(id, "task_tree_complete")).collect::<Result<Vec<_>, _>>()?;
    // The id from a variable that is not set is missing or empty.
    ids.retain(|id| id.is_some_and(|id| !id.is_empty()));
    if ids.is_empty() {
        return Ok(Value::from(true));
    }
    let facts = context::facts(state).ok_or_else(|| failure("`task_tree_complete` needs the tasks of a project"))?;
    for id in ids.into_iter().flatten() {
        if !facts.resolve(facts.situation.facts.task_tree_is_complete(id))? {
            return Ok(Value::from(false));
        }
    }
    Ok(Value::from(true))
}

/// True if the task needs a person's review; false for a missing or empty id.
fn task_needs_user_review(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let id = text_argument(first_argument(args)?, "task_needs_user_review")?;
    let Some(id) = id.filter(|id| !id.is_empty()) else { return Ok(Value::from(false)) };
    let facts =
        context::facts(state).ok_or_else(|| failure("`task_needs_user_review` needs the tasks of a project"))?;
    facts.resolve(facts.situation.facts.task_needs_review(id)).map(Value::from)
}

fn command_ran(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    any_command(state, args, "command_ran", |_| true)
}

fn command_succeeded(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    any_command(state, args, "command_succeeded", |command| command.succeeded)
}

/// True if the history contains a command that matches the regex, for which `is_selected` returns true, and that ran at
/// most as many seconds ago as the optional second argument says.
fn any_command(
    state: &mut State,
    args: &[Value],
    name: &str,
    is_selected: fn(&RanCommand) -> bool,
) -> Result<Value, Error> {
    let pattern = text_argument(first_argument(args)?, name)?;
    let Some(pattern) = pattern else { return Err(failure(format!("`{name}` needs a regular expression"))) };
    let facts = context::facts(state).ok_or_else(|| failure(format!("`{name}` needs the history of a session")))?;
    let since = match args.get(1) {
        Some(seconds) if !is_missing(seconds) => {
            let Some(seconds) = Number::of(seconds) else {
                return Err(failure(format!("`{name}` takes seconds, not {}", kind_name(seconds))));
            };
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a huge number of seconds saturates, and then includes all commands"
            )]
            let milliseconds = (seconds.as_float() * 1000.0) as i64;
            facts.situation.event.time.saturating_sub(milliseconds)
        }
        _ => i64::MIN,
    };
    let work = work_budget::of(state);
    charge_regex(pattern, work)?;
    for command in facts.resolve(facts.situation.facts.commands_ran())? {
        if command.time >= since && is_selected(&command) && is_regex_match(pattern, &command.text, work)? {
            return Ok(Value::from(true));
        }
    }
    Ok(Value::from(false))
}
