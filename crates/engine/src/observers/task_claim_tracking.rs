//! `task_claim_tracking`: records which tasks the session has claimed.
//!
//! This behavior observes the task tools of the MCP servers in its options. A call claims a task only if its result
//! reports no failure, and only if the task can be identified: the task is in the result, or a reference in the
//! arguments resolves to a task that was seen. Any other call changes nothing, because a task that is wrongly recorded
//! as claimed could satisfy rules.
//!
//! The variables belong to the session. For Linchpin's own tasks, `linchpin task start` writes the same variables
//! ([`claim_changes`]).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::VariableChanges;
use super::call_result::{CallResult, is_proxied};
use super::seen_tasks::{self, SEEN_TASKS, SeenTasks, Task};
use crate::behavior_names::{CLAIMED_TASKS, SESSION_HAD_TASK, TASK_CLAIMED};
use crate::facts::Missing;
use crate::rules::ToolName;
use crate::situation::Situation;

/// The maximum number of claimed tasks that a session stores. If there are more, the oldest claimed tasks are dropped.
const CLAIMS_LIMIT: usize = 100;

/// The servers and names of task tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTools {
    /// Globs for the names of MCP servers.
    pub servers: Vec<ToolName>,
    pub claim: Vec<ToolName>,
    pub close: Vec<ToolName>,
    /// Tools that create a task, and claim the task only if they are called with `claim: true`.
    pub create: Vec<ToolName>,
    /// Tools that claim or close a task, depending on their argument `status`.
    pub update: Vec<ToolName>,
}

impl Default for TaskTools {
    fn default() -> Self {
        let named = |name: &str| vec![ToolName(name.to_owned())];
        Self {
            servers: Vec::new(),
            claim: named("claim_task"),
            close: named("close_task"),
            create: named("create_task"),
            update: named("update_task"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClaimAction {
    Claim,
    Close,
    /// The call neither claims nor closes a task. Only the tasks in its result are remembered.
    Neither,
}

impl TaskTools {
    pub(super) fn observe(&self, situation: &Situation) -> Result<VariableChanges, Missing> {
        let event = &situation.event;
        let mut changes = VariableChanges::new();
        let Some(call) = event.tool.as_ref().filter(|call| !call.mcp.is_empty()) else { return Ok(changes) };
        // If the call goes through a proxy, the last tool is the tool that the proxy calls.
        let Some(tool) = call.mcp.last().filter(|tool| matches_any(&self.servers, &tool.server)) else {
            return Ok(changes);
        };
        let result = CallResult::of(event).map(CallResult::with_prose);
        let Some(CallResult::Success(result)) = result else { return Ok(changes) };
        let arguments = if is_proxied(call) { proxied_arguments(&call.input) } else { object(&call.input) };
        let action = self.action(&tool.tool, &arguments);
        let stored = situation.facts.variable(SEEN_TASKS)?;
        let mut memory = SeenTasks::of(stored.clone());
        let result_tasks = memory.remember_tasks(&result);
        let seen = memory.to_value();
        if stored.as_ref() != Some(&seen) && !result_tasks.is_empty() {
            changes.insert(SEEN_TASKS.to_owned(), Some(seen));
        }
        if action != ClaimAction::Neither
            && let Some(id) = referenced_task(&arguments, &result_tasks, &memory)
        {
            change_claims(action, id, situation.facts.variable(CLAIMED_TASKS)?, &mut changes);
        }
        Ok(changes)
    }

    fn action(&self, tool: &str, arguments: &Map<String, Value>) -> ClaimAction {
        let status = arguments.get("status").and_then(Value::as_str).unwrap_or_default();
        let claims = arguments.get("claim") == Some(&Value::Bool(true));
        if matches_any(&self.claim, tool) || (claims && matches_any(&self.create, tool)) {
            ClaimAction::Claim
        } else if matches_any(&self.close, tool) {
            ClaimAction::Close
        } else if matches_any(&self.update, tool) {
            match status {
                "in_progress" => ClaimAction::Claim,
                "closed" | "completed" | "done" | "cancelled" => ClaimAction::Close,
                _ => ClaimAction::Neither,
            }
        } else {
            ClaimAction::Neither
        }
    }
}

fn matches_any(names: &[ToolName], name: &str) -> bool {
    names.iter().any(|known| known.matches(name))
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// The arguments that a proxy forwards. Some proxies take the arguments as a JSON string.
fn proxied_arguments(input: &Value) -> Map<String, Value> {
    let arguments = ["arguments", "args", "params", "input"].into_iter().find_map(|key| input.get(key));
    match arguments {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(arguments) => object(arguments),
        None => Map::new(),
    }
}

/// The id of the task that a call refers to; `None` if the task cannot be identified.
fn referenced_task(arguments: &Map<String, Value>, result_tasks: &[Task], memory: &SeenTasks) -> Option<String> {
    let reference = ["task_id", "id", "task", "ref", "reference"]
        .into_iter()
        .find_map(|key| arguments.get(key))
        .and_then(seen_tasks::parse_reference);
    match (reference, result_tasks) {
        // A full id identifies the task without a search among the seen tasks.
        (Some(id), _) if seen_tasks::is_uuid(&id) => Some(id),
        (Some(_), [only]) => Some(only.id.clone()),
        // The result contains no task, or the result contains several tasks, such as a parent task or the next task.
        (Some(reference), _) => memory.resolve(&reference),
        // A call that creates a task has no reference in its arguments.
        (None, [created, ..]) => Some(created.id.clone()),
        (None, []) => None,
    }
}

/// The variable changes after the session claimed one of Linchpin's own tasks (`is_claim` is true) or ended one of
/// these tasks (`is_claim` is false). `claimed` is the current value of [`CLAIMED_TASKS`].
pub fn claim_changes(id: &str, is_claim: bool, claimed: Option<Value>) -> VariableChanges {
    let mut changes = VariableChanges::new();
    let action = if is_claim { ClaimAction::Claim } else { ClaimAction::Close };
    change_claims(action, id.to_owned(), claimed, &mut changes);
    changes
}

fn change_claims(action: ClaimAction, id: String, claimed: Option<Value>, changes: &mut VariableChanges) {
    let mut claimed = match claimed {
        Some(Value::Array(claimed)) => claimed,
        _ => Vec::new(),
    };
    let index = claimed.iter().position(|known| *known == id);
    match (action, index) {
        (ClaimAction::Claim, None) => claimed.push(Value::String(id)),
        (ClaimAction::Close, Some(index)) => {
            claimed.remove(index);
        }
        _ => return,
    }
    let excess = claimed.len().saturating_sub(CLAIMS_LIMIT);
    claimed.drain(..excess);
    changes.insert(TASK_CLAIMED.to_owned(), Some(Value::Bool(!claimed.is_empty())));
    changes.insert(CLAIMED_TASKS.to_owned(), Some(Value::Array(claimed)));
    if action == ClaimAction::Claim {
        changes.insert(SESSION_HAD_TASK.to_owned(), Some(Value::Bool(true)));
    }
}
