//! The effect of an answer on each agent, derived from the agent's documentation and not from Linchpin's code.

use agents::{Agent, Audience};
use serde_json::Value;
use testkit::ProcessOutput;

/// What happens to the action that the agent intends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionOutcome {
    Proceeds,
    Refused,
    /// A person is asked whether the action may proceed.
    Asked,
    /// The agent continues instead of stopping.
    Held,
}

/// The effect of an answer: what happens to the action, and who reads which texts.
pub struct Effect {
    pub outcome: ActionOutcome,
    pub agent_reads: Vec<String>,
    pub person_reads: Vec<String>,
}

impl Effect {
    pub fn of(agent: Agent, event: &str, reply: &ProcessOutput) -> Self {
        let answer: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
        match agent {
            Agent::Claude => claude(event, &answer),
            Agent::Codex => codex(event, &answer),
            Agent::Gemini => gemini(event, &answer),
            Agent::Antigravity => antigravity(event, &answer),
            Agent::Cursor => cursor(event, &answer),
            Agent::Copilot => copilot(event, &answer),
            Agent::OpenCode => opencode(event, &answer),
        }
    }

    /// Returns who reads this text.
    pub fn audience(&self, text: &str) -> Audience {
        let reads = |texts: &[String]| texts.iter().any(|read| read.contains(text));
        match (reads(&self.agent_reads), reads(&self.person_reads)) {
            (true, true) => Audience::AgentAndPerson,
            (true, false) => Audience::Agent,
            (false, true) => Audience::Person,
            (false, false) => Audience::Nobody,
        }
    }

    fn proceeding() -> Self {
        Self { outcome: ActionOutcome::Proceeds, agent_reads: Vec::new(), person_reads: Vec::new() }
    }

    fn with_outcome(mut self, outcome: ActionOutcome, reason: Option<String>) -> Self {
        self.outcome = outcome;
        // The reason of a question is shown to the person, the reason of a refusal or hold to the agent.
        let readers = if outcome == ActionOutcome::Asked { &mut self.person_reads } else { &mut self.agent_reads };
        readers.extend(reason);
        self
    }
}

fn text(answer: &Value, pointer: &str) -> Option<String> {
    answer.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

fn text_equals(answer: &Value, pointer: &str, expected: &str) -> bool {
    answer.pointer(pointer).and_then(Value::as_str) == Some(expected)
}

/// Claude Code ignores `hookSpecificOutput` if its `hookEventName` is not the name of this event.
fn claude(event: &str, answer: &Value) -> Effect {
    let mut effect = Effect::proceeding();
    effect.person_reads.extend(text(answer, "/systemMessage"));
    if text_equals(answer, "/hookSpecificOutput/hookEventName", event) {
        effect.agent_reads.extend(text(answer, "/hookSpecificOutput/additionalContext"));
        let reason = text(answer, "/hookSpecificOutput/permissionDecisionReason");
        let decides = |word: &str| text_equals(answer, "/hookSpecificOutput/permissionDecision", word);
        match event {
            "PreToolUse" if decides("deny") => return effect.with_outcome(ActionOutcome::Refused, reason),
            "PreToolUse" if decides("ask") => return effect.with_outcome(ActionOutcome::Asked, reason),
            _ => {}
        }
    }
    if text_equals(answer, "/decision", "block") && matches!(event, "Stop" | "SubagentStop") {
        return effect.with_outcome(ActionOutcome::Held, text(answer, "/reason"));
    }
    effect
}

/// Codex uses Claude Code's format, but ignores an answer with an unknown key or an `ask`.
fn codex(event: &str, answer: &Value) -> Effect {
    let known: &[&str] = match event {
        "PreToolUse" | "SessionStart" => &["systemMessage", "hookSpecificOutput"],
        "PostToolUse" => &["systemMessage", "decision", "reason", "hookSpecificOutput"],
        _ => &["systemMessage", "decision", "reason"],
    };
    let is_known = answer.as_object().is_none_or(|keys| keys.keys().all(|key| known.contains(&key.as_str())));
    let asks = text_equals(answer, "/hookSpecificOutput/permissionDecision", "ask");
    if is_known && !asks { claude(event, answer) } else { Effect::proceeding() }
}

fn gemini(event: &str, answer: &Value) -> Effect {
    let mut effect = Effect::proceeding();
    effect.person_reads.extend(text(answer, "/systemMessage"));
    if matches!(event, "AfterTool" | "BeforeAgent" | "SessionStart") {
        effect.agent_reads.extend(text(answer, "/hookSpecificOutput/additionalContext"));
    }
    let is_refused = text_equals(answer, "/decision", "block") || text_equals(answer, "/decision", "deny");
    match event {
        "BeforeTool" if is_refused => effect.with_outcome(ActionOutcome::Refused, text(answer, "/reason")),
        "AfterAgent" if is_refused => effect.with_outcome(ActionOutcome::Held, text(answer, "/reason")),
        _ => effect,
    }
}

/// Before a call, Antigravity asks the person if the answer contains no decision that it knows. After a call, it
/// ignores the answer.
fn antigravity(event: &str, answer: &Value) -> Effect {
    let (effect, reason) = (Effect::proceeding(), text(answer, "/reason"));
    match (event, answer["decision"].as_str()) {
        ("PreToolUse", Some("allow" | "auto_approve")) => effect,
        ("PreToolUse", Some("deny")) => effect.with_outcome(ActionOutcome::Refused, reason),
        ("PreToolUse", _) => effect.with_outcome(ActionOutcome::Asked, reason),
        ("Stop", Some("continue")) => effect.with_outcome(ActionOutcome::Held, reason),
        _ => effect,
    }
}

/// An answer that is not JSON refuses the call. Cursor never asks before a tool call, whatever the answer.
fn cursor(event: &str, answer: &Value) -> Effect {
    let mut effect = Effect::proceeding();
    match event {
        "preToolUse" if !answer.is_object() => return effect.with_outcome(ActionOutcome::Refused, None),
        "preToolUse" if text_equals(answer, "/permission", "deny") => {
            effect.person_reads.extend(text(answer, "/user_message"));
            return effect.with_outcome(ActionOutcome::Refused, text(answer, "/agent_message"));
        }
        "stop" | "subagentStop" if answer.get("followup_message").is_some() => {
            return effect.with_outcome(ActionOutcome::Held, text(answer, "/followup_message"));
        }
        "postToolUse" | "sessionStart" => effect.agent_reads.extend(text(answer, "/additional_context")),
        _ => {}
    }
    effect
}

/// Before a call, Copilot uses Claude Code's format, but shows texts to the person only if it asks the person. At other
/// events, the fields are not nested in `hookSpecificOutput`.
fn copilot(event: &str, answer: &Value) -> Effect {
    if event == "PreToolUse" {
        let like_claude = claude(event, answer);
        let person_reads =
            if like_claude.outcome == ActionOutcome::Asked { like_claude.person_reads } else { Vec::new() };
        return Effect { person_reads, ..like_claude };
    }
    let mut effect = Effect::proceeding();
    if matches!(event, "PostToolUse" | "PostToolUseFailure" | "SessionStart") {
        effect.agent_reads.extend(text(answer, "/additionalContext"));
    }
    let is_held = text_equals(answer, "/decision", "block") && matches!(event, "Stop" | "SubagentStop");
    if is_held { effect.with_outcome(ActionOutcome::Held, text(answer, "/reason")) } else { effect }
}

/// Linchpin's plugin turns an answer into an exception, a toast for the person or a text for the agent.
fn opencode(event: &str, answer: &Value) -> Effect {
    let like_claude = claude(event, answer);
    // The plugin cannot ask a person, so the call would proceed.
    if like_claude.outcome == ActionOutcome::Asked { Effect::proceeding() } else { like_claude }
}
