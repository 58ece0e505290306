//! `detect_plan_mode`: whether the agent is only planning.
//!
//! Four signs tell, the surest first:
//! - a tool that enters or leaves plan mode and succeeded;
//! - the permission mode that the agent sends along. `plan` says yes. Another mode says no only where `plan` was sent
//!   before: some agents send their approval policy under this name, and plan all the same;
//! - the mode of the turn that a prompt begins, where the agent has one. Codex does not send it; whoever reads the event
//!   adds it from the transcript;
//! - a marker that the agent puts into the prompt. Agents write those for their model, so only one that stands where the
//!   agent itself would have put it counts, not one that is quoted.
//!
//! What a subagent does is not the session's mode.

use serde_json::Value;

use super::VariableChanges;
use super::call_result::CallResult;
use super::prompt_text::{self, Line};
use crate::behavior_names::PLAN_MODE;
use crate::event::{Event, EventKind};
use crate::facts::Missing;
use crate::situation::Situation;

/// The field of an event's `extra` that holds the mode of its turn, named as Codex names it.
pub const COLLABORATION_MODE: &str = "collaboration_mode";

/// Whether the agent's permission mode was what said so.
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

/// Whether a tool has just entered plan mode, or left it.
fn by_tool(event: &Event) -> Option<bool> {
    let call = event.tool.as_ref()?;
    let entered = if call.names().any(|name| ENTERING_TOOLS.contains(&name)) {
        true
    } else if call.names().any(|name| LEAVING_TOOLS.contains(&name)) {
        false
    } else {
        return None;
    };
    matches!(CallResult::of(event)?, CallResult::Given(_)).then_some(entered)
}

/// Whether the turn that begins is for planning.
fn by_turn(event: &Event) -> Option<bool> {
    Some(event.extra.get(COLLABORATION_MODE)?.as_str()? == "plan")
}

/// What the last marker in the prompt says.
fn by_prompt(event: &Event, has_mode: bool) -> Option<bool> {
    if event.kind != EventKind::Prompt {
        return None;
    }
    let prompt = event.prompt.as_deref()?;
    prompt_text::own_lines(prompt).iter().filter_map(|line| marker(line, has_mode)).next_back()
}

fn marker(line: &Line, has_mode: bool) -> Option<bool> {
    let text = line.text.trim();
    match line.tags.as_slice() {
        // Claude Code's reminders. It also sends its mode, and where it does, that is the better sign.
        ["system-reminder"] if !has_mode => {
            let starts = |openings: [&str; 3]| openings.iter().any(|opening| text.starts_with(opening));
            if starts(["Plan mode is active", "Plan mode still active", "Plan mode is still active"]) {
                return Some(true);
            }
            starts(["## Exited Plan Mode", "You have exited plan mode", "Exited Plan Mode"]).then_some(false)
        }
        // Codex's instructions for the mode that the person chose.
        ["collaboration_mode"] => {
            let mode = text.strip_prefix("# ")?;
            let mode = mode.strip_prefix("Collaboration Mode:").unwrap_or(mode).trim();
            Some(mode == "Plan" || mode.starts_with("Plan Mode"))
        }
        // Gemini's, which are a heading.
        [] => Some(text.strip_prefix("# Active Approval Mode:")?.trim() == "Plan"),
        _ => None,
    }
}
