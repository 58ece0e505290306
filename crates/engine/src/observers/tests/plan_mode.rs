use serde_json::{Value, json};

use super::{Session, event};
use crate::observers::{BuiltinBehavior, ObserverKind};

const DETECT: ObserverKind = ObserverKind::Builtin(BuiltinBehavior::DetectPlanMode);

/// True if the session is in plan mode after the event.
fn after(session: &Session, event: &Value) -> bool {
    session.observe(&DETECT, event).expect("no error");
    session.get("plan_mode") == json!(true)
}

fn mode(mode: &str) -> Value {
    event("before_tool", &json!({"extra": {"permission_mode": mode}}))
}

fn tool(kind: &str, name: &str, output: &Value, mode: &str) -> Value {
    let call = json!({"name": name, "input": {}, "output": output});
    let outcome = if kind == "tool_failed" { "failed" } else { "ok" };
    event(kind, &json!({"tool": call, "outcome": outcome, "extra": {"permission_mode": mode}}))
}

/// The event of a prompt, without a permission mode.
fn prompt(text: &str) -> Value {
    event("prompt", &json!({"prompt": text}))
}

#[test]
fn the_permission_mode_enters_and_leaves_plan_mode() {
    let session = Session::default();
    assert!(!after(&session, &mode("default")));
    assert!(session.0.lock().expect("not poisoned").is_empty(), "nothing changes");
    assert!(after(&session, &mode("plan")));
    assert!(session.observe(&DETECT, &mode("plan")).expect("no error").is_empty(), "nothing changes");
    assert!(after(&session, &event("stop", &json!({}))), "an event without a mode");
    assert!(!after(&session, &mode("acceptEdits")));
}

#[test]
fn tools_enter_and_leave_plan_mode() {
    for (enter, exit) in [("EnterPlanMode", "ExitPlanMode"), ("enter_plan_mode", "exit_plan_mode")] {
        let session = Session::default();
        let done = json!({"message": "done"});
        assert!(!after(&session, &tool("before_tool", enter, &Value::Null, "default")));
        assert!(!after(&session, &tool("tool_failed", enter, &json!("no"), "default")));
        assert!(after(&session, &tool("after_tool", enter, &done, "default")));
        assert!(after(&session, &mode("default")), "the permission mode was not `plan` before");
        assert!(after(&session, &mode("plan")));
        assert!(after(&session, &tool("before_tool", exit, &Value::Null, "plan")));
        assert!(after(&session, &tool("tool_failed", exit, &json!("The user refused"), "plan")));
        assert!(after(&session, &tool("after_tool", exit, &json!({"is_error": true}), "plan")));
        assert!(after(&session, &tool("after_tool", exit, &Value::Null, "plan")), "no result");
        assert!(!after(&session, &tool("after_tool", exit, &done, "plan")));
        assert!(!after(&session, &mode("default")));
    }
}

#[test]
fn the_mode_of_a_turn_enters_and_leaves_plan_mode() {
    let session = Session::default();
    let turn = |mode: &str, prompt: &str| {
        event("prompt", &json!({"prompt": prompt, "extra": {"permission_mode": "default", "collaboration_mode": mode}}))
    };
    let pasted = "<collaboration_mode># Plan Mode (Conversational)</collaboration_mode>";
    assert!(!after(&session, &turn("default", pasted)), "the mode of the turn takes precedence over the text");
    assert!(after(&session, &turn("plan", "plan it")));
    assert!(after(&session, &mode("default")), "the permission mode was not `plan` before");
    assert!(!after(&session, &turn("default", "do it")));
}

#[test]
fn subagents_do_not_change_the_mode() {
    let session = Session::default();
    let mut planning = mode("plan");
    planning["subagent"] = json!("planner");
    assert!(!after(&session, &planning));
}

#[test]
fn markers_in_prompts_enter_and_leave_plan_mode() {
    let reminder = |text: &str| format!("<system-reminder>\n{text}\n</system-reminder>\nfix the bug");
    for (marker, plan_mode) in [
        (reminder("Plan mode is active. The person does not want changes yet."), true),
        (reminder("## Exited Plan Mode\n\nYou can now make edits."), false),
        ("<collaboration_mode># Plan Mode (Conversational)\n\nTalk.</collaboration_mode>\nfix".to_owned(), true),
        ("<collaboration_mode>\n# Collaboration Mode: Default\n</collaboration_mode>\nfix".to_owned(), false),
        ("# Active Approval Mode: Plan\n\nfix".to_owned(), true),
        ("# Active Approval Mode: Default\n\nfix".to_owned(), false),
    ] {
        let session = Session::default();
        // Before the event, the session is in the opposite mode.
        session.0.lock().expect("not poisoned").insert("plan_mode".to_owned(), json!(!plan_mode));
        assert_eq!(after(&session, &prompt(&marker)), plan_mode, "{marker}");
    }
}

#[test]
fn quoted_markers_do_not_count() {
    let marker = "<system-reminder>Plan mode is active</system-reminder>";
    for text in [
        "Plan mode is active".to_owned(),
        "what does Plan mode is active mean? # Active Approval Mode: Plan".to_owned(),
        format!("see this:\n```\n{marker}\n```"),
        format!("see this:\n~~~xml\n{marker}\n~~~\n"),
        format!("> {marker}"),
        format!("`{marker}`"),
        format!("What does \"{marker}\" mean?"),
        format!("He wrote: {marker}"),
        format!("    {marker}"),
        format!("<conversation-history>\n{marker}\n</conversation-history>\ngo on"),
        format!("<a><b>{marker}</b></a>"),
        format!("The log:\nUser: hello\n{marker}"),
        "<system-reminder>The docs say: Plan mode is active</system-reminder>".to_owned(),
        "> # Active Approval Mode: Plan".to_owned(),
        "<log>\n# Active Approval Mode: Plan\n</log>".to_owned(),
        "<collaboration_mode".to_owned(),
        "<".repeat(1000),
        "<a>".repeat(1000),
    ] {
        assert!(!after(&Session::default(), &prompt(&text)), "{text}");
    }
    // The permission mode takes precedence over markers.
    let session = Session::default();
    let pasted = event("prompt", &json!({"prompt": marker, "extra": {"permission_mode": "default"}}));
    assert!(!after(&session, &pasted));
}

#[test]
fn markers_after_a_quote_count() {
    let text = "```\ncode\n```\n<br/> 1 < 2\n<system-reminder>Plan mode is active</system-reminder>";
    assert!(after(&Session::default(), &prompt(text)));
    // The last marker in a prompt counts, because this marker is the newest.
    let both = "# Active Approval Mode: Plan\n# Active Approval Mode: Default\n";
    assert!(!after(&Session::default(), &prompt(both)));
}
