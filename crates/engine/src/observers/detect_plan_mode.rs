//! `detect_plan_mode`: detects whether the agent is in plan mode.
//!
//! There are four signs, most reliable first:
//! - a tool that enters or leaves plan mode succeeded;
//! - the permission mode that the agent sends. `plan` means plan mode. Other modes mean the opposite only if `plan` was
//!   sent before: some agents send their approval policy in this field, also while planning;
//! - the mode of the turn that a prompt starts, if the agent has one. Codex does not send it; the adapter adds it from
//!   the transcript;
//! - a marker that the agent puts into the prompt. Markers are written for the model, and a prompt can quote one, so a
//!   marker counts only at the place where the agent puts it.
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

/// The field of an event's `extra` with the mode of its turn, as Codex names it.
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
    let is = |name: &str| Ok(situation.facts.variable(name)? == Some(Value::Bool(true)));
    let permission_mode = event.extra.get("permission_mode").and_then(Value::as_str);
    let (plan_mode, by_mode) = match (by_tool(event), permission_mode) {
        (Some(entered), mode) => (entered, entered && mode == Some("plan")),
        (None, Some("plan")) => (true, true),
        (None, mode) => match by_turn(event).or_else(|| by_prompt(event, mode.is_some())) {
            Some(entered) => (entered, false),
            None if mode.is_some() && is(BY_PERMISSION_MODE)? => (false, false),
            None => return Ok(changes),
        },
    };
    if is(PLAN_MODE)? != plan_mode {
        changes.insert(PLAN_MODE.to_owned(), Some(Value::Bool(plan_mode)));
    }
    if is(BY_PERMISSION_MODE)? != by_mode {
        changes.insert(BY_PERMISSION_MODE.to_owned(), by_mode.then_some(Value::Bool(true)));
    }
    Ok(changes)
}

/// True if a tool entered plan mode, false if it left plan mode.
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

/// True if the turn that starts is in plan mode.
fn by_turn(event: &Event) -> Option<bool> {
    Some(event.extra.get(COLLABORATION_MODE)?.as_str()? == "plan")
}

/// The mode of the last marker in the prompt.
fn by_prompt(event: &Event, has_mode: bool) -> Option<bool> {
    if event.kind != EventKind::Prompt {
        return None;
    }
    let prompt = event.prompt.as_deref()?;
    prompt_text::unquoted_lines(prompt).iter().filter_map(|line| marker(line, has_mode)).next_back()
}

fn marker(line: &Line, has_mode: bool) -> Option<bool> {
    let text = line.text.trim();
    match line.tags.as_slice() {
        // Reminders of Claude Code. It also sends its permission mode, which is more reliable.
        ["system-reminder"] if !has_mode => {
            let starts = |openings: [&str; 3]| openings.iter().any(|opening| text.starts_with(opening));
            if starts(["Plan mode is active", "Plan mode still active", "Plan mode is still active"]) {
                return Some(true);
            }
            starts(["## Exited Plan Mode", "You have exited plan mode", "Exited Plan Mode"]).then_some(false)
        }
        // Instructions of Codex for the mode that the person chose.
        ["collaboration_mode"] => {
            let mode = text.strip_prefix("# ")?;
            let mode = mode.strip_prefix("Collaboration Mode:").unwrap_or(mode).trim();
            Some(mode == "Plan" || mode.starts_with("Plan Mode"))
        }
        // A heading of Gemini.
        [] => Some(text.strip_prefix("# Active Approval Mode:")?.trim() == "Plan"),
        _ => None,
    }
}
