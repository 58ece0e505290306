//! `detect_plan_mode`: detects whether the agent is in plan mode.
//!
//! The mode is detected in four ways, the most reliable first:
//! - A tool that enters or leaves plan mode succeeded.
//! - The agent sends its permission mode. `plan` is plan mode. Another mode ends plan mode only if the agent sent
//!   `plan` before, because some agents send their approval policy in this field, even in plan mode.
//! - The turn that a prompt starts has a mode. Codex does not send this mode, so the adapter adds it from the
//!   transcript.
//! - The agent puts a marker for the model into the prompt. A person's prompt can quote a marker, so a marker counts
//!   only at the position in the prompt where the agent puts its markers.
//!
//! Subagents do not change the session's mode.

use serde_json::Value;

use super::VariableChanges;
use super::call_result::CallResult;
use super::prompt_text::{self, Line};
use crate::behavior_names::PLAN_MODE;
use crate::event::{Event, EventKind};
use crate::facts::Missing;
use crate::situation::Situation;

/// The name of the field in an event's `extra` that contains the mode of the turn. Codex uses this name.
pub const COLLABORATION_MODE: &str = "collaboration_mode";

/// Internal variable: true if plan mode was detected by the permission mode.
const BY_PERMISSION_MODE: &str = "_plan_mode_by_permission_mode";

const ENTERING_TOOLS: [&str; 2] = ["EnterPlanMode", "enter_plan_mode"];
const LEAVING_TOOLS: [&str; 2] = ["ExitPlanMode", "exit_plan_mode"];

pub(super) fn observe(situation: &Situation) -> Result<VariableChanges, Missing> {
    let mut changes = VariableChanges::new();
    let event = &situation.event;
    if event.subagent.is_some() {
        return Ok(changes);
    }
    let is_set = |name: &str| Ok(situation.facts.variable(name)? == Some(Value::Bool(true)));
    let permission_mode = event.extra.get("permission_mode").and_then(Value::as_str);
    let (plan_mode, by_permission_mode) = match (by_tool(event), permission_mode) {
        (Some(entered), mode) => (entered, entered && mode == Some("plan")),
        (None, Some("plan")) => (true, true),
        (None, mode) => match by_turn(event).or_else(|| by_prompt(event, mode.is_some())) {
            Some(entered) => (entered, false),
            None if mode.is_some() && is_set(BY_PERMISSION_MODE)? => (false, false),
            None => return Ok(changes),
        },
    };
    if is_set(PLAN_MODE)? != plan_mode {
        changes.insert(PLAN_MODE.to_owned(), Some(Value::Bool(plan_mode)));
    }
    if is_set(BY_PERMISSION_MODE)? != by_permission_mode {
        changes.insert(BY_PERMISSION_MODE.to_owned(), by_permission_mode.then_some(Value::Bool(true)));
    }
    Ok(changes)
}

/// True if the event reports that a tool entered plan mode, false if a tool left plan mode, otherwise `None`.
fn by_tool(event: &Event) -> Option<bool> {
    let call = event.tool.as_ref()?;
    let entered = if call.names().any(|name| ENTERING_TOOLS.contains(&name)) {
        true
    } else if call.names().any(|name| LEAVING_TOOLS.contains(&name)) {
        false
    } else {
        return None;
    };
    matches!(CallResult::of(event)?, CallResult::Success(_)).then_some(entered)
}

/// True if the turn that the event starts is in plan mode; `None` if the event does not report the mode of the turn.
fn by_turn(event: &Event) -> Option<bool> {
    Some(event.extra.get(COLLABORATION_MODE)?.as_str()? == "plan")
}

/// True if the last marker in the prompt is a marker of plan mode, false if it is a marker of another mode; `None`
/// without a marker.
fn by_prompt(event: &Event, has_permission_mode: bool) -> Option<bool> {
    if event.kind != EventKind::Prompt {
        return None;
    }
    let prompt = event.prompt.as_deref()?;
    prompt_text::unquoted_lines(prompt).iter().filter_map(|line| mode_of_marker(line, has_permission_mode)).next_back()
}

/// True if the line is a marker of plan mode, false if it is a marker of another mode, `None` if the line is no marker.
fn mode_of_marker(line: &Line, has_permission_mode: bool) -> Option<bool> {
    let text = line.text.trim();
    match line.tags.as_slice() {
        // A reminder that Claude Code puts into the prompt. The reminder is ignored if the event has a permission mode,
        // which is more reliable.
        ["system-reminder"] if !has_permission_mode => {
            let starts = |openings: [&str; 3]| openings.iter().any(|opening| text.starts_with(opening));
            if starts(["Plan mode is active", "Plan mode still active", "Plan mode is still active"]) {
                return Some(true);
            }
            starts(["## Exited Plan Mode", "You have exited plan mode", "Exited Plan Mode"]).then_some(false)
        }
        // The instructions that Codex puts into the prompt for the mode that the person chose.
        ["collaboration_mode"] => {
            let mode = text.strip_prefix("# ")?;
            let mode = mode.strip_prefix("Collaboration Mode:").unwrap_or(mode).trim();
            Some(mode == "Plan" || mode.starts_with("Plan Mode"))
        }
        // A heading that Gemini puts into the prompt.
        [] => Some(text.strip_prefix("# Active Approval Mode:")?.trim() == "Plan"),
        _ => None,
    }
}
