//! Names that behaviors and expressions share: the built-in behaviors, the variables that they set, and the variable
//! that stores the answers of external behaviors. A behavior is an observer that is built into Linchpin or is an
//! external program.

use serde_json::Value;

pub const TASK_CLAIM_TRACKING: &str = "task_claim_tracking";
pub const DETECT_PLAN_MODE: &str = "detect_plan_mode";
pub const MCP_CALL_TRACKING: &str = "mcp_call_tracking";
pub const BEHAVIORS: [&str; 3] = [TASK_CLAIM_TRACKING, DETECT_PLAN_MODE, MCP_CALL_TRACKING];

pub const TASK_CLAIMED: &str = "task_claimed";
pub const CLAIMED_TASKS: &str = "claimed_tasks";
pub const SESSION_HAD_TASK: &str = "session_had_task";
pub const PLAN_MODE: &str = "plan_mode";
pub const CALLS: &str = "mcp_calls";
pub const RESULTS: &str = "mcp_results";
pub const FAILURES: &str = "mcp_failures";

/// The key of the object that is stored in place of a result that is too large. The value of the key is the size of the
/// result in bytes.
pub const DROPPED: &str = "_dropped_bytes";

/// The variable that stores the answers of external behaviors to their `conditions`. The keys of its value are the
/// names of the functions that read these answers.
pub const CONDITIONS: &str = "_conditions";

/// The prefix of the names of all functions that read the answer to a condition.
pub const CONDITION_PREFIX: &str = "behavior_";

/// The public variables that a built-in behavior sets.
pub fn variables_of(behavior: &str) -> &'static [&'static str] {
    match behavior {
        TASK_CLAIM_TRACKING => &[TASK_CLAIMED, CLAIMED_TASKS, SESSION_HAD_TASK],
        DETECT_PLAN_MODE => &[PLAN_MODE],
        MCP_CALL_TRACKING => &[CALLS, RESULTS, FAILURES],
        _ => &[],
    }
}

/// The built-in behavior that sets a variable.
pub fn behavior_that_sets(variable: &str) -> Option<&'static str> {
    BEHAVIORS.into_iter().find(|behavior| variables_of(behavior).contains(&variable))
}

/// The size in bytes of the dropped result that a stored value replaces; `None` if the stored value is a result itself.
pub fn dropped_size(result: &Value) -> Option<u64> {
    match result {
        Value::Object(fields) if fields.len() == 1 => fields.get(DROPPED)?.as_u64(),
        _ => None,
    }
}
