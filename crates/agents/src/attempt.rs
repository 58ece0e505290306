//! Builds the event of a call as an agent would make it, for `linchpin try`.

use engine::Event;
use engine::EventKind;
use engine::event::ShellText;
use serde_json::{Value, json};

use crate::Agent;

/// A call that an agent could make.
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
    /// A directory to search; by default the working directory.
    Folder,
    /// Anything: the tool belongs to an MCP server.
    Mcp,
    /// Something else, or the tool is unknown.
    Other,
}

/// Returns the event that the agent's hook would get before the call.
pub fn before_tool(agent: Agent, call: AttemptedCall<'_>, received: i64) -> Event {
    let AttemptedCall { session, cwd, tool, input } = call;
    let payload = json!({ "session_id": session, "cwd": cwd, "tool_name": tool, "tool_input": input }).to_string();
    let events = agent.adapter().events;
    let name = events.iter().find(|(_, kind)| *kind == EventKind::BeforeTool).map(|(name, _)| *name);
    crate::decode(agent, name, payload.as_bytes(), received).unwrap_or_else(|unread| unread.partial)
}

/// Returns the agent's names of its tools that take a file or a directory.
pub fn file_tools(agent: Agent) -> &'static [&'static str] {
    agent.adapter().native_tools.files
}

/// Returns the agent's name of its shell tool.
pub fn shell_tool(agent: Agent) -> &'static str {
    agent.adapter().native_tools.shell
}

/// Returns what the input of a call to this tool contains. `tool`: the agent's name of the tool, or the canonical one.
pub fn subject(agent: Agent, tool: &str) -> ToolSubject {
    let call = AttemptedCall { session: "", cwd: "/", tool, input: &json!({}) };
    let Some(call) = before_tool(agent, call, 0).tool else { return ToolSubject::Other };
    match call.name.as_str() {
        _ if !call.mcp.is_empty() => ToolSubject::Mcp,
        _ if call.shell == Some(ShellText::Missing) => ToolSubject::Command,
        "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookRead" | "NotebookEdit" => ToolSubject::File,
        "Glob" | "Grep" | "LS" => ToolSubject::Folder,
        _ => ToolSubject::Other,
    }
}

/// Returns the input of a call with a path, in the first argument that the tool accepts. `exists`: true if the file
/// exists.
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
