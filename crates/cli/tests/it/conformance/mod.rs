//! All agents in the same situations under the same rules: the verdicts must be equal although payloads and answers
//! differ, and every agent must react as its own protocol defines.

mod effect;
mod payloads;

use std::fmt::Write as _;

use agents::Audience::{AgentAndPerson, Nobody, Person};
use agents::{Agent, Audience, is_refusal};
use insta::assert_snapshot;
use serde_json::Value;
use testkit::{ProcessOutput, TestProject};

use crate::project;
use effect::{ActionOutcome, Effect};
use payloads::{AgentAction, payload, prompt};

/// The rules of all tests in this module.
const RULES: &str = "
forbidden: {tools: [Bash], command_pattern: 'touch forbidden', action: block, reason: Do not create forbidden files.}
asked: {tools: [Bash], command_pattern: 'touch asked', action: ask, reason: Ask first.}
warned: {tools: [Bash], command_pattern: 'touch warned', action: warn, reason: Mind the gap.}
secrets: {writes: ['secrets/**'], action: block, reason: Secrets are written by people.}
notes: {mcp_tools: ['*:write_note'], action: block, reason: No notes.}
greeting: {on: session_start, action: warn, reason: Read the guide.}
not-yet: {on: stop, action: block, max_holds: 1, reason: Not yet.}
failing: {on: [after_tool, tool_failed], when: \"event.outcome == 'failed'\", action: warn, reason: That failed.}
";

/// Each situation: its name, the agent's action, the expected verdict, the rule that leads to the verdict, and a part
/// of the rule's reason.
const SITUATIONS: [(&str, AgentAction, &str, &str, &str); 12] = [
    ("injected context", AgentAction::Start, "warn", "greeting", "Read the guide."),
    ("allow", AgentAction::Shell("touch harmless.txt"), "allow", "", "by Linchpin"),
    ("warn", AgentAction::Shell("touch warned.txt"), "warn", "warned", "Mind the gap."),
    ("ask", AgentAction::Shell("touch asked.txt"), "ask", "asked", "Ask first."),
    ("block", AgentAction::Shell("touch forbidden.txt"), "block", "forbidden", "Do not create forbidden files."),
    ("protected file", AgentAction::NewFile("secrets/key.txt"), "block", "secrets", "Secrets are written by people."),
    ("patch of several files", AgentAction::Patch, "block", "secrets", "Secrets are written by people."),
    ("MCP call", AgentAction::Mcp, "block", "notes", "No notes."),
    (
        "subagent",
        AgentAction::ShellOfSubagent("touch forbidden.txt"),
        "block",
        "forbidden",
        "Do not create forbidden files.",
    ),
    ("failure", AgentAction::FailedShell, "warn", "failing", "That failed."),
    ("held stop", AgentAction::Stop, "block", "not-yet", "Not yet."),
    // The rule `not-yet` holds a stop only once, so the second stop is allowed.
    ("stop after a hold", AgentAction::StopAgain, "warn", "not-yet", "Not yet."),
];

/// Returns the expected effect on the agent, and who reads the reason.
fn expected_effect(agent: Agent, situation: &str) -> (ActionOutcome, Audience) {
    match situation {
        "warn" => (ActionOutcome::Proceeds, warning_readers(agent)),
        "injected context" | "failure" => (ActionOutcome::Proceeds, context_readers(agent)),
        "held stop" => (ActionOutcome::Held, Audience::Agent),
        "stop after a hold" if context_readers(agent) == AgentAndPerson => (ActionOutcome::Proceeds, Person),
        "allow" | "stop after a hold" => (ActionOutcome::Proceeds, Nobody),
        "ask" if matches!(agent, Agent::Claude | Agent::Copilot | Agent::Antigravity) => (ActionOutcome::Asked, Person),
        // All other situations are refusals. An agent that cannot ask a person refuses, too.
        _ if agent == Agent::Cursor => (ActionOutcome::Refused, AgentAndPerson),
        _ => (ActionOutcome::Refused, Audience::Agent),
    }
}

/// Returns who reads a warning that is given before a call.
fn warning_readers(agent: Agent) -> Audience {
    match agent {
        Agent::Claude | Agent::Codex | Agent::OpenCode => AgentAndPerson,
        Agent::Gemini => Person,
        Agent::Copilot => Audience::Agent,
        Agent::Cursor | Agent::Antigravity => Nobody,
    }
}

/// Returns who reads a text that is given at the start of a session or after a call.
fn context_readers(agent: Agent) -> Audience {
    match agent {
        Agent::Claude | Agent::Codex | Agent::Gemini | Agent::OpenCode => AgentAndPerson,
        Agent::Copilot | Agent::Cursor => Audience::Agent,
        Agent::Antigravity => Nobody,
    }
}

fn call_hook(project: &TestProject, agent: Agent, event: &str, payload: &[u8]) -> ProcessOutput {
    project.run_with_stdin(project.command(&["hook", agent.name(), event]), payload)
}

/// Returns the journal entry of the last event.
fn last_entry(project: &TestProject) -> Value {
    let log = project.run(&["log", "--json", "--limit", "1"]).stdout;
    serde_json::from_str(log.lines().last().unwrap_or_default()).expect("an event")
}

/// Returns the verdict of the last event, and the rules that led to it.
fn last_verdict(project: &TestProject) -> (String, String) {
    let entry = last_entry(project);
    let findings = entry["verdict"]["findings"].as_array().cloned().unwrap_or_default();
    let rules: Vec<&str> = findings.iter().filter_map(|finding| finding["rule"].as_str()).collect();
    (entry["verdict"]["level"].as_str().unwrap_or("allow").to_owned(), rules.join(","))
}

#[test]
fn every_agent_gets_the_same_verdicts() {
    let mut answers = String::new();
    for agent in Agent::ALL {
        let project = project();
        project.file(".linchpin/rules/all.yml", RULES);
        let config = "rules: [forbidden, asked, warned, secrets, notes, greeting, not-yet, failing]\n";
        project.config(config);
        let root = project.root().to_string_lossy().into_owned();
        writeln!(answers, "## {}", agent.title()).unwrap();
        for (situation, action, level, rule, reason_text) in SITUATIONS {
            let Some((event, payload)) = payload(agent, action, &root) else {
                writeln!(answers, "{situation}: this agent does not report it").unwrap();
                continue;
            };
            let reply = call_hook(&project, agent, event, payload.to_string().as_bytes());
            let message = format!("{agent:?} {situation}: {}", reply.stdout);
            assert_eq!(last_verdict(&project), (level.to_owned(), rule.to_owned()), "{message}");
            assert_eq!((reply.code, reply.stderr.as_str()), (Some(0), ""), "{message}");
            let effect = Effect::of(agent, event, &reply);
            assert_eq!((effect.outcome, effect.audience(reason_text)), expected_effect(agent, situation), "{message}");
            let redacted = project.redacted(&reply.stdout);
            writeln!(answers, "{situation}: {}", if redacted.is_empty() { "-" } else { redacted.trim() }).unwrap();
        }
        writeln!(answers).unwrap();
    }
    assert_snapshot!(answers);
}

/// If Linchpin cannot read the payload of a call, no agent runs the call without asking a person.
#[test]
fn a_broken_payload_is_refused_or_asked_about() {
    for agent in Agent::ALL {
        let project = project();
        let root = project.root().to_string_lossy().into_owned();
        let (event, payload) = payload(agent, AgentAction::Unreadable, &root).expect("every agent calls tools");
        let mut text = payload.to_string();
        text.truncate(text.len() - 2);
        let reply = call_hook(&project, agent, event, text.as_bytes());
        let answer: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
        let asks = reply.stdout.contains("\"ask\"") || reply.stdout.contains("force_ask");
        assert!(is_refusal(&answer) || asks, "{agent:?}: {}", reply.stdout);
    }
}

/// After a held stop, some agents send the reason of the hold as if it were a person's prompt.
#[test]
fn hold_texts_are_not_prompts_of_a_person() {
    const NOT_YET: (&str, &str) = ("not-yet", "---\non: stop\naction: block\n---\nNot yet.\n");
    const TIDY: (&str, &str) = ("tidy", "---\non: stop\naction: warn\n---\nTidy up.\n");
    const TOGETHER: (&str, &str) = ("together", "---\ntrigger: src/**\nsafety: README.md\n---\nLook at it.\n");
    for agent in [Agent::Gemini, Agent::Cursor, Agent::Copilot] {
        for rules in [&[NOT_YET][..], &[TOGETHER], &[TIDY, TOGETHER], &[TIDY, NOT_YET, TOGETHER]] {
            let project = project();
            project.git(&["init", "-q", "-b", "main"]);
            project.file("src/a.py", "new\n");
            for (id, text) in rules {
                project.rule(id, text);
            }
            let root = project.root().to_string_lossy().into_owned();
            let (event, payload) = payload(agent, AgentAction::Stop, &root).expect("every agent stops");
            let reply = call_hook(&project, agent, event, payload.to_string().as_bytes());
            let effect = Effect::of(agent, event, &reply);
            assert_eq!(effect.outcome, ActionOutcome::Held, "{agent:?}: {}", reply.stdout);
            let text = effect.agent_reads.concat();
            for (text, kind) in [(text.as_str(), "other"), ("Held? Go on.", "prompt")] {
                let (event, payload) = prompt(agent, text, &root);
                call_hook(&project, agent, event, payload.to_string().as_bytes());
                assert_eq!(last_entry(&project)["kind"], kind, "{agent:?}: {text}");
            }
        }
    }
}
