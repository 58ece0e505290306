//! Verdicts in Claude Code's words: JSON at exit 0. At exit 2 it would read stderr instead, so that is left to
//! events whose shape nobody knows.

use std::borrow::Cow;

use engine::{Event, Level, Verdict};
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::wording;

/// What Claude Code lets a hook do on an event.
enum Power {
    /// Allow, ask or deny the call.
    Permission,
    /// Answer the permission prompt in the person's place.
    PermissionPrompt,
    /// `decision: "block"`; a text for the model too.
    BlockOrContext,
    /// `decision: "block"`, and nothing for the model but that.
    Block,
    /// A text for the model.
    Context,
    /// A text for the person.
    Message,
    /// The event is not known, so neither is what it takes.
    Unknown,
}

impl Power {
    /// Whether the model reads what is said, in whatever place.
    fn takes_context(&self, level: Level) -> bool {
        match self {
            Self::Permission | Self::BlockOrContext | Self::Context => true,
            Self::PermissionPrompt | Self::Block => level == Level::Block,
            Self::Unknown => level >= Level::Ask,
            Self::Message => false,
        }
    }
}

fn power(event: &str) -> Power {
    match event {
        "PreToolUse" => Power::Permission,
        "PermissionRequest" => Power::PermissionPrompt,
        "UserPromptSubmit" | "UserPromptExpansion" | "PostToolUse" | "PostToolBatch" => Power::BlockOrContext,
        // Context at a stop would keep the agent at work, which only a block may do.
        "Stop" | "SubagentStop" | "PreCompact" | "ConfigChange" | "TaskCreated" | "TaskCompleted" => Power::Block,
        "SessionStart" | "SubagentStart" | "PostToolUseFailure" => Power::Context,
        "SessionEnd" | "PostCompact" | "Notification" | "FileChanged" | "CwdChanged" | "DirectoryAdded"
        | "InstructionsLoaded" | "Setup" | "StopFailure" | "PermissionDenied" | "TeammateIdle" | "WorktreeCreate"
        | "WorktreeRemove" | "PreModelSwitch" | "PostModelSwitch" | "Elicitation" | "ElicitationResult"
        | "MessageDisplay" => Power::Message,
        _ => Power::Unknown,
    }
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Reply {
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

impl Reply {
    /// Nothing is decided; the person is told what there is to tell.
    fn quiet(verdict: &Verdict) -> Self {
        Self { system_message: wording::notices(verdict), ..Self::default() }
    }

    /// `context`: what the model is to read beside a reason that is for the person.
    fn permission(verdict: &Verdict, decision: &'static str, reason: String, context: Option<String>) -> Self {
        let specific = Specific::Permission {
            hook_event_name: "PreToolUse",
            permission_decision: decision,
            permission_decision_reason: reason,
            additional_context: context,
        };
        Self { hook_specific_output: Some(specific), ..Self::quiet(verdict) }
    }

    fn prompt(verdict: &Verdict, behavior: &'static str, message: Option<String>) -> Self {
        let decision = PromptDecision { behavior, message };
        let specific = Specific::Prompt { hook_event_name: "PermissionRequest", decision };
        Self { hook_specific_output: Some(specific), ..Self::quiet(verdict) }
    }

    fn block(event: &Event, verdict: &Verdict) -> Self {
        Self {
            decision: Some("block"),
            reason: Some(wording::reasons_and_context(event, verdict)),
            ..Self::quiet(verdict)
        }
    }

    fn message(event: &Event, verdict: &Verdict) -> Self {
        let text = wording::reasons(event, verdict);
        Self { system_message: Some(wording::notices_and(verdict, text)), ..Self::default() }
    }

    /// For the model and the person alike.
    fn context(event: &Event, verdict: &Verdict) -> Self {
        let specific = Specific::Context {
            hook_event_name: event.name.clone(),
            additional_context: wording::reasons_and_context(event, verdict),
        };
        Self { hook_specific_output: Some(specific), ..Self::message(event, verdict) }
    }

    /// For the model alone; the person is told what there is to tell.
    fn only_context(event: &Event, verdict: &Verdict) -> Self {
        let specific = wording::context(verdict)
            .map(|additional_context| Specific::Context { hook_event_name: event.name.clone(), additional_context });
        Self { hook_specific_output: specific, ..Self::quiet(verdict) }
    }

    fn is_empty(&self) -> bool {
        self.decision.is_none() && self.system_message.is_none() && self.hook_specific_output.is_none()
    }
}

pub(super) fn encode(event: &Event, verdict: &Verdict) -> Answer {
    let power = power(&event.name);
    let verdict =
        &*if power.takes_context(verdict.level) { Cow::Borrowed(verdict) } else { wording::untold(event, verdict) };
    let reply = match (power, verdict.level) {
        (Power::Unknown, Level::Ask | Level::Block) => {
            return Answer::refusal(&wording::reasons_and_context(event, verdict));
        }

        (Power::Permission, Level::Block) => {
            Reply::permission(verdict, "deny", wording::reasons_and_context(event, verdict), None)
        }
        (Power::Permission, Level::Ask) => {
            Reply::permission(verdict, "ask", wording::reasons(event, verdict), wording::context(verdict))
        }
        (Power::Permission, Level::Allow) if verdict.approved => {
            Reply::permission(verdict, "allow", wording::approval(verdict), wording::context(verdict))
        }

        (Power::PermissionPrompt, Level::Block) => {
            Reply::prompt(verdict, "deny", Some(wording::reasons_and_context(event, verdict)))
        }
        (Power::PermissionPrompt, Level::Allow) if verdict.approved => Reply::prompt(verdict, "allow", None),

        (Power::Permission | Power::BlockOrContext | Power::Context, Level::Allow) => {
            Reply::only_context(event, verdict)
        }
        (_, Level::Allow) => Reply::quiet(verdict),

        (Power::Block | Power::BlockOrContext, Level::Block) => Reply::block(event, verdict),
        (Power::Permission | Power::BlockOrContext | Power::Context, _) => Reply::context(event, verdict),
        // At a permission prompt silence is what makes Claude Code ask; the person is told why.
        (Power::PermissionPrompt | Power::Block | Power::Message | Power::Unknown, _) => Reply::message(event, verdict),
    };
    if reply.is_empty() { Answer::silence() } else { Answer::json(&reply) }
}
