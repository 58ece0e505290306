use serde_json::{Value, json};

use super::{Session, after_mcp, after_proxy, event, text};
use crate::observers::{BuiltinBehavior, ObserverKind, TaskTools};
use crate::rules::ToolName;

const ID: &str = "0b7c1f6e-5d0a-4f6b-9a3e-2f1d8c7b6a50";
const OTHER: &str = "0b7c9999-5d0a-4f6b-9a3e-2f1d8c7b6a51";

pub fn claims() -> ObserverKind {
    let servers = vec![ToolName("tasks".to_owned())];
    ObserverKind::Builtin(BuiltinBehavior::TaskClaimTracking(TaskTools { servers, ..TaskTools::default() }))
}

fn task() -> Value {
    json!({"id": ID, "ref": "#12"})
}

fn call(session: &Session, tool: &str, input: &Value, result: &Value) -> Value {
    session.observe(&claims(), &after_mcp("tasks", tool, input, result)).expect("no error");
    session.get("claimed_tasks")
}

fn claim(session: &Session, reference: &str, result: &Value) -> Value {
    call(session, "claim_task", &json!({"task_id": reference}), result)
}

#[test]
fn the_task_in_the_result_is_claimed() {
    for result in [
        text(&task()),
        json!({"content": text(&task()), "isError": false}),
        json!({"content": text(&json!("Claimed.")), "structuredContent": {"task": task()}}),
        json!({"success": true, "task_id": ID}),
        text(&json!({"success": true, "error": null, "task": task()})),
        json!(json!({"task": task()}).to_string()),
        text(&json!(format!("Claimed it: {}. Good luck {{you}}!", task()))),
        text(&json!(format!("Claimed.\n```json\n{:#}\n```\n", task()))),
        json!([{"type": "text", "text": "Claimed."}, {"type": "text", "text": format!("See {}", task())}]),
    ] {
        let session = Session::default();
        assert_eq!(claim(&session, "#12", &result), json!([ID]), "{result}");
        assert_eq!(session.get("task_claimed"), json!(true));
        assert_eq!(session.get("session_had_task"), json!(true));
    }
}

#[test]
fn a_claim_through_a_proxy_counts() {
    for arguments in [json!({"task_id": "#12"}), json!("{\"task_id\": \"#12\"}")] {
        let session = Session::default();
        let result = text(&json!({"success": true, "result": task()}));
        session.observe(&claims(), &after_proxy("tasks", "claim_task", &arguments, &result)).expect("no error");
        assert_eq!(session.get("claimed_tasks"), json!([ID]));
    }
}

#[test]
fn a_result_that_reports_a_failure_changes_nothing() {
    for result in [
        json!({"is_error": true, "content": text(&task())}),
        json!({"isError": true, "content": text(&task())}),
        json!({"error": "no", "id": ID}),
        json!({"error": {"code": 3}, "id": ID}),
        json!({"success": false, "id": ID}),
        json!({"status": "error", "id": ID}),
        json!({"exit_code": 3, "id": ID}),
        text(&json!({"error": "no", "id": ID})),
        text(&json!({"success": false, "id": ID})),
        text(&json!(format!("Error: {ID} is closed"))),
        json!([{"type": "text", "text": task().to_string()}, {"type": "text", "text": "{\"success\": false}"}]),
        json!({"content": [{"type": "text", "text": "Not claimed."}, {"type": "text", "text": "{\"success\": false}"}]}),
        json!(json!({"error": {"code": 3}, "id": ID}).to_string()),
        text(&json!(format!("Could not: {}", json!({"error": "no", "task": task()})))),
        text(&json!("Could not {do} it:\n```json\n{\n  \"success\": false\n}\n```\n")),
        Value::Null,
    ] {
        let session = Session::default();
        assert_eq!(claim(&session, ID, &result), Value::Null, "{result}");
        assert_eq!(session.get("session_had_task"), Value::Null, "{result}");
    }
    let proxied = [
        text(&json!({"success": false, "error": "no"})),
        text(&json!({"success": true, "result": {"error": "no", "id": ID}})),
        text(&json!({"success": true, "result": {"content": text(&json!({"success": false}))}})),
    ];
    for result in proxied {
        let session = Session::default();
        session.observe(&claims(), &after_proxy("tasks", "claim_task", &json!({"id": ID}), &result)).expect("no error");
        assert_eq!(session.get("claimed_tasks"), Value::Null, "{result}");
    }
}

#[test]
fn only_a_limited_part_of_prose_is_searched() {
    let far = format!("{}{}", "{".repeat(100), json!({"success": false}));
    let long = format!("{}{}", "x".repeat(70_000), json!({"success": false}));
    for prose in [far, long, "{".repeat(60_000), "{\"a\":".repeat(10_000)] {
        assert_eq!(claim(&Session::default(), ID, &text(&json!(prose))), json!([ID]));
    }
}

#[test]
fn failed_and_unfinished_calls_change_nothing() {
    let after = after_mcp("tasks", "claim_task", &json!({"id": ID}), &text(&task()));
    let with = |key: &str, value: Value| {
        let mut event = after.clone();
        event[key] = value;
        event
    };
    let events =
        [with("kind", json!("tool_failed")), with("kind", json!("before_tool")), with("outcome", json!("failed"))];
    for event in events {
        let session = Session::default();
        assert!(session.observe(&claims(), &event).expect("no error").is_empty(), "{event}");
    }
    let session = Session::default();
    session.observe(&claims(), &event("stop", &json!({}))).expect("no error");
    assert_eq!(session.get("claimed_tasks"), Value::Null);
}

#[test]
fn other_servers_are_ignored() {
    let session = Session::default();
    session
        .observe(&claims(), &after_mcp("other", "claim_task", &json!({"id": ID}), &text(&task())))
        .expect("no error");
    let own_name = after_proxy("other", "claim_task", &json!({"id": ID}), &text(&task()));
    session.observe(&claims(), &own_name).expect("no error");
    assert_eq!(session.get("claimed_tasks"), Value::Null);
}

#[test]
fn references_resolve_to_seen_tasks() {
    let session = Session::default();
    let listed = text(&json!({"tasks": [task(), {"id": OTHER, "seq_num": 13}]}));
    assert_eq!(call(&session, "list_tasks", &json!({}), &listed), Value::Null);
    let done = text(&json!({"success": true}));
    assert_eq!(claim(&session, "#14", &done), Value::Null, "unknown");
    assert_eq!(claim(&session, "0b7c", &done), Value::Null, "ambiguous");
    assert_eq!(claim(&session, "0b", &done), Value::Null, "too short");
    assert_eq!(claim(&session, "0b7c1", &done), json!([ID]), "a prefix");
    assert_eq!(claim(&session, "#12", &done), json!([ID]), "the same task once more");
    assert_eq!(claim(&session, "13", &done), json!([ID, OTHER]), "a number");
    assert_eq!(call(&session, "close_task", &json!({"task_id": "#12"}), &done), json!([OTHER]));
    assert_eq!(session.get("task_claimed"), json!(true));
    assert_eq!(call(&session, "close_task", &json!({"task_id": OTHER.to_uppercase()}), &done), json!([]));
    assert_eq!(session.get("task_claimed"), json!(false));
    assert_eq!(session.get("session_had_task"), json!(true));
}

#[test]
fn a_full_id_needs_no_lookup() {
    let session = Session::default();
    assert_eq!(claim(&session, ID, &text(&json!("Claimed."))), json!([ID]));
    assert_eq!(claim(&Session::default(), "gt-1", &text(&json!("Claimed."))), Value::Null);
    assert_eq!(claim(&Session::default(), "", &text(&json!("Claimed."))), Value::Null);
}

#[test]
fn create_and_update_can_claim() {
    let session = Session::default();
    assert_eq!(call(&session, "create_task", &json!({"title": "x"}), &text(&task())), Value::Null);
    let update = |status: &str| json!({"task_id": "#12", "status": status});
    let done = text(&json!({"success": true}));
    assert_eq!(call(&session, "update_task", &update("open"), &done), Value::Null);
    assert_eq!(call(&session, "update_task", &update("in_progress"), &done), json!([ID]));
    assert_eq!(call(&session, "update_task", &update("done"), &done), json!([]));
    let claimed_at_once = json!({"title": "x", "claim": true});
    assert_eq!(call(&session, "create_task", &claimed_at_once, &text(&json!({"id": OTHER}))), json!([OTHER]));
}

#[test]
fn seen_tasks_are_bounded() {
    let session = Session::default();
    for round in 0..5 {
        let tasks: Vec<Value> = (0..100).map(|number| json!({"id": format!("task-{round}-{number}")})).collect();
        call(&session, "list_tasks", &json!({}), &json!({ "tasks": tasks }));
    }
    assert_eq!(session.get("_seen_tasks").as_array().map(Vec::len), Some(200));
}
