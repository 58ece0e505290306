//! Names of tools and MCP tools, with globs.

use engine::rules::McpPattern;
use engine::suggest;

use super::pattern::check_name_pattern;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};

/// The common tool names that adapters map agents' tools to. Agents may have other tools, but a name that is almost one
/// of these is probably a typo.
pub const COMMON_TOOLS: &[&str] = &[
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "PowerShell",
    "Read",
    "Task",
    "WebFetch",
    "WebSearch",
    "Write",
];

pub fn check_tool_name(text: &SpannedText, fields: &mut Fields) -> bool {
    let is_valid = check_name_pattern(text, fields);
    if is_valid {
        warn_of_likely_typo(text, fields);
    }
    is_valid
}

fn warn_of_likely_typo(text: &SpannedText, fields: &mut Fields) {
    let name = text.value.as_str();
    if COMMON_TOOLS.contains(&name) {
        return;
    }
    if let Some(close) = suggest::closest(name, COMMON_TOOLS.iter().copied()) {
        fields.problems.push(
            Diagnostic::warning(
                DiagnosticKind::InvalidValue,
                format!("no known agent has a tool `{name}`"),
                fields.source(),
                Some(text.span.clone()),
            )
            .help(suggest::did_you_mean(close)),
        );
    }
}

pub fn parse_mcp_pattern(text: &SpannedText, fields: &mut Fields) -> Option<McpPattern> {
    let Some((server, tool)) =
        text.value.split_once(':').filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
    else {
        fields.problems.push(
            Diagnostic::error(
                DiagnosticKind::InvalidValue,
                format!("invalid MCP tool `{}`", text.value),
                fields.source(),
                Some(text.span.clone()),
            )
            .help("write `server:tool`; either side may be `*`, as in `github:*`"),
        );
        return None;
    };
    let part = |value: &str| SpannedText { value: value.to_owned(), span: text.span.clone() };
    let is_valid = check_tool_name(&part(server), fields) && check_tool_name(&part(tool), fields);
    is_valid.then(|| McpPattern { server: server.to_owned(), tool: tool.to_owned() })
}
