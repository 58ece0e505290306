//! Declared observers. A declared observer sets the variables under `set` at the events under `on` that meet the
//! conditions under `match`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::call_result::CallResult;
use super::{SetValue, VariableChanges, evaluate_set};
use crate::bounded_regex::RegexError;
use crate::event::{CallOutcome, Event, EventKinds};
use crate::rules::{CommandRegex, CommandScope, McpPattern, PathClause, PathKey, PathPattern, ToolName, Truth};
use crate::situation::Situation;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredObserver {
    pub on: EventKinds,
    pub matching: ObserverMatch,
    pub set: Vec<(String, SetValue)>,
}

/// The conditions on an event. Every key that is present must match. A key with a list matches if one of its items
/// matches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObserverMatch {
    pub tools: Vec<ToolName>,
    /// All pairs of `mcp_server` and `mcp_tool`, because both must match the same tool.
    pub mcp: Vec<McpPattern>,
    pub commands: Vec<CommandRegex>,
    pub paths: Vec<PathPattern>,
    pub outcome: Option<CallOutcome>,
}

impl DeclaredObserver {
    /// The variable changes of an event: all of `set`, or nothing if the event does not match or a value fails.
    pub fn observe(&self, situation: &Arc<Situation>) -> Result<VariableChanges, String> {
        if !self.on.contains(situation.event.kind)
            || !self.matching.matches(situation).map_err(|error| error.message)?
        {
            return Ok(VariableChanges::new());
        }
        evaluate_set(&self.set, situation)
    }
}

impl ObserverMatch {
    /// True if the event meets all conditions. A condition whose truth is unknown is not met.
    fn matches(&self, situation: &Situation) -> Result<bool, RegexError> {
        if self.outcome.is_some_and(|wanted| outcome(&situation.event) != Some(wanted)) {
            return Ok(false);
        }
        if self.tools.is_empty() && self.mcp.is_empty() && self.commands.is_empty() && self.paths.is_empty() {
            return Ok(true);
        }
        let Some(call) = &situation.event.tool else { return Ok(false) };
        let named = self.tools.is_empty() || self.tools.iter().any(|tool| call.names().any(|name| tool.matches(name)));
        let reached = self.mcp.is_empty() || self.mcp.iter().any(|mcp| call.mcp.iter().any(|tool| mcp.matches(tool)));
        Ok(named && reached && self.matches_commands(situation)? && self.matches_paths(situation))
    }

    fn matches_commands(&self, situation: &Situation) -> Result<bool, RegexError> {
        for regex in &self.commands {
            if regex.truths(situation, CommandScope::CommandsAndWrappers)?.contains(&Truth::True) {
                return Ok(true);
            }
        }
        Ok(self.commands.is_empty())
    }

    fn matches_paths(&self, situation: &Situation) -> bool {
        let clause = || PathClause { key: PathKey::Paths, patterns: self.paths.clone(), except: Vec::new() };
        self.paths.is_empty() || clause().judge(situation, &[]).truth == Truth::True
    }
}

/// The outcome of the call. If the successful response of an MCP server reports a failure, the call counts as failed.
fn outcome(event: &Event) -> Option<CallOutcome> {
    let is_mcp = event.tool.as_ref().is_some_and(|call| !call.mcp.is_empty());
    match event.outcome {
        Some(CallOutcome::Ok) if is_mcp && CallResult::of(event) == Some(CallResult::Failed) => {
            Some(CallOutcome::Failed)
        }
        outcome => outcome,
    }
}
