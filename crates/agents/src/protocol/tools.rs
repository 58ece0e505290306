//! What a call of one of the canonical tools touches: its shell text, its files, its MCP tools.
//!
//! The canonical tools are Claude Code's. Agents translate their own names first and then ask here.

use engine::event::{Access, FileAccess, McpTool, ShellText, ToolCall};
use serde_json::Value;

use super::paths;

/// A call of the canonical tool `name`, with what its input says.
pub(crate) fn canonical(name: &str, input: Value, cwd: &str) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        shell: is_shell(name).then(|| shell_text(&input)),
        files: files(name, &input, cwd),
        mcp: mcp_tools(name, &input),
        input,
        ..ToolCall::default()
    }
}

/// The same under another canonical name; the agent's own name stays findable.
pub(crate) fn renamed(own_name: String, name: &str, input: Value, cwd: &str) -> ToolCall {
    let mut call = canonical(name, input, cwd);
    call.aliases.push(own_name);
    call
}

fn is_shell(name: &str) -> bool {
    matches!(name, "Bash" | "PowerShell")
}

/// The text that a shell would be given. An argument vector is written as the text that means the same.
fn shell_text(input: &Value) -> ShellText {
    match input.get("command") {
        Some(Value::String(text)) => ShellText::Command(text.clone()),
        Some(Value::Array(words)) if !words.is_empty() => words
            .iter()
            .map(|word| word.as_str().map(shell_quoted))
            .collect::<Option<Vec<_>>>()
            .map_or(ShellText::Missing, |words| ShellText::Command(words.join(" "))),
        _ => ShellText::Missing,
    }
}

/// The word as a POSIX shell reads it back.
pub(crate) fn shell_quoted(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "_@%+=:,./-".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn files(tool: &str, input: &Value, cwd: &str) -> Vec<FileAccess> {
    let (keys, access): (&[&str], Access) = match tool {
        "Read" => (&["file_path", "path"], Access::Read),
        "NotebookRead" => (&["notebook_path"], Access::Read),
        "Glob" | "Grep" | "LS" => (&["path"], Access::Read),
        "Write" | "Edit" | "MultiEdit" => (&["file_path", "path"], Access::Write),
        "NotebookEdit" => (&["notebook_path"], Access::Write),
        _ => return Vec::new(),
    };
    let named = keys.iter().find_map(|key| input.get(key)?.as_str());
    let mut files: Vec<FileAccess> =
        named.iter().map(|path| FileAccess { path: paths::absolute(cwd, path), access }).collect();
    // A search in the files of one name reads those, wherever it looks.
    if let (Some(name), "Grep") = (input.get("glob").and_then(Value::as_str), tool) {
        let folder = named.map_or_else(|| cwd.to_owned(), |folder| paths::absolute(cwd, folder));
        files.push(FileAccess { path: paths::absolute(&folder, name), access });
    }
    files
}

/// `mcp__server__tool`, and the tool behind it where it only passes calls on.
fn mcp_tools(name: &str, input: &Value) -> Vec<McpTool> {
    let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
        return Vec::new();
    };
    let mut tools = vec![McpTool { server: server.to_owned(), tool: tool.to_owned() }];
    if tool == "call_tool" {
        let text = |keys: [&str; 2]| keys.into_iter().find_map(|key| input.get(key)?.as_str());
        if let (Some(server), Some(tool)) = (text(["server_name", "server"]), text(["tool_name", "tool"])) {
            tools.push(McpTool { server: server.to_owned(), tool: tool.to_owned() });
        }
    }
    tools
}

/// Whether a tool's response says in so many words that it failed.
pub(crate) fn says_failed(output: &Value) -> bool {
    ["is_error", "isError", "interrupted"].into_iter().any(|key| output.get(key) == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests;
