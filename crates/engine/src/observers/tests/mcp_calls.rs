use std::sync::Arc;

use serde_json::{Value, json};

use super::{Session, after_mcp, after_proxy, event, text};
use crate::event::Event;
use crate::expr;
use crate::observers::{BuiltinBehavior, ObserverKind};
use crate::situation::{BaseDirectories, Situation};

const TRACKING: ObserverKind = ObserverKind::Builtin(BuiltinBehavior::McpCallTracking);

fn call(session: &Session, tool: &str, result: &Value) {
    session.observe(&TRACKING, &after_mcp("github", tool, &json!({}), result)).expect("no error");
}

fn value(session: &Session, source: &str) -> Result<Value, String> {
    let stop: Event = serde_json::from_value(event("stop", &json!({}))).expect("an event");
    let situation = Arc::new(Situation::new(Arc::new(stop), BaseDirectories::default(), Arc::new(session.clone())));
    expr::evaluate(source, &situation).map_err(|error| error.to_string())
}

#[test]
fn successes_and_failures_are_stored_separately() {
    let session = Session::default();
    call(&session, "get_issue", &text(&json!({"state": "open"})));
    call(&session, "search", &json!({"isError": true, "content": text(&json!("no"))}));
    assert_eq!(session.get("mcp_calls"), json!({"github": ["get_issue"]}));
    assert_eq!(session.get("mcp_results"), json!({"github": {"get_issue": {"state": "open"}}}));
    assert_eq!(session.get("mcp_failures"), json!({"github": ["search"]}));
    // After a failure, the tool is still listed under the successes. After a success, the tool is no longer listed
    // under the failures.
    call(&session, "get_issue", &text(&json!({"error": "gone"})));
    call(&session, "search", &text(&json!([])));
    assert_eq!(session.get("mcp_calls"), json!({"github": ["get_issue", "search"]}));
    assert_eq!(session.get("mcp_failures"), json!({"github": ["get_issue"]}));
}

#[test]
fn a_proxied_call_counts_for_the_proxy_and_the_tool() {
    let session = Session::default();
    let result = text(&json!({"success": true, "result": null}));
    session.observe(&TRACKING, &after_proxy("tasks", "next", &json!({}), &result)).expect("no error");
    assert_eq!(session.get("mcp_calls"), json!({"hub": ["call_tool"], "tasks": ["next"]}));
    assert_eq!(value(&session, "mcp_result_is_null('tasks', 'next')"), Ok(json!(true)));
}

#[test]
fn mcp_functions_read_the_variables() {
    let session = Session::default();
    for (source, expected) in [
        ("mcp_called('github')", false),
        ("mcp_failed('github', 'get_issue')", false),
        ("mcp_result_is_null('github', 'get_issue')", true),
        ("mcp_result_has('github', 'get_issue', 'state', 'open')", false),
    ] {
        assert_eq!(value(&session, source), Ok(json!(expected)), "{source}");
    }
    call(&session, "get_issue", &text(&json!({"state": "open", "number": 7, "assignee": null})));
    call(&session, "search", &text(&json!({"success": false})));
    for (source, expected) in [
        ("mcp_called('github')", true),
        ("mcp_called('github', 'get_issue')", true),
        ("mcp_called('github', 'search')", false),
        ("mcp_called('gitlab') or mcp_called(None)", false),
        ("mcp_failed('github', 'search')", true),
        ("mcp_failed('github', 'get_issue')", false),
        ("mcp_result_is_null('github', 'get_issue')", false),
        ("mcp_result_has('github', 'get_issue', 'state', 'open')", true),
        ("mcp_result_has('github', 'get_issue', 'state', 'closed')", false),
        ("mcp_result_has('github', 'get_issue', 'number', 7)", true),
        ("mcp_result_has('github', 'get_issue', 'assignee', None)", true),
        ("mcp_result_has('github', 'get_issue', 'nothing', None)", false),
        ("'get_issue' in mcp_calls.github", true),
    ] {
        assert_eq!(value(&session, source), Ok(json!(expected)), "{source}");
    }
    assert_eq!(value(&session, "mcp_called(7)"), Err("`mcp_called` takes text, not a number".to_owned()));
}

#[test]
fn calls_without_a_result_do_not_count() {
    let session = Session::default();
    let mut before = after_mcp("github", "get_issue", &json!({}), &text(&json!({})));
    before["kind"] = json!("before_tool");
    session.observe(&TRACKING, &before).expect("no error");
    call(&session, "get_issue", &Value::Null);
    let bash = event("after_tool", &json!({"tool": {"name": "Bash", "input": {}, "output": "x"}, "outcome": "ok"}));
    session.observe(&TRACKING, &bash).expect("no error");
    assert_eq!(session.0.lock().expect("not poisoned").len(), 0);
}

#[test]
fn stored_results_are_bounded() {
    let session = Session::default();
    call(&session, "large", &text(&json!("x".repeat(20_000))));
    assert_eq!(session.get("mcp_results"), json!({"github": {"large": {"_dropped_bytes": 20_002}}}));
    insta::assert_snapshot!(value(&session, "mcp_result_has('github', 'large', 'a', 1)").expect_err("unknown"), @"`mcp_result_has` cannot check the result: its 20002 bytes were too many to keep");
    assert_eq!(value(&session, "mcp_result_is_null('github', 'large')"), Ok(json!(false)));
    for number in 0..100 {
        call(&session, &format!("tool{number}"), &text(&json!("x".repeat(10_000))));
        session
            .observe(&TRACKING, &after_mcp(&format!("server{number}"), "t", &json!({}), &json!("y")))
            .expect("no error");
    }
    let calls = session.get("mcp_calls");
    assert_eq!(calls.as_object().map(serde_json::Map::len), Some(32));
    assert_eq!(calls["github"].as_array().map(Vec::len), Some(64));
    let size = session.get("mcp_results").to_string().len();
    assert!(size < 80_000, "{size}");
}
