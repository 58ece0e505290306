//! The answer of Claude Code's hooks and of those that understand the same: one JSON object at exit 0.
//!
//! At exit 2 they would read stderr instead, so that is left to events whose shape nobody knows.

use engine::Event;
use serde::Serialize;

use super::answer::Answer;
use super::reply::{Decision, Reply};

/// The event at which a call is allowed or refused.
pub(crate) const BEFORE_TOOL: &str = "PreToolUse";
/// The event at which the agent's own question to the person is answered.
pub(crate) const PERMISSION: &str = "PermissionRequest";

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
        Some(decision) if event.name == BEFORE_TOOL => {
            said.hook_specific_output = Some(call(decision, context));
        }
        Some(decision) if event.name == PERMISSION => said.hook_specific_output = Some(permission(decision)),
        Some(Decision::Refuse(reason)) => {
            said.decision = Some("block");
            said.reason = Some(reason);
        }
        Some(Decision::Ask(_) | Decision::Approve(_)) => {}
    }
    Answer::json(&said)
}

fn call(decision: Decision, additional_context: Option<String>) -> Specific {
    let (permission_decision, permission_decision_reason) = match decision {
        Decision::Refuse(reason) => ("deny", reason),
        Decision::Ask(reason) => ("ask", reason),
        Decision::Approve(reason) => ("allow", reason),
    };
    Specific::Call { hook_event_name: BEFORE_TOOL, permission_decision, permission_decision_reason, additional_context }
}

fn permission(decision: Decision) -> Specific {
    let decision = match decision {
        Decision::Approve(_) => PermissionDecision { behavior: "allow", message: None },
        Decision::Refuse(reason) | Decision::Ask(reason) => {
            PermissionDecision { behavior: "deny", message: Some(reason) }
        }
    };
    Specific::Permission { hook_event_name: PERMISSION, decision }
}
