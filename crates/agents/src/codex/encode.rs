//! Verdicts in Codex's words. It knows every key by name: one key more than an event takes and the whole answer is
//! thrown away and the call runs. So each event has a struct of its own.

use std::borrow::Cow;

use engine::{Event, Level, Verdict};
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::wording;

/// `PreToolUse`: deny, or a text for the model. It knows neither `ask` nor a bare `allow`.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct BeforeTool {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<BeforeToolSpecific>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum BeforeToolSpecific {
    Deny { hook_event_name: &'static str, permission_decision: &'static str, permission_decision_reason: String },
    Context(Context),
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

/// Whether the model reads what is said, in whatever place.
fn takes_context(event: &str, level: Level) -> bool {
    match event {
        "PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "SessionStart" | "SubagentStart" => true,
        _ => level == Level::Block,
    }
}

pub(super) fn encode(event: &Event, verdict: &Verdict) -> Answer {
    let is_told = takes_context(&event.name, verdict.level);
    let verdict = &*if is_told { Cow::Borrowed(verdict) } else { wording::untold(event, verdict) };
    match (event.name.as_str(), verdict.level) {
        // Codex cannot ask here, so a person has to be asked elsewhere, and until then the call is refused.
        ("PreToolUse", Level::Ask | Level::Block) => deny(event, verdict),
        ("PreToolUse", Level::Warn) => Answer::json(&BeforeTool {
            system_message: Some(told(event, verdict)),
            hook_specific_output: Some(BeforeToolSpecific::Context(context(event, verdict))),
        }),

        ("PermissionRequest", Level::Block) => {
            permission(verdict, "deny", Some(wording::reasons_and_context(event, verdict)))
        }
        ("PermissionRequest", Level::Allow) if verdict.approved => permission(verdict, "allow", None),

        ("PostToolUse" | "UserPromptSubmit" | "Stop" | "SubagentStop", Level::Block) => Answer::json(&Block {
            system_message: wording::notices(verdict),
            decision: "block",
            reason: wording::reasons_and_context(event, verdict),
        }),
        ("PreCompact", Level::Block) => Answer::json(&EndTurn {
            system_message: wording::notices(verdict),
            r#continue: false,
            stop_reason: wording::reasons_and_context(event, verdict),
        }),

        (
            "PostToolUse" | "UserPromptSubmit" | "SessionStart" | "SubagentStart",
            Level::Warn | Level::Ask | Level::Block,
        ) => {
            let system_message = Some(told(event, verdict));
            Answer::json(&Told { system_message, hook_specific_output: context(event, verdict) })
        }

        ("PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "SessionStart" | "SubagentStart", Level::Allow)
            if !verdict.context.is_empty() =>
        {
            Answer::json(&Told {
                system_message: wording::notices(verdict),
                hook_specific_output: context(event, verdict),
            })
        }

        // No answer to these is read.
        ("SessionEnd" | "PreModelRequest" | "PostModelRequest", _) => Answer::silence(),

        (
            "PreToolUse" | "PermissionRequest" | "PostToolUse" | "UserPromptSubmit" | "SessionStart" | "SubagentStart"
            | "Stop" | "SubagentStop" | "PreCompact" | "PostCompact" | "Interrupt",
            level,
        ) => {
            let text = if level == Level::Allow { wording::notices(verdict) } else { Some(told(event, verdict)) };
            text.map_or_else(Answer::silence, |system_message| Answer::json(&Message { system_message }))
        }

        // What an event that nobody knows takes, nobody knows either; an exit code it takes.
        (_, Level::Ask | Level::Block) => Answer::refusal(&wording::reasons(event, verdict)),
        (_, Level::Allow | Level::Warn) => Answer::silence(),
    }
}

fn deny(event: &Event, verdict: &Verdict) -> Answer {
    let reasons = wording::reasons_and_context(event, verdict);
    let reason = if verdict.level == Level::Ask {
        format!("A person has to decide this; until then it is refused.\n\n{reasons}")
    } else {
        reasons
    };
    Answer::json(&BeforeTool {
        system_message: wording::notices(verdict),
        hook_specific_output: Some(BeforeToolSpecific::Deny {
            hook_event_name: "PreToolUse",
            permission_decision: "deny",
            permission_decision_reason: reason,
        }),
    })
}

fn permission(verdict: &Verdict, behavior: &'static str, message: Option<String>) -> Answer {
    Answer::json(&Permission {
        system_message: wording::notices(verdict),
        hook_specific_output: PermissionSpecific {
            hook_event_name: "PermissionRequest",
            decision: PermissionDecision { behavior, message },
        },
    })
}

/// What the rules say is for the model too, where they say something.
fn context(event: &Event, verdict: &Verdict) -> Context {
    let additional_context = match verdict.level {
        Level::Allow => wording::context(verdict).unwrap_or_default(),
        Level::Warn | Level::Ask | Level::Block => wording::reasons_and_context(event, verdict),
    };
    Context { hook_event_name: event.name.clone(), additional_context }
}

fn told(event: &Event, verdict: &Verdict) -> String {
    wording::notices_and(verdict, wording::reasons(event, verdict))
}
