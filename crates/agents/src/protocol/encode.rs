//! Answers in the format of Claude Code and compatible agents: one JSON object with exit code 0.
//!
//! With exit code 2 these agents read stderr instead of the JSON. An answer uses exit code 2 only at events that Linchpin
//! does not know. (`linchpin hook` also ends with exit code 2 if there is no answer that it could print.)

use engine::Event;
use serde::Serialize;

use super::answer::Answer;
use super::reply::{Reply, ReplyDecision};

/// The event before a tool call. A hook can allow or refuse the call.
pub(crate) const BEFORE_TOOL: &str = "PreToolUse";
/// The event at which the agent is about to ask the person for permission. A hook can answer in the person's place.
pub(crate) const PERMISSION: &str = "PermissionRequest";

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct HookOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// A text that the agent shows to the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<HookSpecificOutput>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum HookSpecificOutput {
    Call {
        hook_event_name: &'static str,
        permission_decision: &'static str,
        permission_decision_reason: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        additional_context: Option<String>,
    },
    Permission {
        hook_event_name: &'static str,
        decision: PermissionDecision,
    },
    Context {
        hook_event_name: String,
        additional_context: String,
    },
}

#[derive(Serialize)]
struct PermissionDecision {
    behavior: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

pub(crate) fn encode(event: &Event, reply: Reply) -> Answer {
    if reply.is_empty() {
        return Answer::empty();
    }
    let Reply { decision, agent_text, person_text } = reply;
    let mut output = HookOutput { system_message: person_text, ..HookOutput::default() };
    match decision {
        None => {
            output.hook_specific_output = agent_text.map(|additional_context| HookSpecificOutput::Context {
                hook_event_name: event.name.clone(),
                additional_context,
            });
        }
        Some(decision) if event.name == BEFORE_TOOL => {
            output.hook_specific_output = Some(call_output(decision, agent_text));
        }
        Some(decision) if event.name == PERMISSION => output.hook_specific_output = Some(permission_output(decision)),
        Some(ReplyDecision::Refuse(reason)) => {
            output.decision = Some("block");
            output.reason = Some(reason);
        }
        Some(ReplyDecision::Ask(_) | ReplyDecision::Approve(_)) => {}
    }
    Answer::json(&output)
}

fn call_output(decision: ReplyDecision, additional_context: Option<String>) -> HookSpecificOutput {
    let (permission_decision, permission_decision_reason) = match decision {
        ReplyDecision::Refuse(reason) => ("deny", reason),
        ReplyDecision::Ask(reason) => ("ask", reason),
        ReplyDecision::Approve(reason) => ("allow", reason),
    };
    HookSpecificOutput::Call {
        hook_event_name: BEFORE_TOOL,
        permission_decision,
        permission_decision_reason,
        additional_context,
    }
}

fn permission_output(decision: ReplyDecision) -> HookSpecificOutput {
    let decision = match decision {
        ReplyDecision::Approve(_) => PermissionDecision { behavior: "allow", message: None },
        ReplyDecision::Refuse(reason) | ReplyDecision::Ask(reason) => {
            PermissionDecision { behavior: "deny", message: Some(reason) }
        }
    };
    HookSpecificOutput::Permission { hook_event_name: PERMISSION, decision }
}
