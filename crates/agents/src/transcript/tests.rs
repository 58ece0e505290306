use std::fs;
use std::path::{Path, PathBuf};

use engine::event::Outcome;
use proptest::prelude::*;

use super::{Progress, Tokens, advance, last_message, mode, outcome};
use crate::Agent;

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts").join(name)
}

fn all(agent: Agent, path: &Path) -> (Tokens, Progress) {
    let mut progress = Progress::default();
    let tokens = advance(agent, path, &mut progress, u64::MAX).unwrap();
    (tokens, progress)
}

/// Three requests each, with the same usage for every one of them.
fn three_times(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Tokens {
    Tokens { input: 3 * input, output: 3 * output, cache_read: 3 * cache_read, cache_write: 3 * cache_write }
}

#[test]
fn claude_counts_each_request_once() {
    let (tokens, progress) = all(Agent::Claude, &recorded("claude.jsonl"));
    assert_eq!(tokens, three_times(10, 5, 3, 2));
    assert_eq!(progress.offset, fs::metadata(recorded("claude.jsonl")).unwrap().len());
}

#[test]
fn codex_counts_fresh_input_apart_from_cached() {
    let four = Tokens { input: 24, output: 20, cache_read: 16, cache_write: 0 };
    assert_eq!(all(Agent::Codex, &recorded("codex.jsonl")).0, four);
}

#[test]
fn a_packed_rollout_says_the_same() {
    let plain = all(Agent::Codex, &recorded("codex.jsonl"));
    assert_eq!(all(Agent::Codex, &recorded("codex.jsonl.zst")), plain);
    let mut progress = plain.1;
    assert_eq!(
        advance(Agent::Codex, &recorded("codex.jsonl.zst"), &mut progress, u64::MAX).unwrap(),
        Tokens::default()
    );
    assert_eq!(last_message(Agent::Codex, &recorded("codex.jsonl.zst")).unwrap().as_deref(), Some("all done"));
}

#[test]
fn the_last_message_is_found_from_the_end() {
    assert_eq!(last_message(Agent::Claude, &recorded("claude.jsonl")).unwrap().as_deref(), Some("all done"));
    assert_eq!(last_message(Agent::Codex, &recorded("codex.jsonl")).unwrap().as_deref(), Some("all done"));
    assert!(last_message(Agent::Codex, &recorded("missing.jsonl")).is_err());
}

#[test]
fn the_rollout_knows_how_a_command_ended() {
    let of = |call: &str| outcome(Agent::Codex, &recorded("codex.jsonl"), call).unwrap();
    assert_eq!(of("call_1"), Some(Outcome::Ok));
    assert_eq!(of("call_2"), Some(Outcome::Failed));
    assert_eq!(of("call_9"), None);
}

#[test]
fn the_rollout_knows_the_mode_of_a_turn() {
    let of = |turn: &str| mode(Agent::Codex, &recorded("codex-plan-mode.jsonl"), turn).unwrap();
    assert_eq!(of("01a1ddef-587d-7600-b5b6-e877affc0224").as_deref(), Some("plan"));
    assert_eq!(of("01a1ddef-597d-7b20-a0b4-26ff145c8a3a").as_deref(), Some("default"));
    assert_eq!(of("another"), None);
    // Earlier versions had no modes.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.jsonl");
    fs::write(&path, "{\"type\":\"turn_context\",\"payload\":{\"turn_id\":\"1\",\"model\":\"m\"}}\n").unwrap();
    assert_eq!(mode(Agent::Codex, &path, "1").unwrap(), None);
}

#[test]
fn the_order_of_reading_does_not_matter() {
    for (agent, name) in [(Agent::Claude, "claude.jsonl"), (Agent::Codex, "codex.jsonl")] {
        let text = fs::read(recorded(name)).unwrap();
        let whole = all(agent, &recorded(name));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("growing.jsonl");
        // Growing by odd pieces, so that most readings meet half a line; and on a budget.
        let mut progress = Progress::default();
        let mut sum = 0;
        for end in (0..text.len()).step_by(997).chain([text.len()]) {
            fs::write(&path, &text[..end]).unwrap();
            sum += advance(agent, &path, &mut progress, 1).unwrap().total();
            let json = serde_json::to_string(&progress).unwrap();
            progress = serde_json::from_str(&json).unwrap();
        }
        while progress.offset < text.len() as u64 {
            sum += advance(agent, &path, &mut progress, 1).unwrap().total();
        }
        assert_eq!((progress.tokens, &progress), (whole.0, &whole.1));
        assert_eq!(sum, whole.0.total());
    }
}

fn claude_line(message: &str, request: &str, output: u64, more: &str) -> String {
    format!(
        r#"{{"type":"assistant","requestId":"{request}","message":{{"id":"{message}","usage":{{"output_tokens":{output}}}}}{more}}}"#
    )
}

#[test]
fn repeated_replayed_and_made_up_lines_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let lines = [
        claude_line("m1", "r1", 5, ""),
        claude_line("m1", "r1", 9, ""),
        claude_line("m1", "r1", 7, ""),
        claude_line("m1", "r2", 9, r#","isSidechain":true"#),
        claude_line("m2", "r3", 1, r#","isSidechain":true"#),
        claude_line("m3", "r4", 100, r#","isApiErrorMessage":true"#),
        r#"{"type":"assistant","message":{"id":"m4","model":"<synthetic>","usage":{"output_tokens":100}}}"#.to_owned(),
        r#"{"type":"user","message":{"usage":{"output_tokens":100}}}"#.to_owned(),
        "not json \"usage\"".to_owned(),
        String::new(),
    ];
    fs::write(&path, lines.join("\n")).unwrap();
    let (tokens, mut progress) = all(Agent::Claude, &path);
    assert_eq!(tokens, Tokens { output: 10, ..Tokens::default() });
    // The file was replaced by a shorter one: what was counted stays, what is new is added.
    fs::write(&path, claude_line("n1", "r1", 2, "") + "\n").unwrap();
    assert_eq!(advance(Agent::Claude, &path, &mut progress, u64::MAX).unwrap().output, 2);
    assert_eq!(progress.tokens.output, 12);
}

#[test]
fn an_old_rollout_has_only_nameless_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let count = r#"{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":5}}}}"#;
    let empty = r#"{"type":"event_msg","payload":{"type":"token_count","info":null}}"#;
    fs::write(&path, format!("{count}\n{empty}\n{count}\n")).unwrap();
    assert_eq!(all(Agent::Codex, &path).0, Tokens { input: 12, output: 10, cache_read: 8, cache_write: 0 });
}

#[test]
fn a_message_behind_much_other_text_is_still_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"found"},{"type":"tool_use"}]}}"#;
    let noise = format!(r#"{{"type":"user","x":"{}"}}"#, "y".repeat(300_000));
    fs::write(&path, format!("{said}\n{noise}\n{noise}\n{{\"type\":\"assist")).unwrap();
    assert_eq!(last_message(Agent::Claude, &path).unwrap().as_deref(), Some("found"));
    fs::write(&path, format!("{said}\n{}", format!("{noise}\n").repeat(20))).unwrap();
    assert_eq!(last_message(Agent::Claude, &path).unwrap(), None);
}

proptest! {
    #[test]
    fn any_bytes_are_a_transcript(bytes: Vec<u8>, offset: u64) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["t.jsonl", "t.jsonl.zst"] {
            let path = folder.path().join(name);
            fs::write(&path, &bytes).unwrap();
            for agent in Agent::ALL {
                let mut progress = Progress { offset, ..Progress::default() };
                let _ = advance(agent, &path, &mut progress, 100);
                let _ = last_message(agent, &path);
                let _ = outcome(agent, &path, "x");
            }
        }
    }
}
