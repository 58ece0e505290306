//! The answer of Claude Code's hooks and of those that understand the same: one JSON object at exit 0.
//!
//! At exit 2 they would read stderr instead, so that is left to events whose shape nobody knows.

use engine::Event;
use serde::Serialize;

use super::answer::Answer;
use super::reply::{Decision, Reply};

/// The event at which a call is allowed or refused.
pub(crate) const PERMISSION: &str = "PreToolUse";
/// The event at which the agent's own question to the person is answered.
pub(crate) const PERMISSION_PROMPT: &str = "PermissionRequest";

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Said {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// For the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Specific {
    Permission {
        hook_event_name: &'static str,
        permission_decision: &'static str,
        permission_decision_reason: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        additional_context: Option<String>,
    },
    Prompt {
        hook_event_name: &'static str,
        decision: PromptDecision,
    },
    Context {
        hook_event_name: String,
        additional_context: String,
    },
}

#[derive(Serialize)]
struct PromptDecision {
    behavior: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

pub(crate) fn encode(event: &Event, reply: Reply) -> Answer {
    if reply.is_empty() {
        return Answer::silence();
    }
    let Reply { decision, context, message } = reply;
    let mut said = Said { system_message: message, ..Said::default() };
    match decision {
        None => {
            said.hook_specific_output = context.map(|additional_context| Specific::Context {
                hook_event_name: event.name.clone(),
                additional_context,
            });
        }
        Some(decision) if event.name == PERMISSION => {
            said.hook_specific_output = Some(permission(decision, context));
        }
        Some(decision) if event.name == PERMISSION_PROMPT => said.hook_specific_output = Some(prompt(decision)),
        Some(Decision::Refuse(reason)) => {
            said.decision = Some("block");
            said.reason = Some(reason);
        }
        Some(Decision::Ask(_) | Decision::Approve(_)) => {}
    }
    Answer::json(&said)
}

fn permission(decision: Decision, additional_context: Option<String>) -> Specific {
    let (permission_decision, permission_decision_reason) = match decision {
        Decision::Refuse(reason) => ("deny", reason),
        Decision::Ask(reason) => ("ask", reason),
        Decision::Approve(reason) => ("allow", reason),
    };
    Specific::Permission {
        hook_event_name: PERMISSION,
        permission_decision,
        permission_decision_reason,
        additional_context,
    }
}

fn prompt(decision: Decision) -> Specific {
    let decision = match decision {
        Decision::Approve(_) => PromptDecision { behavior: "allow", message: None },
        Decision::Refuse(reason) | Decision::Ask(reason) => PromptDecision { behavior: "deny", message: Some(reason) },
    };
    Specific::Prompt { hook_event_name: PERMISSION_PROMPT, decision }
}
