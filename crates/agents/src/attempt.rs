//! Builds the event that an agent would report for a tool call, for `linchpin try`.

use engine::Event;
use engine::EventKind;
use engine::event::ShellText;
use serde_json::{Value, json};

use crate::Agent;

/// A tool call that an agent could make.
#[derive(Debug, Clone, Copy)]
pub struct AttemptedCall<'a> {
    pub session: &'a str,
    pub cwd: &'a str,
    pub tool: &'a str,
    pub input: &'a Value,
}

/// What the input of a tool call contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSubject {
    Command,
    File,
    /// The path of the directory to search or list. A call without a path means the working directory.
    Directory,
    /// The tool belongs to an MCP server, so the input can contain anything.
    Mcp,
    /// Something else, or the tool is unknown.
    Other,
}

/// Returns the event that the agent's hook would get before the call. If the call cannot be decoded, some fields of the
/// event are missing.
pub fn before_tool(agent: Agent, call: AttemptedCall<'_>, received: i64) -> Event {
    let AttemptedCall { session, cwd, tool, input } = call;
    let payload = json!({ "session_id": session, "cwd": cwd, "tool_name": tool, "tool_input": input }).to_string();
    let events = agent.adapter().events;
    let name = events.iter().find(|(_, kind)| *kind == EventKind::BeforeTool).map(|(name, _)| *name);
    crate::decode(agent, name, payload.as_bytes(), received).unwrap_or_else(|undecodable| undecodable.partial)
}

/// Returns the agent's own names of the tools that have a path of a file or a directory as an argument.
pub fn file_tools(agent: Agent) -> &'static [&'static str] {
    agent.adapter().native_tools.files
}

/// Returns the agent's name of its shell tool.
pub fn shell_tool(agent: Agent) -> &'static str {
    agent.adapter().native_tools.shell
}

/// Returns what the input of a call to this tool contains. `tool`: the agent's name of the tool, or the canonical name.
pub fn subject(agent: Agent, tool: &str) -> ToolSubject {
    let call = AttemptedCall { session: "", cwd: "/", tool, input: &json!({}) };
    let Some(call) = before_tool(agent, call, 0).tool else { return ToolSubject::Other };
    match call.name.as_str() {
        _ if !call.mcp.is_empty() => ToolSubject::Mcp,
        _ if call.shell == Some(ShellText::Missing) => ToolSubject::Command,
        "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookRead" | "NotebookEdit" => ToolSubject::File,
        "Glob" | "Grep" | "LS" => ToolSubject::Directory,
        _ => ToolSubject::Other,
    }
}

/// Returns an input that contains `path` as the path of a file or directory, for a call of `tool`. For a tool that
/// applies patches, the input is a patch: it updates the file if `exists` is true, and adds the file otherwise.
pub fn input_with_path(agent: Agent, tool: &str, path: &str, exists: bool) -> Value {
    let verb = if exists { "Update" } else { "Add" };
    let file_patch = format!("*** Begin Patch\n*** {verb} File: {path}\n*** End Patch\n");
    let names_a_file = |input: &Value| {
        let call = AttemptedCall { session: "", cwd: "/", tool, input };
        before_tool(agent, call, 0).tool.is_some_and(|tool| !tool.files.is_empty())
    };
    let inputs = [
        json!({ "file_path": path }),
        json!({ "notebook_path": path }),
        json!({ "paths": [path] }),
        json!({ "command": file_patch }),
    ];
    let own = inputs.into_iter().find(|input| subject(agent, tool) == ToolSubject::File && names_a_file(input));
    own.unwrap_or_else(|| json!({ "path": path }))
}
