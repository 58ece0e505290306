//! Patterns for the names of tools.

use serde::{Deserialize, Serialize};

use crate::event::McpTool;
use path::pattern::Pattern;

/// A tool's name, with globs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolName(pub String);

impl ToolName {
    /// Whether it is one name and no pattern.
    pub fn is_exact(&self) -> bool {
        !self.0.contains(['*', '?', '[', '{', '\\'])
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        if self.is_exact() { self.0 == name } else { glob_matches(&self.0, name) }
    }
}

/// `server:tool`, either side with globs.
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

/// The patterns of a loaded rule parse: they were checked then.
pub(super) fn glob_matches(glob: &str, name: &str) -> bool {
    glob == name || Pattern::parse(glob).is_ok_and(|pattern| pattern.matches(name))
}
