//! Evaluates every line of `corpus/expressions.jsonl`: an expression, its names, and the expected result.

use serde_json::{Map, Value};

use super::evaluate_with;

const CASES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/expressions.jsonl"));

#[test]
fn corpus_cases_evaluate_as_expected() {
    let mut failures = Vec::new();
    let mut count = 0;
    for line in CASES.lines() {
        let case: Map<String, Value> = serde_json::from_str(line).expect("a case is a JSON object");
        let source = case["expr"].as_str().expect("a case has an expression");
        let result = evaluate_with(source, case["with"].as_object().expect("a case has names"));
        let error_expected = case.get("error").is_some();
        let is_as_expected = match &result {
            Ok(evaluation) => {
                !error_expected
                    && case.get("truthy") == Some(&Value::from(evaluation.truthy))
                    && case.get("value").is_none_or(|value| *value == evaluation.value)
                    && case.get("unknown").is_none_or(|unknown| *unknown == Value::from(evaluation.unknown.clone()))
            }
            Err(_) => error_expected,
        };
        count += 1;
        if !is_as_expected {
            failures.push(format!("{line}\n  {result:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 110, "only {count} cases");
}
