//! Built-in behaviors: observers that are part of Linchpin's code, because `match` and `set` cannot express them.

use serde::{Deserialize, Serialize};

use super::{TaskTools, VariableChanges, detect_plan_mode, mcp_call_tracking};
use crate::behavior_names::{DETECT_PLAN_MODE, MCP_CALL_TRACKING, TASK_CLAIM_TRACKING, variables_of};
use crate::facts::Missing;
use crate::situation::Situation;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuiltinBehavior {
    TaskClaimTracking(TaskTools),
    DetectPlanMode,
    McpCallTracking,
}

impl BuiltinBehavior {
    pub fn name(&self) -> &'static str {
        match self {
            Self::TaskClaimTracking(_) => TASK_CLAIM_TRACKING,
            Self::DetectPlanMode => DETECT_PLAN_MODE,
            Self::McpCallTracking => MCP_CALL_TRACKING,
        }
    }

    /// The public variables that the behavior sets.
    pub fn variables(&self) -> &'static [&'static str] {
        variables_of(self.name())
    }

    pub fn observe(&self, situation: &Situation) -> Result<VariableChanges, Missing> {
        match self {
            Self::TaskClaimTracking(tools) => tools.observe(situation),
            Self::DetectPlanMode => detect_plan_mode::observe(situation),
            Self::McpCallTracking => mcp_call_tracking::observe(situation),
        }
    }
}
