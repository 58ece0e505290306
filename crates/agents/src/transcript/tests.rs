use std::fs;
use std::path::{Path, PathBuf};

use engine::event::CallOutcome;
use proptest::prelude::*;

use super::{last_message, mode, outcome, transcript_files, wait_until_written};
use crate::Agent;

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts").join(name)
}

#[test]
fn the_last_message_is_found_from_the_end() {
    assert_eq!(last_message(Agent::Claude, &recorded("claude.jsonl")).unwrap().as_deref(), Some("all done"));
    assert_eq!(last_message(Agent::Codex, &recorded("codex.jsonl")).unwrap().as_deref(), Some("all done"));
    assert_eq!(last_message(Agent::Codex, &recorded("codex.jsonl.zst")).unwrap().as_deref(), Some("all done"));
    assert!(last_message(Agent::Codex, &recorded("missing.jsonl")).is_err());
}

#[test]
fn the_outcome_of_a_command_is_in_the_rollout() {
    let of = |call: &str| outcome(Agent::Codex, &recorded("codex.jsonl"), call).unwrap();
    assert_eq!(of("call_1"), Some(CallOutcome::Ok));
    assert_eq!(of("call_2"), Some(CallOutcome::Failed));
    assert_eq!(of("call_9"), None);
}

#[test]
fn the_mode_of_a_turn_is_in_the_rollout() {
    let of = |turn: &str| mode(Agent::Codex, &recorded("codex-plan-mode.jsonl"), turn).unwrap();
    assert_eq!(of("01a1ddef-587d-7600-b5b6-e877affc0224").as_deref(), Some("plan"));
    assert_eq!(of("01a1ddef-597d-7b20-a0b4-26ff145c8a3a").as_deref(), Some("default"));
    assert_eq!(of("another"), None);
    // Earlier versions of Codex write no mode.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.jsonl");
    fs::write(&path, "{\"type\":\"turn_context\",\"payload\":{\"turn_id\":\"1\",\"model\":\"m\"}}\n").unwrap();
    assert_eq!(mode(Agent::Codex, &path, "1").unwrap(), None);
}

#[test]
fn subagents_have_transcripts_of_their_own() {
    let session = recorded("claude-delegating.jsonl");
    let subagent = recorded("claude-delegating/subagents/agent-a560944a8cccd58aa.jsonl");
    assert_eq!(transcript_files(Agent::Claude, &session), [session.clone(), subagent.clone()]);
    // No other transcripts are found for a subagent, nor for a session that has started no subagent.
    assert_eq!(transcript_files(Agent::Claude, &subagent), [subagent]);
    assert_eq!(transcript_files(Agent::Claude, &recorded("missing.jsonl")), [recorded("missing.jsonl")]);
    // Codex reports the rollout of a subagent only to the hooks of that subagent.
    assert_eq!(transcript_files(Agent::Codex, &session), [session]);
}

#[test]
fn transcripts_of_a_workflows_subagents_are_in_subdirectories() {
    let directory = tempfile::tempdir().unwrap();
    let session = directory.path().join("s.jsonl");
    let below = directory.path().join("s/subagents");
    fs::create_dir_all(below.join("workflows/wf_1")).unwrap();
    fs::create_dir_all(below.join("agent-directory.jsonl")).unwrap();
    let files = ["agent-b.jsonl", "agent-a.jsonl", "agent-a.meta.json", "notes.jsonl", "workflows/wf_1/agent-c.jsonl"];
    for name in files {
        fs::write(below.join(name), "").unwrap();
    }
    let expected = ["agent-a.jsonl", "agent-b.jsonl", "workflows/wf_1/agent-c.jsonl"].map(|name| below.join(name));
    assert_eq!(transcript_files(Agent::Claude, &session)[1..], expected);
}

#[test]
fn a_message_before_much_other_text_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let message = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"found"},{"type":"tool_use"}]}}"#;
    let noise = format!(r#"{{"type":"user","x":"{}"}}"#, "y".repeat(300_000));
    fs::write(&path, format!("{message}\n{noise}\n{noise}\n{{\"type\":\"assist")).unwrap();
    assert_eq!(last_message(Agent::Claude, &path).unwrap().as_deref(), Some("found"));
    fs::write(&path, format!("{message}\n{}", format!("{noise}\n").repeat(20))).unwrap();
    assert_eq!(last_message(Agent::Claude, &path).unwrap(), None);
}

proptest! {
    #[test]
    fn any_bytes_can_be_read_as_a_transcript(bytes: Vec<u8>) {
        let directory = tempfile::tempdir().unwrap();
        for name in ["t.jsonl", "t.jsonl.zst"] {
            let path = directory.path().join(name);
            fs::write(&path, &bytes).unwrap();
            for agent in Agent::ALL {
                let _ = last_message(agent, &path);
                let _ = outcome(agent, &path, "x");
            }
        }
    }
}

#[test]
fn the_last_message_is_found_in_each_format() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let gemini = "gemini/session-2026-11-16T08-42-2ef1b279.jsonl";
    assert_eq!(last_message(Agent::Copilot, &directory.join("copilot.jsonl")).unwrap().as_deref(), Some("done"));
    assert_eq!(last_message(Agent::Gemini, &directory.join(gemini)).unwrap().as_deref(), Some("done again"));
    assert_eq!(last_message(Agent::OpenCode, &directory.join("opencode.jsonl")).unwrap(), None);
}

/// Copilot may write the last message after it has called the hook for the stop.
#[test]
fn waits_for_a_transcript_that_is_written_late() {
    let line = |time: i64| format!("{{\"type\":\"hook.start\",\"data\":{{\"input\":{{\"timestamp\":{time}}}}}}}\n");
    let message = "{\"type\":\"assistant.message\",\"data\":{\"content\":\"done\"}}\n";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("events.jsonl");
    fs::write(&path, line(1_794_823_208_948)).unwrap();
    let payload = br#"{"hook_event_name":"Stop","session_id":"s","cwd":"/p","timestamp":"2026-11-16T10:00:09.009Z"}"#;
    let event = crate::decode(Agent::Copilot, None, payload, 1).unwrap();
    let later = std::thread::spawn({
        let (path, text) = (path.clone(), format!("{}{message}{}", line(1_794_823_208_948), line(1_794_823_209_009)));
        move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            fs::write(path, text).unwrap();
        }
    });
    wait_until_written(Agent::Copilot, &path, &event, std::time::Duration::from_secs(10));
    assert_eq!(last_message(Agent::Copilot, &path).unwrap().as_deref(), Some("done"));
    later.join().unwrap();
}
