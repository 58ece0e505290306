//! Patterns for tool names.

use serde::{Deserialize, Serialize};

use crate::event::McpTool;
use path::pattern::Pattern;

/// A glob for a tool name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolName(pub String);

impl ToolName {
    /// True if the pattern has no glob characters.
    pub fn is_exact(&self) -> bool {
        !self.0.contains(['*', '?', '[', '{', '\\'])
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        if self.is_exact() { self.0 == name } else { glob_matches(&self.0, name) }
    }
}

/// A pattern `server:tool` for MCP tools. Both parts are globs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpPattern {
    pub server: String,
    pub tool: String,
}

impl McpPattern {
    pub(crate) fn matches(&self, tool: &McpTool) -> bool {
        glob_matches(&self.server, &tool.server) && glob_matches(&self.tool, &tool.tool)
    }
}

/// True if the name matches the glob. The glob was checked when the rule was loaded.
pub(super) fn glob_matches(glob: &str, name: &str) -> bool {
    glob == name || Pattern::parse(glob).is_ok_and(|pattern| pattern.matches(name))
}
