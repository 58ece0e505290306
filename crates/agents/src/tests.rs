//! Every recorded payload decoded, and every event answered at every level.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use engine::event::Outcome;
use engine::{Event, EventKind, Finding, Level, Lifted, Verdict};

use crate::{Agent, Answer, decode};

fn encode(agent: Agent, event: &Event, verdict: &Verdict) -> Answer {
    crate::encode(agent, event, verdict, 8 * 1024)
}

/// An event of Claude Code of which only the name matters.
pub(crate) fn event(name: &str) -> Event {
    event_of(Agent::Claude, name)
}

fn event_of(agent: Agent, name: &str) -> Event {
    let payload = format!(r#"{{"hook_event_name":"{name}","cwd":"/p","session_id":"s","tool_name":"Bash"}}"#);
    decode(agent, payload.as_bytes(), 1).unwrap()
}

fn payloads(agent: Agent) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("payloads").join(agent.name());
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn every_payload(agent: Agent) -> String {
    let mut text = String::new();
    for path in payloads(agent) {
        let event = decode(agent, &fs::read(&path).unwrap(), 1_700_000_000_000).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy();
        writeln!(text, "## {name}\n{}\n", serde_json::to_string_pretty(&event).unwrap()).unwrap();
    }
    text
}

#[test]
fn claude_payloads() {
    insta::assert_snapshot!(every_payload(Agent::Claude));
}

#[test]
fn codex_payloads() {
    insta::assert_snapshot!(every_payload(Agent::Codex));
}

#[test]
fn outcomes_are_those_of_the_recorded_calls() {
    let outcome = |agent: Agent, name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("payloads").join(agent.name()).join(name);
        decode(agent, &fs::read(path).unwrap(), 1).unwrap().outcome
    };
    assert_eq!(outcome(Agent::Claude, "after-bash.json"), Some(Outcome::Ok));
    assert_eq!(outcome(Agent::Claude, "failed-bash.json"), Some(Outcome::Failed));
    assert_eq!(outcome(Agent::Claude, "failed-bash-without-output.json"), Some(Outcome::Failed));
    assert_eq!(outcome(Agent::Claude, "failed-mcp.json"), Some(Outcome::Failed));
    assert_eq!(outcome(Agent::Claude, "claim-failed-timed-out.json"), Some(Outcome::Failed));
    assert_eq!(outcome(Agent::Claude, "written-after-interrupted-bash.json"), Some(Outcome::Failed));
    assert_eq!(outcome(Agent::Codex, "after-patch.json"), Some(Outcome::Ok));
    assert_eq!(outcome(Agent::Codex, "written-after-failed-patch.json"), Some(Outcome::Failed));
    assert_eq!(outcome(Agent::Codex, "after-mcp.json"), Some(Outcome::Ok));
    // Codex shows a command's output and not how it ended.
    assert_eq!(outcome(Agent::Codex, "after-bash.json"), None);
    assert_eq!(outcome(Agent::Codex, "after-failed-bash.json"), None);
    assert_eq!(outcome(Agent::Codex, "after-failed-bash-without-output.json"), None);
}

#[test]
fn names_lead_back_to_agents() {
    for agent in Agent::ALL {
        assert_eq!(Agent::from_name(agent.name()), Some(agent));
    }
    assert_eq!(Agent::from_name("emacs"), None);
}

fn verdict(level: Level) -> Verdict {
    let reason = "Do not.".to_owned();
    Verdict::of(vec![Finding {
        rule: "some-rule".to_owned(),
        level,
        reason,
        because: Vec::new(),
        digest: None,
        protects_guard: false,
        section: None,
        is_shared: false,
    }])
}

/// The verdicts that an answer can depend on.
fn verdicts() -> Vec<(&'static str, Verdict)> {
    let approved = Verdict { approved: true, ..verdict(Level::Allow) };
    let noticed = Verdict { notices: vec!["state.db is locked".to_owned()], ..verdict(Level::Block) };
    let only_noticed = Verdict { notices: vec!["state.db is locked".to_owned()], ..Verdict::silent() };
    vec![
        ("allow", verdict(Level::Allow)),
        ("approved", approved),
        ("notice", only_noticed),
        ("warn", verdict(Level::Warn)),
        ("ask", verdict(Level::Ask)),
        ("block", verdict(Level::Block)),
        ("block+notice", noticed),
        ("lifted", Verdict { lifted: Some(Lifted::Observe), ..verdict(Level::Block) }),
    ]
}

fn matrix(agent: Agent, events: &[&str]) -> String {
    let mut text = String::new();
    for name in events {
        writeln!(text, "## {}", if name.is_empty() { "(no name)" } else { name }).unwrap();
        for (label, verdict) in verdicts() {
            let Answer { stdout, stderr, exit_code } = encode(agent, &event_of(agent, name), &verdict);
            let said = match (stdout.trim_end(), stderr.trim_end()) {
                ("", "") => "-".to_owned(),
                (stdout, "") => stdout.to_owned(),
                (stdout, stderr) => format!("{stdout}exit {exit_code}, stderr: {stderr}"),
            };
            writeln!(text, "{label:<13}{said}").unwrap();
        }
        writeln!(text).unwrap();
    }
    text
}

const CLAUDE_EVENTS: [&str; 20] = [
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "TaskCreated",
    "TaskCompleted",
    "PreCompact",
    "PostCompact",
    "ConfigChange",
    "Notification",
    "SessionStart",
    "SessionEnd",
    "SomethingNew",
    "",
];

const CODEX_EVENTS: [&str; 15] = [
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "SessionEnd",
    "Interrupt",
    "PostModelRequest",
    "SomethingNew",
    "",
];

#[test]
fn claude_answers() {
    insta::assert_snapshot!(matrix(Agent::Claude, &CLAUDE_EVENTS));
}

#[test]
fn codex_answers() {
    insta::assert_snapshot!(matrix(Agent::Codex, &CODEX_EVENTS));
}

/// The keys that Codex 0.166.0 accepts, from the schemas in its binary: one more, and the call runs.
fn codex_keys(event: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match event {
        "PreToolUse" => (
            &["systemMessage", "hookSpecificOutput"],
            &["hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext"],
        ),
        "PermissionRequest" => (&["systemMessage", "hookSpecificOutput"], &["hookEventName", "decision"]),
        "PostToolUse" | "UserPromptSubmit" => {
            (&["systemMessage", "decision", "reason", "hookSpecificOutput"], &["hookEventName", "additionalContext"])
        }
        "SessionStart" | "SubagentStart" => {
            (&["systemMessage", "hookSpecificOutput"], &["hookEventName", "additionalContext"])
        }
        "Stop" | "SubagentStop" => (&["systemMessage", "decision", "reason"], &[]),
        "PreCompact" | "PostCompact" => (&["systemMessage", "continue", "stopReason"], &[]),
        "Interrupt" => (&["systemMessage"], &[]),
        _ => (&[], &[]),
    }
}

#[test]
fn codex_is_never_told_a_key_that_it_does_not_know() {
    for name in CODEX_EVENTS {
        let (outer, inner) = codex_keys(name);
        for (label, verdict) in verdicts() {
            let answer = encode(Agent::Codex, &event_of(Agent::Codex, name), &verdict);
            if answer.stdout.is_empty() {
                continue;
            }
            let output: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
            for (key, value) in output.as_object().unwrap() {
                assert!(outer.contains(&key.as_str()), "{name} {label}: {key}");
                let specific = value.as_object().into_iter().flatten();
                for (key, _) in specific {
                    assert!(inner.contains(&key.as_str()), "{name} {label}: {key}");
                }
            }
        }
    }
}

/// A refusal must reach the agent on every event that waits for one, whatever the agent.
#[test]
fn a_block_is_never_silent_where_it_counts() {
    for agent in Agent::ALL {
        for name in ["PreToolUse", "PermissionRequest", "Stop", "SubagentStop", "UserPromptSubmit", "PreCompact"] {
            let event = event_of(agent, name);
            assert_ne!(event.kind, EventKind::Other);
            let answer = encode(agent, &event, &verdict(Level::Block));
            assert!(answer.stdout.contains("Do not."), "{agent:?} {name}");
        }
    }
}

#[test]
fn what_is_lifted_stops_nothing_and_warnings_remain() {
    let warning = verdict(Level::Warn).findings;
    let lifted = |level| {
        let findings = verdict(level).findings.into_iter().chain(warning.clone()).collect();
        Verdict { lifted: Some(Lifted::Paused), ..Verdict::of(findings) }
    };
    for agent in Agent::ALL {
        for name in CLAUDE_EVENTS.into_iter().chain(CODEX_EVENTS) {
            let event = event_of(agent, name);
            for level in [Level::Ask, Level::Block] {
                assert_eq!(
                    encode(agent, &event, &lifted(level)),
                    encode(agent, &event, &verdict(Level::Warn)),
                    "{name}"
                );
            }
        }
    }
}
