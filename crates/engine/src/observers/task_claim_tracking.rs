//! `task_claim_tracking`: which tasks the session has taken on.
//!
//! It watches the task tools of the MCP servers that its options name. A call counts once its result is there and says
//! nothing of a failure, and only for a task that can be told: the one that the result names, else the one of those seen
//! in this session that the reference means. All else changes nothing, because a claim that never was would open doors.
//!
//! The variables belong to the session, which is how a claim links the two. A claim of a task of Linchpin's own is known for
//! sure by the command that makes it (`linchpin task start`), which writes the same variables ([`claim_changes`]).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::VariableChanges;
use super::call_result::{CallResult, is_proxied};
use super::seen_tasks::{self, SEEN_TASKS, SeenTasks, Task};
use crate::behavior_names::{CLAIMED_TASKS, SESSION_HAD_TASK, TASK_CLAIMED};
use crate::facts::Missing;
use crate::rules::ToolName;
use crate::situation::Situation;

/// Claims of one session that are remembered.
const CLAIMS_LIMIT: usize = 100;

/// Whose calls are about tasks, and what their tools are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTools {
    /// Names of MCP servers, with globs.
    pub servers: Vec<ToolName>,
    pub claim: Vec<ToolName>,
    pub close: Vec<ToolName>,
    /// These claim only where they are called with `claim: true`.
    pub create: Vec<ToolName>,
    /// These claim or close by the `status` that they set.
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
enum Deed {
    Claim,
    Close,
    /// Nothing but what its result shows.
    Look,
}

impl TaskTools {
    pub(super) fn observe(&self, situation: &Situation) -> Result<VariableChanges, Missing> {
        let event = &situation.event;
        let mut changes = VariableChanges::new();
        let Some(call) = event.tool.as_ref().filter(|call| !call.mcp.is_empty()) else { return Ok(changes) };
        // The innermost: of a call that is passed on, the tool that does the work.
        let Some(tool) = call.mcp.last().filter(|tool| any(&self.servers, &tool.server)) else { return Ok(changes) };
        let result = CallResult::of(event).map(CallResult::with_prose);
        let Some(CallResult::Given(result)) = result else { return Ok(changes) };
        let arguments = if is_proxied(call) { passed_on(&call.input) } else { object(&call.input) };
        let deed = self.deed(&tool.tool, &arguments);
        let stored = situation.facts.variable(SEEN_TASKS)?;
        let mut memory = SeenTasks::of(stored.clone());
        let shown = memory.learn(&result);
        let seen = memory.to_value();
        if stored.as_ref() != Some(&seen) && !shown.is_empty() {
            changes.insert(SEEN_TASKS.to_owned(), Some(seen));
        }
        if deed != Deed::Look
            && let Some(id) = meant(&arguments, &shown, &memory)
        {
            change_claims(deed, id, situation.facts.variable(CLAIMED_TASKS)?, &mut changes);
        }
        Ok(changes)
    }

    fn deed(&self, tool: &str, arguments: &Map<String, Value>) -> Deed {
        let status = arguments.get("status").and_then(Value::as_str).unwrap_or_default();
        let claims = arguments.get("claim") == Some(&Value::Bool(true));
        if any(&self.claim, tool) || (claims && any(&self.create, tool)) {
            Deed::Claim
        } else if any(&self.close, tool) {
            Deed::Close
        } else if any(&self.update, tool) {
            match status {
                "in_progress" => Deed::Claim,
                "closed" | "completed" | "done" | "cancelled" => Deed::Close,
                _ => Deed::Look,
            }
        } else {
            Deed::Look
        }
    }
}

fn any(names: &[ToolName], name: &str) -> bool {
    names.iter().any(|known| known.matches(name))
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// The arguments that a proxy passes on; some take them as text.
fn passed_on(input: &Value) -> Map<String, Value> {
    let arguments = ["arguments", "args", "params", "input"].into_iter().find_map(|key| input.get(key));
    match arguments {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(arguments) => object(arguments),
        None => Map::new(),
    }
}

/// The one task that a call is about.
fn meant(arguments: &Map<String, Value>, shown: &[Task], memory: &SeenTasks) -> Option<String> {
    let reference = ["task_id", "id", "task", "ref", "reference"]
        .into_iter()
        .find_map(|key| arguments.get(key))
        .and_then(seen_tasks::reference);
    match (reference, shown) {
        // A whole id means itself, whatever the result says besides.
        (Some(id), _) if seen_tasks::is_uuid(&id) => Some(id),
        (Some(_), [only]) => Some(only.id.clone()),
        // The result shows none, or others too (a parent, what is next).
        (Some(reference), _) => memory.resolve(&reference),
        // A task that was just made has no reference yet.
        (None, [made, ..]) => Some(made.id.clone()),
        (None, []) => None,
    }
}

/// What a session remembers once it has taken on (`is_claim`) or ended a task of Linchpin's own. `claimed`: what it remembers
/// under [`CLAIMED_TASKS`].
pub fn claim_changes(id: &str, is_claim: bool, claimed: Option<Value>) -> VariableChanges {
    let mut changes = VariableChanges::new();
    let deed = if is_claim { Deed::Claim } else { Deed::Close };
    change_claims(deed, id.to_owned(), claimed, &mut changes);
    changes
}

fn change_claims(deed: Deed, id: String, claimed: Option<Value>, changes: &mut VariableChanges) {
    let mut claimed = match claimed {
        Some(Value::Array(claimed)) => claimed,
        _ => Vec::new(),
    };
    let place = claimed.iter().position(|known| *known == id);
    match (deed, place) {
        (Deed::Claim, None) => claimed.push(Value::String(id)),
        (Deed::Close, Some(place)) => {
            claimed.remove(place);
        }
        _ => return,
    }
    let excess = claimed.len().saturating_sub(CLAIMS_LIMIT);
    claimed.drain(..excess);
    changes.insert(TASK_CLAIMED.to_owned(), Some(Value::Bool(!claimed.is_empty())));
    changes.insert(CLAIMED_TASKS.to_owned(), Some(Value::Array(claimed)));
    if deed == Deed::Claim {
        changes.insert(SESSION_HAD_TASK.to_owned(), Some(Value::Bool(true)));
    }
}
