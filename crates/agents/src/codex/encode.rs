//! Codex's words for an answer. It knows every key by name: one key more than an event takes and the whole answer is
//! thrown away and the call runs. So each event has a struct of its own.

use engine::Event;
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::reply::{Decision, Reply};

/// `PreToolUse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Deny {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    hook_specific_output: DenySpecific,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DenySpecific {
    hook_event_name: &'static str,
    permission_decision: &'static str,
    permission_decision_reason: String,
}

/// `PermissionRequest`: an answer in the person's place.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Permission {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    hook_specific_output: PermissionSpecific,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PermissionSpecific {
    hook_event_name: &'static str,
    decision: PermissionDecision,
}

#[derive(Serialize)]
struct PermissionDecision {
    behavior: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// `PostToolUse`, `UserPromptSubmit`, `Stop`, `SubagentStop`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Block {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    decision: &'static str,
    reason: String,
}

/// `PreCompact` cannot be blocked, but the turn can be ended before it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EndTurn {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    r#continue: bool,
    stop_reason: String,
}

/// A text for the model, and one for the person: `PreToolUse`, `PostToolUse`, `UserPromptSubmit`, `SessionStart`,
/// `SubagentStart`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    hook_specific_output: Context,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    hook_event_name: String,
    additional_context: String,
}

/// A text for the person, which every event that reads an answer takes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    system_message: String,
}

pub(super) fn encode(event: &Event, reply: Reply) -> Answer {
    let Reply { decision, context, message: system_message } = reply;
    match (event.name.as_str(), decision) {
        ("PreToolUse", Some(Decision::Refuse(reason))) => Answer::json(&Deny {
            system_message,
            hook_specific_output: DenySpecific {
                hook_event_name: "PreToolUse",
                permission_decision: "deny",
                permission_decision_reason: reason,
            },
        }),
        ("PermissionRequest", Some(decision)) => Answer::json(&Permission {
            system_message,
            hook_specific_output: PermissionSpecific {
                hook_event_name: "PermissionRequest",
                decision: match decision {
                    Decision::Approve(_) => PermissionDecision { behavior: "allow", message: None },
                    Decision::Refuse(reason) | Decision::Ask(reason) => {
                        PermissionDecision { behavior: "deny", message: Some(reason) }
                    }
                },
            },
        }),
        ("PreCompact", Some(Decision::Refuse(stop_reason))) => {
            Answer::json(&EndTurn { system_message, r#continue: false, stop_reason })
        }
        (_, Some(Decision::Refuse(reason))) => Answer::json(&Block { system_message, decision: "block", reason }),
        (_, Some(Decision::Ask(_) | Decision::Approve(_)) | None) => match (context, system_message) {
            (Some(additional_context), system_message) => {
                let hook_specific_output = Context { hook_event_name: event.name.clone(), additional_context };
                Answer::json(&Told { system_message, hook_specific_output })
            }
            (None, Some(system_message)) => Answer::json(&Message { system_message }),
            (None, None) => Answer::silence(),
        },
    }
}
