//! Decodes every file in `payloads/`, and encodes answers to events of all agents for verdicts of every level.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use engine::event::CallOutcome;
use engine::{Event, EventKind, Finding, Level, NotEnforced, Verdict};

use crate::attempt::{self, AttemptedCall, ToolSubject};
use crate::capability_table::{EventCapabilities, capabilities};
use crate::{Agent, Answer, Audience, BlockEffect, decode};

fn encode(agent: Agent, event: &Event, verdict: &Verdict) -> Answer {
    crate::encode(agent, event, verdict, 8 * 1024)
}

/// Returns an event for tests in which only the event's name matters.
fn event_of(agent: Agent, name: &str) -> Event {
    let payload = r#"{"cwd":"/p","session_id":"s","tool_name":"Bash"}"#;
    decode(agent, Some(name), payload.as_bytes(), 1).unwrap()
}

/// Returns the event's name as it would be in the hook's command line, for payloads that do not contain the name.
fn event_argument(agent: Agent, file: &str) -> Option<&str> {
    match agent {
        Agent::Antigravity => file.split('-').nth(1),
        Agent::Copilot if file.starts_with("permission") => Some("PermissionRequest"),
        Agent::Copilot if file.starts_with("subagent-start") => Some("SubagentStart"),
        _ => None,
    }
}

fn payloads(agent: Agent) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("payloads").join(agent.name());
    let mut files: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn every_payload(agent: Agent) -> String {
    let mut text = String::new();
    for path in payloads(agent) {
        let name = path.file_stem().unwrap().to_string_lossy();
        let event = decode(agent, event_argument(agent, &name), &fs::read(&path).unwrap(), 1_700_000_000_000).unwrap();
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
fn gemini_payloads() {
    insta::assert_snapshot!(every_payload(Agent::Gemini));
}

#[test]
fn antigravity_payloads() {
    insta::assert_snapshot!(every_payload(Agent::Antigravity));
}

#[test]
fn cursor_payloads() {
    insta::assert_snapshot!(every_payload(Agent::Cursor));
}

#[test]
fn copilot_payloads() {
    insta::assert_snapshot!(every_payload(Agent::Copilot));
}

#[test]
fn opencode_payloads() {
    insta::assert_snapshot!(every_payload(Agent::OpenCode));
}

#[test]
fn outcomes_of_recorded_calls() {
    let outcome = |agent: Agent, name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("payloads").join(agent.name()).join(name);
        decode(agent, event_argument(agent, name), &fs::read(path).unwrap(), 1).unwrap().outcome
    };
    assert_eq!(outcome(Agent::Claude, "after-bash.json"), Some(CallOutcome::Ok));
    assert_eq!(outcome(Agent::Claude, "failed-bash.json"), Some(CallOutcome::Failed));
    assert_eq!(outcome(Agent::Claude, "failed-bash-without-output.json"), Some(CallOutcome::Failed));
    assert_eq!(outcome(Agent::Claude, "failed-mcp.json"), Some(CallOutcome::Failed));
    assert_eq!(outcome(Agent::Claude, "claim-failed-timed-out.json"), Some(CallOutcome::Failed));
    assert_eq!(outcome(Agent::Claude, "written-after-interrupted-bash.json"), Some(CallOutcome::Failed));
    assert_eq!(outcome(Agent::Codex, "after-patch.json"), Some(CallOutcome::Ok));
    assert_eq!(outcome(Agent::Codex, "written-after-failed-patch.json"), Some(CallOutcome::Failed));
    assert_eq!(outcome(Agent::Codex, "after-mcp.json"), Some(CallOutcome::Ok));
    // Codex sends a command's output without the exit code.
    assert_eq!(outcome(Agent::Codex, "after-bash.json"), None);
    assert_eq!(outcome(Agent::Codex, "after-failed-bash.json"), None);
    assert_eq!(outcome(Agent::Codex, "after-failed-bash-without-output.json"), None);
    for (agent, well, badly) in [
        (Agent::Gemini, "after-shell.json", "after-failing-shell.json"),
        (Agent::Gemini, "after-mcp.json", "after-failing-mcp.json"),
        (Agent::Copilot, "after-shell.json", "after-failing-shell.json"),
        (Agent::Copilot, "after-read.json", "failed-read.json"),
        (Agent::OpenCode, "after-shell.json", "after-failing-shell.json"),
        (Agent::OpenCode, "after-read.json", "failed-read.json"),
        (Agent::Cursor, "written-after-shell.json", "written-after-failing-shell.json"),
        (Agent::Antigravity, "written-PostToolUse-shell.json", "written-PostToolUse-failing-shell.json"),
    ] {
        assert_eq!(outcome(agent, well), Some(CallOutcome::Ok), "{agent:?} {well}");
        assert_eq!(outcome(agent, badly), Some(CallOutcome::Failed), "{agent:?} {badly}");
    }
}

#[test]
fn agents_are_found_by_name() {
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
        is_combined: false,
    }])
}

/// Returns verdicts of all kinds that answers distinguish, each with a label.
fn verdicts() -> Vec<(&'static str, Verdict)> {
    let approved = Verdict { approved: true, ..verdict(Level::Allow) };
    let noticed = |verdict| Verdict { notices: vec!["state.db is locked".to_owned()], ..verdict };
    vec![
        ("allow", verdict(Level::Allow)),
        ("approved", approved.clone()),
        ("approved+notice", noticed(approved)),
        ("notice", noticed(Verdict::empty())),
        ("warn", verdict(Level::Warn)),
        ("ask", verdict(Level::Ask)),
        ("ask+notice", noticed(verdict(Level::Ask))),
        ("block", verdict(Level::Block)),
        ("block+notice", noticed(verdict(Level::Block))),
        ("not enforced", Verdict { not_enforced: Some(NotEnforced::Observe), ..verdict(Level::Block) }),
    ]
}

fn matrix(agent: Agent, events: &[&str]) -> String {
    let mut text = String::new();
    for name in events {
        writeln!(text, "## {}", if name.is_empty() { "(no name)" } else { name }).unwrap();
        for (label, verdict) in verdicts() {
            let Answer { stdout, stderr, exit_code } = encode(agent, &event_of(agent, name), &verdict);
            let output = match (stdout.trim_end(), stderr.trim_end()) {
                ("", "") => "-".to_owned(),
                (stdout, "") => stdout.to_owned(),
                (stdout, stderr) => format!("{stdout}exit {exit_code}, stderr: {stderr}"),
            };
            writeln!(text, "{label:<16}{output}").unwrap();
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

const GEMINI_EVENTS: [&str; 10] = [
    "BeforeTool",
    "AfterTool",
    "BeforeAgent",
    "AfterAgent",
    "SessionStart",
    "SessionEnd",
    "Notification",
    "PreCompress",
    "AfterModel",
    "SomethingNew",
];

const ANTIGRAVITY_EVENTS: [&str; 5] = ["PreToolUse", "PostToolUse", "PreInvocation", "Stop", "SomethingNew"];

const CURSOR_EVENTS: [&str; 12] = [
    "preToolUse",
    "beforeShellExecution",
    "beforeReadFile",
    "postToolUse",
    "postToolUseFailure",
    "beforeSubmitPrompt",
    "stop",
    "subagentStart",
    "subagentStop",
    "sessionStart",
    "sessionEnd",
    "somethingNew",
];

const COPILOT_EVENTS: [&str; 12] = [
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "SessionStart",
    "SessionEnd",
    "SomethingNew",
];

const OPENCODE_EVENTS: [&str; 9] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "SessionStart",
    "PreCompact",
];

fn events(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Claude => &CLAUDE_EVENTS,
        Agent::Codex => &CODEX_EVENTS,
        Agent::Gemini => &GEMINI_EVENTS,
        Agent::Antigravity => &ANTIGRAVITY_EVENTS,
        Agent::Cursor => &CURSOR_EVENTS,
        Agent::Copilot => &COPILOT_EVENTS,
        Agent::OpenCode => &OPENCODE_EVENTS,
    }
}

#[test]
fn answers_of_other_agents() {
    for agent in [Agent::Gemini, Agent::Antigravity, Agent::Cursor, Agent::Copilot, Agent::OpenCode] {
        insta::assert_snapshot!(format!("{}_answers", agent.name()), matrix(agent, events(agent)));
    }
}

#[test]
fn claude_answers() {
    insta::assert_snapshot!(matrix(Agent::Claude, &CLAUDE_EVENTS));
}

#[test]
fn codex_answers() {
    insta::assert_snapshot!(matrix(Agent::Codex, &CODEX_EVENTS));
}

/// Returns the keys that Codex 0.166.0 accepts in an answer, from the schemas in its binary: those at the top level,
/// and those in the objects there. If an answer had any other key, Codex would ignore the answer and run the call.
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
fn answers_to_codex_contain_only_known_keys() {
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

/// At every event before a tool call and at every stop, the answer to a block must contain the reason.
#[test]
fn a_block_is_never_silent_where_the_agent_can_refuse() {
    for agent in Agent::ALL {
        let mut kinds = Vec::new();
        for name in events(agent) {
            let event = event_of(agent, name);
            if event.kind.awaits_permission() || event.kind.is_stop() {
                let answer = encode(agent, &event, &verdict(Level::Block));
                assert!(answer.stdout.contains("Do not."), "{agent:?} {name}");
                kinds.push(event.kind);
            }
        }
        assert!(kinds.contains(&EventKind::BeforeTool) && kinds.contains(&EventKind::Stop), "{agent:?}");
    }
}

#[test]
fn the_capability_table_matches_the_answers() {
    for agent in Agent::ALL {
        for EventCapabilities { kind, event, hook } in capabilities(agent) {
            let says = |verdict| {
                let answer = encode(agent, &Event { kind, ..event_of(agent, event) }, &verdict);
                answer.stdout.contains("Do not.") || answer.stderr.contains("Do not.")
            };
            let has_audience = hook.audience() != Audience::Nobody;
            assert_eq!(says(verdict(Level::Warn)), has_audience, "{agent:?} {event}");
            let is_stopped = hook.block_effect(kind) != BlockEffect::Reported;
            assert_eq!(says(verdict(Level::Block)), is_stopped || has_audience, "{agent:?} {event}");
            let approved = Verdict { approved: true, ..verdict(Level::Allow) };
            let plain = encode(agent, &event_of(agent, event), &verdict(Level::Allow));
            assert_eq!(encode(agent, &event_of(agent, event), &approved) != plain, hook.approve, "{agent:?} {event}");
        }
    }
}

/// Every refusal and every question must contain the notices, because these can be about broken or disabled rules.
#[test]
fn a_notice_comes_with_every_refusal_and_every_question() {
    for agent in Agent::ALL {
        for name in events(agent) {
            let event = event_of(agent, name);
            for level in [Level::Ask, Level::Block] {
                let plain = encode(agent, &event, &verdict(level));
                let noticed = Verdict { notices: vec!["state.db is locked".to_owned()], ..verdict(level) };
                let answer = encode(agent, &event, &noticed);
                let says = |answer: &Answer, text: &str| answer.stdout.contains(text) || answer.stderr.contains(text);
                assert_eq!(says(&plain, "Do not."), says(&answer, "state.db is locked"), "{agent:?} {name} {level:?}");
            }
        }
    }
}

#[test]
fn a_verdict_that_is_not_enforced_stops_nothing_and_keeps_warnings() {
    let warning = verdict(Level::Warn).findings;
    let not_enforced = |level| {
        let findings = verdict(level).findings.into_iter().chain(warning.clone()).collect();
        Verdict { not_enforced: Some(NotEnforced::Paused), ..Verdict::of(findings) }
    };
    for agent in Agent::ALL {
        for name in CLAUDE_EVENTS.into_iter().chain(CODEX_EVENTS).chain(events(agent).iter().copied()) {
            let event = event_of(agent, name);
            for level in [Level::Ask, Level::Block] {
                assert_eq!(
                    encode(agent, &event, &not_enforced(level)),
                    encode(agent, &event, &verdict(Level::Warn)),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn the_tools_that_are_tried_with_a_path_are_tools_of_their_agent() {
    for agent in Agent::ALL {
        assert_eq!(attempt::subject(agent, attempt::shell_tool(agent)), ToolSubject::Command, "{}", agent.name());
        for tool in attempt::file_tools(agent) {
            let subject = attempt::subject(agent, tool);
            assert!(matches!(subject, ToolSubject::File | ToolSubject::Directory), "{} {tool}", agent.name());
            let input = &attempt::input_with_path(agent, tool, "/a/b", false);
            let call = AttemptedCall { session: "", cwd: "/", tool, input };
            let files = attempt::before_tool(agent, call, 0).tool.expect("a call").files;
            assert!(files.iter().any(|file| file.path == "/a/b"), "{} {tool}", agent.name());
        }
    }
}
