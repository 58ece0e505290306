use engine::EventKind;
use engine::event::ShellText;
use proptest::prelude::*;

use crate::{Agent, PAYLOAD_LIMIT, decode};

fn undecodable(payload: &[u8]) -> (EventKind, String) {
    let undecodable = decode(Agent::Claude, None, payload, 1).unwrap_err();
    (undecodable.partial.kind, undecodable.why)
}

#[test]
fn undecodable_payloads_have_a_reason_and_a_kind() {
    let deep = format!(r#"{{"hook_event_name":"PreToolUse","tool_input":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    let mut huge = br#"{"hook_event_name":"PreToolUse","tool_input":{"command":""#.to_vec();
    huge.resize(PAYLOAD_LIMIT + 1, b'x');
    let payloads: [&[u8]; 7] = [
        b"",
        b"not json",
        br#"{"hook_event_name":"PreToolUse","cwd":"/p","tool_input":{"#,
        b"{\"hook_event_name\":\"PreToolUse\",\"cwd\":\"/p\xff\"}",
        br#"["PreToolUse"]"#,
        deep.as_bytes(),
        &huge,
    ];
    let undecodable_payloads: Vec<_> = payloads.into_iter().map(undecodable).collect();
    insta::assert_debug_snapshot!(undecodable_payloads);
}

#[test]
fn a_call_without_a_directory_cannot_be_judged() {
    for cwd in ["", r#""cwd":null,"#, r#""cwd":"p","#, r#""cwd":5,"#] {
        let payload =
            format!(r#"{{{cwd}"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"ls"}}}}"#);
        assert_eq!(
            undecodable(payload.as_bytes()).1,
            "the payload names no working directory, so Linchpin can't tell which files the call means"
        );
    }
}

#[test]
fn lone_surrogates_are_accepted() {
    let payload = br#"{"hook_event_name":"PreToolUse","cwd":"/p","tool_name":"Bash","tool_input":{"command":"a\ud83d \ud83d\ude00 \\ud83d \udc00\ud800"}}"#;
    let event = decode(Agent::Claude, None, payload, 1).unwrap();
    let shell = event.tool.unwrap().shell;
    assert_eq!(shell, Some(ShellText::Command("a\u{fffd} 😀 \\ud83d \u{fffd}\u{fffd}".to_owned())));
}

proptest! {
    #[test]
    fn any_bytes_are_decoded_or_refused(payload: Vec<u8>) {
        for agent in Agent::ALL {
            let _ = decode(agent, None, &payload, 1);
        }
    }

    #[test]
    fn a_damaged_payload_is_decoded_or_refused(at in 0_usize..600, byte: u8, cut in 0_usize..600) {
        let mut payload = include_bytes!("../../../payloads/codex/before-patch-move.json").to_vec();
        if let Some(place) = payload.get_mut(at) {
            *place = byte;
        }
        payload.truncate(cut.max(1));
        for agent in Agent::ALL {
            let _ = decode(agent, None, &payload, 1);
        }
    }
}
