//! Names that behaviors and expressions share: the behaviors in the box, the variables that they set, and where the
//! answers of behaviors from outside are kept.

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

/// Stands for a result that was too large to keep; its value is the size in bytes.
pub const DROPPED: &str = "_dropped_bytes";

/// The variable that keeps what behaviors answered under `conditions`, by the name of the function that reads it.
pub const CONDITIONS: &str = "_conditions";

/// The names of all functions that read a condition begin with this.
pub const CONDITION_PREFIX: &str = "behavior_";

/// The variables that a behavior in the box sets for people to use.
pub fn variables_of(behavior: &str) -> &'static [&'static str] {
    match behavior {
        TASK_CLAIM_TRACKING => &[TASK_CLAIMED, CLAIMED_TASKS, SESSION_HAD_TASK],
        DETECT_PLAN_MODE => &[PLAN_MODE],
        MCP_CALL_TRACKING => &[CALLS, RESULTS, FAILURES],
        _ => &[],
    }
}

/// The behavior in the box that sets a variable.
pub fn behavior_that_sets(variable: &str) -> Option<&'static str> {
    BEHAVIORS.into_iter().find(|behavior| variables_of(behavior).contains(&variable))
}

/// How large a result was that is not kept; none where this is a result.
pub fn dropped_size(result: &Value) -> Option<u64> {
    match result {
        Value::Object(fields) if fields.len() == 1 => fields.get(DROPPED)?.as_u64(),
        _ => None,
    }
}
