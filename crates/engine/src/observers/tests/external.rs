use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Session, event};
use crate::event::Event;
use crate::observers::{BehaviorAnswer, ExternalBehavior};

fn deploy() -> ExternalBehavior {
    ExternalBehavior { exec: vec!["deploy".to_owned()], conditions: BTreeMap::from([("ready".to_owned(), 1)]) }
}

fn changes(session: &Session, answer: Value) -> Result<Value, String> {
    let answer: BehaviorAnswer = serde_json::from_value(answer).map_err(|error| error.to_string())?;
    deploy().changes("deploy", answer, session).map(|changes| json!(changes))
}

#[test]
fn an_answer_sets_variables_and_conditions() {
    let session = Session::default();
    session.0.lock().expect("not poisoned").insert("_conditions".to_owned(), json!({"behavior_other_x": 1}));
    let answer = json!({"set": {"a": 1, "b": null}, "conditions": {"ready": ["staging"]}});
    assert_eq!(
        changes(&session, answer),
        Ok(json!({"a": 1, "b": null, "_conditions": {"behavior_other_x": 1, "behavior_deploy_ready": ["staging"]}}))
    );
    assert_eq!(changes(&session, json!({})), Ok(json!({})));
}

#[test]
fn an_invalid_answer_changes_nothing() {
    let session = Session::default();
    let wrong = [
        json!({"set": {"_own": 1}}),
        json!({"set": {"event": 1}}),
        json!({"set": {"a": "x".repeat(17_000)}}),
        json!({"conditions": {"other": 1}}),
        json!({"sets": {}}),
        json!({"set": (0..300).map(|number| (format!("v{number}"), json!(1))).collect::<serde_json::Map<_, _>>()}),
    ];
    let errors: Vec<String> = wrong.into_iter().map(|answer| changes(&session, answer).expect_err("refused")).collect();
    insta::assert_snapshot!(errors.join("\n"), @"
    invalid variable name `_own`: names that start with `_` are reserved
    reserved variable name `event`: it already has a meaning in expressions
    the value of `a` has 17002 bytes, over the limit of 16384 for a variable
    `other` is not declared under `conditions`
    unknown field `sets`, expected `set` or `conditions`
    the session would have more than 256 variables
    ");
}

#[test]
fn the_input_has_the_event_and_the_variables() {
    let session = Session::default();
    session.0.lock().expect("not poisoned").extend([("a".to_owned(), json!(1)), ("_own".to_owned(), json!(2))]);
    let stop: Event = serde_json::from_value(event("stop", &json!({}))).expect("an event");
    let input = ExternalBehavior::input(&stop, &session).expect("known");
    assert_eq!(input["variables"], json!({"a": 1}));
    assert_eq!(input["event"]["kind"], "stop");
}
