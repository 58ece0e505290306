//! The behaviors in the box: what takes more than a match and a value.

use serde::{Deserialize, Serialize};

use super::{Changes, TaskTools, detect_plan_mode, mcp_call_tracking};
use crate::facts::Missing;
use crate::situation::Situation;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Behavior {
    TaskClaimTracking(TaskTools),
    DetectPlanMode,
    McpCallTracking,
}

impl Behavior {
    pub const TASK_CLAIM_TRACKING: &str = "task_claim_tracking";
    pub const DETECT_PLAN_MODE: &str = "detect_plan_mode";
    pub const MCP_CALL_TRACKING: &str = "mcp_call_tracking";
    pub const NAMES: [&str; 3] = [Self::TASK_CLAIM_TRACKING, Self::DETECT_PLAN_MODE, Self::MCP_CALL_TRACKING];

    pub fn name(&self) -> &'static str {
        match self {
            Self::TaskClaimTracking(_) => Self::TASK_CLAIM_TRACKING,
            Self::DetectPlanMode => Self::DETECT_PLAN_MODE,
            Self::McpCallTracking => Self::MCP_CALL_TRACKING,
        }
    }

    /// The variables that it sets for people to use.
    pub fn variables(&self) -> &'static [&'static str] {
        match self {
            Self::TaskClaimTracking(_) => &TaskTools::VARIABLES,
            Self::DetectPlanMode => &[detect_plan_mode::PLAN_MODE],
            Self::McpCallTracking => &mcp_call_tracking::VARIABLES,
        }
    }

    pub fn observe(&self, situation: &Situation) -> Result<Changes, Missing> {
        match self {
            Self::TaskClaimTracking(tools) => tools.observe(situation),
            Self::DetectPlanMode => detect_plan_mode::observe(situation),
            Self::McpCallTracking => mcp_call_tracking::observe(situation),
        }
    }
}

/// The behavior in the box that sets a variable.
pub fn behavior_that_sets(variable: &str) -> Option<&'static str> {
    let all = [Behavior::TaskClaimTracking(TaskTools::default()), Behavior::DetectPlanMode, Behavior::McpCallTracking];
    all.iter().find(|behavior| behavior.variables().contains(&variable)).map(Behavior::name)
}
