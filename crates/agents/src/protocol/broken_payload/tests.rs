use proptest::prelude::*;
use serde_json::json;

use super::{Envelope, scan};

fn envelope(event: &str, session: &str, cwd: &str, tool: &str) -> Envelope {
    Envelope {
        hook_event_name: Some(event.to_owned()),
        session_id: Some(session.to_owned()),
        cwd: Some(cwd.to_owned()),
        tool_name: Some(tool.to_owned()),
        workspace_roots: None,
    }
}

#[test]
fn a_truncated_payload_has_its_envelope() {
    let payload = br#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"#;
    assert_eq!(scan(payload, &[]), envelope("PreToolUse", "s", "/p", "Bash"));
}

#[test]
fn deep_nesting_is_accepted() {
    let nested = format!("{}{}", "[{\"a\":".repeat(200_000), "1");
    let payload = format!(r#"{{"cwd":"/p","session_id":"s","tool_input":{nested}"#);
    assert_eq!(scan(payload.as_bytes(), &[]).cwd.as_deref(), Some("/p"));
    let closed = format!(r#"{{"tool_input":{}{},"hook_event_name":"Stop"}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(scan(closed.as_bytes(), &[]).hook_event_name.as_deref(), Some("Stop"));
}

#[test]
fn invalid_utf8_is_accepted() {
    let mut payload = br#"{"x":"#.to_vec();
    payload.extend([0xff, 0xfe, b'"', 0xff, b'"', b',']);
    payload.extend(br#""cwd":"/p\u002fq","session_id":5,"hook_event_name":"Stop"}"#);
    let found = scan(&payload, &[]);
    assert_eq!(found.cwd.as_deref(), Some("/p/q"));
    assert_eq!(found.hook_event_name.as_deref(), Some("Stop"));
    assert_eq!(found.session_id, None);
}

#[test]
fn a_payload_that_is_no_object_has_no_envelope() {
    for payload in ["", "null", "[{\"cwd\":\"/p\"}]", "\"{\\\"cwd\\\":1}\"", "{", "{\"cwd", "{\"cwd\":\"/p"] {
        assert_eq!(scan(payload.as_bytes(), &[]), Envelope::default(), "{payload}");
    }
}

#[test]
fn values_are_not_keys() {
    let payload = br#"{"a":"cwd","b":"/x","cwd":{"cwd":"/y"},"session_id":["hook_event_name","Stop"]}"#;
    assert_eq!(scan(payload, &[]), Envelope::default());
}

proptest! {
    #[test]
    fn any_bytes_are_scanned(payload: Vec<u8>) {
        scan(&payload, &[]);
    }

    /// Nested values do not change the envelope. If the payload is truncated, fields can be missing, but none is
    /// changed.
    #[test]
    fn nested_values_are_never_the_envelope(
        text in r#"[{}\[\]":,\\a-z\n"]{0,60}"#,
        key in r#"hook_event_name|cwd|session_id|tool_name|[{}\[\]":,\\]{1,5}"#,
        cut in 0_usize..1000,
    ) {
        let nested = json!({
            "tool_input": { &key: &text, "hook_event_name": "Stop", "list": [{ "cwd": &text, &key: [&text] }, &text] },
            "prompt": &text,
            &format!("x{key}"): &text,
            "session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        });
        let payload = serde_json::to_vec(&nested).unwrap();
        let expected = envelope("PreToolUse", "s", "/p", "Bash");
        prop_assert_eq!(&scan(&payload, &[]), &expected);
        let found = scan(&payload[..cut.min(payload.len())], &[]);
        for (found, expected) in [
            (found.hook_event_name, expected.hook_event_name),
            (found.session_id, expected.session_id),
            (found.cwd, expected.cwd),
            (found.tool_name, expected.tool_name),
        ] {
            prop_assert!(found.is_none() || found == expected);
        }
    }
}

#[test]
fn an_agents_own_field_names_are_recognized() {
    let names = &[("conversationId", "session_id"), ("workspacePaths", "workspace_roots")];
    let found = scan(br#"{"workspacePaths":["/p","/q"],"conversationId":"c","toolCall":{"conversationId":"no""#, names);
    let roots = Some("/p".to_owned());
    assert_eq!(found, Envelope { session_id: Some("c".to_owned()), workspace_roots: roots, ..Envelope::default() });
}
