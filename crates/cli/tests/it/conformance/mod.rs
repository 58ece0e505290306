//! Every agent in the same situations under the same rules: the same verdicts, whatever the payloads and answers look like;
//! and what the agent then does, by its own protocol.

mod effect;
mod telling;

use std::fmt::Write as _;

use agents::Audience::{AgentAndPerson, Nobody, Person};
use agents::{Agent, Audience, is_refusal};
use insta::assert_snapshot;
use serde_json::Value;
use testkit::{Reply, Scratch};

use crate::project;
use effect::{Effect, Fate};
use telling::{Deed, prompt, told};

/// One rule file for all.
const RULES: &str = "
forbidden: {tools: [Bash], command_pattern: 'touch forbidden', action: block, reason: Forbidden files stay unmade.}
asked: {tools: [Bash], command_pattern: 'touch asked', action: ask, reason: Ask first.}
warned: {tools: [Bash], command_pattern: 'touch warned', action: warn, reason: Mind the gap.}
secrets: {writes: ['secrets/**'], action: block, reason: Secrets are written by people.}
notes: {mcp_tools: ['*:write_note'], action: block, reason: No notes.}
greeting: {on: session_start, action: warn, reason: Read the guide.}
not-yet: {on: stop, action: block, max_holds: 1, reason: Not yet.}
failing: {on: [after_tool, tool_failed], when: \"event.outcome == 'failed'\", action: warn, reason: That failed.}
";

/// Each situation, what the rules say about it, which rule does, and in which words.
const SITUATIONS: [(&str, Deed, &str, &str, &str); 12] = [
    ("injected context", Deed::Start, "warn", "greeting", "Read the guide."),
    ("allow", Deed::Shell("touch harmless.txt"), "allow", "", "by Linchpin"),
    ("warn", Deed::Shell("touch warned.txt"), "warn", "warned", "Mind the gap."),
    ("ask", Deed::Shell("touch asked.txt"), "ask", "asked", "Ask first."),
    ("block", Deed::Shell("touch forbidden.txt"), "block", "forbidden", "Forbidden files stay unmade."),
    ("protected file", Deed::NewFile("secrets/key.txt"), "block", "secrets", "Secrets are written by people."),
    ("patch of several files", Deed::Patch, "block", "secrets", "Secrets are written by people."),
    ("MCP call", Deed::Mcp, "block", "notes", "No notes."),
    ("subagent", Deed::ShellOfSubagent("touch forbidden.txt"), "block", "forbidden", "Forbidden files stay unmade."),
    ("failure", Deed::FailedShell, "warn", "failing", "That failed."),
    ("held stop", Deed::Stop, "block", "not-yet", "Not yet."),
    // Held once, as the rule says, and then let go.
    ("stop that is let go", Deed::StopAgain, "warn", "not-yet", "Not yet."),
];

/// What the agent does then, and who reads why.
fn expected(agent: Agent, situation: &str) -> (Fate, Audience) {
    match situation {
        "warn" => (Fate::GoesOn, warned_before(agent)),
        "injected context" | "failure" => (Fate::GoesOn, told_of(agent)),
        "held stop" => (Fate::Held, Audience::Agent),
        "stop that is let go" if told_of(agent) == AgentAndPerson => (Fate::GoesOn, Person),
        "allow" | "stop that is let go" => (Fate::GoesOn, Nobody),
        "ask" if matches!(agent, Agent::Claude | Agent::Copilot | Agent::Antigravity) => (Fate::Asked, Person),
        // Where nobody can be asked, a question is a refusal like any other.
        _ if agent == Agent::Cursor => (Fate::Refused, AgentAndPerson),
        _ => (Fate::Refused, Audience::Agent),
    }
}

/// Who hears a warning before a call.
fn warned_before(agent: Agent) -> Audience {
    match agent {
        Agent::Claude | Agent::Codex | Agent::OpenCode => AgentAndPerson,
        Agent::Gemini => Person,
        Agent::Copilot => Audience::Agent,
        Agent::Cursor | Agent::Antigravity => Nobody,
    }
}

/// Who hears what is said at the start, and after a call.
fn told_of(agent: Agent) -> Audience {
    match agent {
        Agent::Claude | Agent::Codex | Agent::Gemini | Agent::OpenCode => AgentAndPerson,
        Agent::Copilot | Agent::Cursor => Audience::Agent,
        Agent::Antigravity => Nobody,
    }
}

fn tell(scratch: &Scratch, agent: Agent, event: &str, payload: &[u8]) -> Reply {
    scratch.feed(scratch.command(&["hook", agent.name(), event]), payload)
}

/// What the journal has of the last event.
fn last_entry(scratch: &Scratch) -> Value {
    let log = scratch.run(&["log", "--json", "--limit", "1"]).stdout;
    serde_json::from_str(log.lines().last().unwrap_or_default()).expect("an event")
}

/// What was said of it, and by which rules.
fn judged(scratch: &Scratch) -> (String, String) {
    let entry = last_entry(scratch);
    let findings = entry["verdict"]["findings"].as_array().cloned().unwrap_or_default();
    let rules: Vec<&str> = findings.iter().filter_map(|finding| finding["rule"].as_str()).collect();
    (entry["verdict"]["level"].as_str().unwrap_or("allow").to_owned(), rules.join(","))
}

#[test]
fn every_agent_gets_the_same_verdicts() {
    let mut answers = String::new();
    for agent in Agent::ALL {
        let scratch = project();
        scratch.file(".linchpin/rules/all.yml", RULES);
        let names = "rules: [forbidden, asked, warned, secrets, notes, greeting, not-yet, failing]\n";
        scratch.config(names);
        let root = scratch.root().to_string_lossy().into_owned();
        writeln!(answers, "## {}", agent.title()).unwrap();
        for (situation, deed, level, rule, words) in SITUATIONS {
            let Some((event, payload)) = told(agent, deed, &root) else {
                writeln!(answers, "{situation}: it does not tell of it").unwrap();
                continue;
            };
            let reply = tell(&scratch, agent, event, payload.to_string().as_bytes());
            let about = format!("{agent:?} {situation}: {}", reply.stdout);
            assert_eq!(judged(&scratch), (level.to_owned(), rule.to_owned()), "{about}");
            assert_eq!((reply.code, reply.stderr.as_str()), (Some(0), ""), "{about}");
            let effect = Effect::of(agent, event, &reply);
            assert_eq!((effect.fate, effect.audience(words)), expected(agent, situation), "{about}");
            let said = scratch.shown(&reply.stdout);
            writeln!(answers, "{situation}: {}", if said.is_empty() { "-" } else { said.trim() }).unwrap();
        }
        writeln!(answers).unwrap();
    }
    assert_snapshot!(answers);
}

/// What cannot be read is not let through, by any agent.
#[test]
fn a_broken_payload_is_refused_or_asked_about() {
    for agent in Agent::ALL {
        let scratch = project();
        let root = scratch.root().to_string_lossy().into_owned();
        let (event, payload) = told(agent, Deed::Unreadable, &root).expect("every agent calls tools");
        let mut text = payload.to_string();
        text.truncate(text.len() - 2);
        let reply = tell(&scratch, agent, event, text.as_bytes());
        let answer: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
        let asks = reply.stdout.contains("\"ask\"") || reply.stdout.contains("force_ask");
        assert!(is_refusal(&answer) || asks, "{agent:?}: {}", reply.stdout);
    }
}

/// Some agents go on after a held stop with what it was told as if a person had written that.
#[test]
fn what_a_held_stop_is_told_is_no_prompt_of_a_person() {
    const NOT_YET: (&str, &str) = ("not-yet", "---\non: stop\naction: block\n---\nNot yet.\n");
    const TIDY: (&str, &str) = ("tidy", "---\non: stop\naction: warn\n---\nTidy up.\n");
    const TOGETHER: (&str, &str) = ("together", "---\ntrigger: src/**\nsafety: README.md\n---\nLook at it.\n");
    for agent in [Agent::Gemini, Agent::Cursor, Agent::Copilot] {
        for rules in [&[NOT_YET][..], &[TOGETHER], &[TIDY, TOGETHER], &[TIDY, NOT_YET, TOGETHER]] {
            let scratch = project();
            scratch.git(&["init", "-q", "-b", "main"]);
            scratch.file("src/a.py", "new\n");
            for (id, text) in rules {
                scratch.rule(id, text);
            }
            let root = scratch.root().to_string_lossy().into_owned();
            let (event, payload) = told(agent, Deed::Stop, &root).expect("every agent stops");
            let reply = tell(&scratch, agent, event, payload.to_string().as_bytes());
            let effect = Effect::of(agent, event, &reply);
            assert_eq!(effect.fate, Fate::Held, "{agent:?}: {}", reply.stdout);
            let text = effect.agent_reads.concat();
            for (text, kind) in [(text.as_str(), "other"), ("Held? Go on.", "prompt")] {
                let (event, payload) = prompt(agent, text, &root);
                tell(&scratch, agent, event, payload.to_string().as_bytes());
                assert_eq!(last_entry(&scratch)["kind"], kind, "{agent:?}: {text}");
            }
        }
    }
}
