//! Tests that no source text causes a panic, a hang or a stack overflow.

use std::thread;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::evaluate_with;
use crate::bounded_regex::BoundedRegex;
use crate::expr::{
    ExprError, Scope, check, regex_cache,
    source::{BRACKET_LIMIT, DEPTH_LIMIT, LENGTH_LIMIT},
};

fn names() -> Map<String, Value> {
    let names = json!({
        "x": "text", "y": [1, 2.5, "z", null, [true]], "d": {"a": 1, "get": 2, "": {}}, "n": 3, "f": -0.5, "u": u64::MAX,
        "variables": {"v": "é"}, "event": {"tool": "Bash"}
    });
    names.as_object().expect("an object").clone()
}

/// Checks and evaluates the text, and verifies invariants of every error.
fn check_and_evaluate(source: &str) {
    let errors = check(source, &Scope::with_variables(["x", "y"]));
    let result = evaluate_with(source, &names());
    for error in errors.iter().chain(result.as_ref().err()) {
        assert!(source.get(error.span.clone()).is_some(), "{error:?} is not within {source:?}");
        assert!(!error.message.is_empty());
    }
}

const TOKENS: &[&str] = &[
    "x",
    "y",
    "d",
    "n",
    "f",
    "u",
    "missing",
    "event",
    "variables",
    "v",
    "git",
    "None",
    "null",
    "True",
    "false",
    "and",
    "or",
    "not",
    "in",
    "is",
    "if",
    "else",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "//",
    "%",
    "/",
    "**",
    "~",
    "=",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ".",
    "|",
    "'a'",
    "\"é\"",
    "'('",
    "'{'",
    "''",
    "0",
    "1",
    "7.5",
    "1e308",
    "99999999999999999999",
    "len",
    "str",
    "int",
    "list",
    "dict",
    "max",
    "matches",
    "glob",
    "command_ran",
    "any",
    "get",
    "items",
    "lower",
    "split",
    "replace",
    "join",
    "count",
    "strip",
    "default",
    "length",
    "sort",
    "unique",
    "first",
    "\n",
    "{{",
    "}}",
    "{%",
    "#",
    "\\",
    "&&",
    "||",
    "!",
    "self",
    "super",
    "loop",
    "_",
    "@",
    "is None",
    "()",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_handled(source in "\\PC{0,80}") {
        check_and_evaluate(&source);
    }

    #[test]
    fn any_ascii_is_handled(source in "[ -~\\n]{0,80}") {
        check_and_evaluate(&source);
    }

    #[test]
    fn any_tokens_are_handled(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..24)) {
        check_and_evaluate(&tokens.join(" "));
        check_and_evaluate(&tokens.concat());
    }

    #[test]
    fn any_tree_is_handled(source in tree()) {
        check_and_evaluate(&source);
    }

    #[test]
    fn any_regex_is_handled(pattern in "[a-z(){}\\[\\]*+?.,|^$\\\\<>=!:#&0-9-]{0,30}") {
        let mut names = names();
        names.insert("pattern".to_owned(), json!(pattern));
        let _ = evaluate_with("matches(x * 50, pattern)", &names);
        let _ = evaluate_with("glob(x, pattern)", &names);
    }

    /// A regex that is prefiltered with its `RegexHints` gives the same result as the compiled regex alone.
    #[test]
    fn hints_do_not_change_the_result(pattern in "[ab(){}|*+?.^$\\\\bw,1=<!-]{0,12}", text in "[ab<=1 -]{0,12}") {
        if let Ok(regex) = BoundedRegex::parse(&pattern) {
            prop_assert_eq!(regex_cache::cached_regex(&pattern).is_match(&text).ok(), regex.is_match(&text).ok());
        }
    }
}

/// Generates expressions that are mostly valid, so that the steps after the parser are tested too.
fn tree() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "x", "y", "d", "n", "f", "u", "missing", "null", "True", "'a'", "''", "0", "-1", "2.5", "[]", "{}", "1000000",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 40, 3, |inner| {
        let binary = prop::sample::select(vec![
            "and", "or", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "+", "-", "*", "//", "%",
        ]);
        let function =
            prop::sample::select(vec!["len", "str", "int", "bool", "list", "dict", "any", "all", "min", "max"]);
        let method = prop::sample::select(vec![
            "lower()",
            "strip('a')",
            "split()",
            "split('')",
            "items()",
            "get('a')",
            "replace('', 'ab')",
            "join(y)",
            "count(1)",
            "find('')",
            "title()",
            "splitlines(true)",
            "startswith(y)",
            "rfind('t')",
        ]);
        let filter =
            prop::sample::select(vec!["length", "default(1)", "sort", "unique", "join('-')", "first", "last", "trim"]);
        prop_oneof![
            (inner.clone(), binary, inner.clone()).prop_map(|(a, operator, b)| format!("({a} {operator} {b})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} < {b} <= {c})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            (function, inner.clone()).prop_map(|(function, value)| format!("{function}({value})")),
            (inner.clone(), method).prop_map(|(value, method)| format!("({value}).{method}")),
            (inner.clone(), filter).prop_map(|(value, filter)| format!("({value})|{filter}")),
            (inner.clone(), inner.clone()).prop_map(|(value, key)| format!("({value})[{key}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[{a}, {{'k': {b}}}]")),
            inner.prop_map(|value| format!("(not -{value})")),
        ]
    })
}

/// Half of the default stack size of a thread. The tests run in an unoptimized build, which needs more stack than a
/// release build.
const SMALL_STACK: usize = 1 << 20;

fn on_a_small_stack(source: String) -> Option<ExprError> {
    let run = move || {
        let _ = check(&source, &Scope::default());
        evaluate_with(&source, &names()).err()
    };
    thread::Builder::new().stack_size(SMALL_STACK).spawn(run).expect("a thread").join().expect("no panic")
}

#[test]
fn deep_nesting_is_an_error_and_no_stack_overflow() {
    let length = LENGTH_LIMIT / 2 - 1;
    for (before, core, after) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{1:", "1", "}"),
        ("len(", "1", ")"),
        ("not ", "1", ""),
        ("-", "1", ""),
        ("- ", "1", ""),
        ("1 if 1 else ", "1", ""),
        ("", "1", " if 1"),
        ("", "1", " or 1"),
        ("", "1", " and 1"),
        ("", "1", "+1"),
        ("", "1", "*1"),
        ("", "1", "-1"),
        ("", "x", ".x"),
        ("", "x", "[0]"),
        ("", "x", "()"),
        ("", "x", "|trim"),
        ("", "x", ".get(0)"),
        ("", "x", " is None"),
        ("", "x", " is not None"),
        ("x is a -", "1", ""),
        ("not -", "1", ""),
        ("(not ", "1", ")"),
        ("x[", "0", "]"),
        ("", "(", ""),
        ("((", "1", "))"),
        ("{", "", "}"),
        ("1 < ", "1", ""),
        ("", "x", "|default(x"),
    ] {
        let count = (length / (before.len() + after.len()).max(1)).max(1);
        let source = [before.repeat(count).as_str(), core, after.repeat(count).as_str()].concat();
        assert!(source.len() <= LENGTH_LIMIT);
        // `1 < 1 < 1 …` is one chained comparison and not deep, so this expression need not be an error.
        let error = on_a_small_stack(source.clone());
        assert!(error.is_some() || before == "1 < ", "{source}");
    }
}

#[test]
fn the_largest_permitted_nesting_fits_a_small_stack() {
    let brackets = |count: usize| ["(".repeat(count), "1".to_owned(), ")".repeat(count)].concat();
    assert_eq!(on_a_small_stack(brackets(BRACKET_LIMIT)), None);
    assert!(on_a_small_stack(brackets(BRACKET_LIMIT + 1)).is_some());

    let operators = |count: usize| format!("1{}", " or 0".repeat(count));
    assert_eq!(on_a_small_stack(operators(DEPTH_LIMIT - 1)), None);
    assert!(on_a_small_stack(operators(DEPTH_LIMIT)).is_some());

    let negations = |count: usize| format!("{}1", "not ".repeat(count));
    assert_eq!(on_a_small_stack(negations(DEPTH_LIMIT - 1)), None);

    // An expression with the maximum nesting of brackets, in which every level uses the largest stack frames.
    let mixed =
        format!("{}1{}", "not - [x, 1 if 1 else (".repeat(BRACKET_LIMIT / 2), ")][0]".repeat(BRACKET_LIMIT / 2));
    on_a_small_stack(mixed);
}

#[test]
fn long_lists_of_alternatives_are_not_deep() {
    let alternatives: Vec<String> = (0..100).map(|index| format!("x.get('k') == 'v{index}'")).collect();
    let source = alternatives.join(" or ");
    assert_eq!(check(&source, &Scope::with_variables(["x"])), []);
    let list: Vec<String> = (0..400).map(|index| format!("'v{index}'")).collect();
    assert_eq!(check(&format!("x in [{}]", list.join(", ")), &Scope::with_variables(["x"])), []);
}

#[test]
fn a_regex_that_backtracks_too_much_is_an_error() {
    let names = json!({"x": "a".repeat(200)});
    let result = evaluate_with(r"matches(x, '^(a|a(?=a))*b\\1$')", names.as_object().expect("an object"));
    assert!(result.is_err(), "{result:?}");
}

#[test]
fn large_values_can_be_read() {
    let names = json!({"x": "line\n".repeat(1_000_000)});
    let names = names.as_object().expect("an object");
    let result = evaluate_with("'needle' not in x and len(x) > 9 and x.lower().startswith('line')", names);
    assert!(result.expect("evaluates").truthy);
}
