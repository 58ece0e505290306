//! What a call of one of the canonical tools touches: its shell text, its files, its MCP tools.
//!
//! The canonical tools are Claude Code's. Agents translate their own names first and then ask here.

use engine::event::{FileAccess, ShellText, ToolCall};
use path::Access;
use serde_json::Value;

use super::decode::{RawCall, rename};
use super::shell_text::shell_text;
use super::{mcp, paths};

/// A call under the name that it has.
pub(crate) fn canonical(call: RawCall<'_>) -> ToolCall {
    named(&call.name, call.input, call.cwd)
}

/// A call of the canonical tool `name`, with what its input says.
fn named(name: &str, input: Value, cwd: &str) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        shell: shell(name, &input),
        files: files(name, &input, cwd),
        mcp: mcp::tools(name, &input),
        aliases: aliases(name),
        input,
        ..ToolCall::default()
    }
}

/// What `Bash` may do, Claude Code itself lets a monitor do, and nothing else.
fn aliases(name: &str) -> Vec<String> {
    if name == MONITOR { vec!["Bash".to_owned()] } else { Vec::new() }
}

/// The same under another canonical name; the agent's own name stays findable.
pub(crate) fn renamed(call: RawCall<'_>, name: &str) -> ToolCall {
    let mut renamed = named(name, call.input, call.cwd);
    if call.name != name {
        renamed.aliases.push(call.name);
    }
    renamed
}

/// The same for an agent that has its own names for the arguments too: they get those of the canonical tool.
pub(crate) fn translated(mut call: RawCall<'_>, name: &str, arguments: &[(&str, &str)]) -> ToolCall {
    if let Value::Object(fields) = &mut call.input {
        rename(fields, arguments);
    }
    renamed(call, name)
}

/// Text for a program that already runs, which may be a shell; without any, nothing is typed.
pub(crate) fn typed(call: RawCall<'_>, argument: &str) -> ToolCall {
    if call.input.get(argument).is_none() {
        return canonical(call);
    }
    translated(call, "Bash", &[(argument, "command")])
}

/// The call, of a tool that deletes the files it names.
pub(crate) fn deleting(mut call: ToolCall) -> ToolCall {
    for file in &mut call.files {
        file.access = Some(Access::Delete);
    }
    call
}

/// A call of a tool that may be an MCP server's. Of those, agents write `joined`: the server's name and the tool's with a
/// separator between them, which either may have in itself. Where they part is not said, so the call is found under each
/// way to part them. A name that says where (`mcp__…`) is taken at its word.
pub(crate) fn parted(call: RawCall<'_>, joined: &str, separators: &[char]) -> ToolCall {
    let partings = joined.match_indices(separators).filter_map(|(at, separator)| {
        let (server, tool) = (joined.get(..at)?, joined.get(at + separator.len()..)?);
        (!server.is_empty() && !tool.is_empty()).then(|| format!("mcp__{server}__{tool}"))
    });
    let mut names = partings.take(PARTINGS_LIMIT);
    let Some(first) = names.next().filter(|_| !call.name.starts_with("mcp__")) else {
        return canonical(call);
    };
    let mut tool = renamed(call, &first);
    for other in names {
        tool.mcp.extend(mcp::tools(&other, &tool.input));
        tool.aliases.push(other);
    }
    tool
}

/// No server and tool have names of more words.
const PARTINGS_LIMIT: usize = 16;

fn shell(name: &str, input: &Value) -> Option<ShellText> {
    match name {
        "Bash" | "PowerShell" => Some(shell_text(input.get("command"))),
        // It watches what a command prints, or something that is no command.
        MONITOR => input.get("command").map(|command| shell_text(Some(command))),
        _ => mcp::shell(name, input),
    }
}

const MONITOR: &str = "Monitor";

fn files(tool: &str, input: &Value, cwd: &str) -> Vec<FileAccess> {
    let (keys, access): (&[&str], Access) = match tool {
        "Read" => (&["file_path", "path"], Access::Read),
        "NotebookRead" => (&["notebook_path"], Access::Read),
        "Glob" | "Grep" | "LS" => (&["path", "paths"], Access::Read),
        "Write" | "Edit" | "MultiEdit" => (&["file_path", "path"], Access::Write),
        "NotebookEdit" => (&["notebook_path"], Access::Write),
        _ => return mcp::files(tool, input, cwd),
    };
    let named: Vec<String> =
        keys.iter().flat_map(|key| texts(input.get(key))).flat_map(|path| paths::readings(cwd, path)).collect();
    let mut files: Vec<FileAccess> = named.iter().map(|path| FileAccess::new(path.clone(), access)).collect();
    if tool == "Grep" {
        let folder = named.first().map_or(cwd, String::as_str);
        let globs = texts(input.get("glob")).flat_map(search_globs);
        files.extend(globs.filter_map(|glob| searched_files(folder, glob)));
    }
    files
}

/// A text, or those of a list.
fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let one = value.and_then(Value::as_str);
    one.into_iter().chain(value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str))
}

/// Claude Code takes several, with spaces between them, or commas where there are no braces.
fn search_globs(globs: &str) -> impl Iterator<Item = &str> {
    let words = globs.split_whitespace();
    let parts = words.flat_map(|glob| glob.split(move |letter| letter == ',' && !glob.contains('{')));
    parts.filter(|glob| !glob.is_empty())
}

/// What a search looks into that is told a glob, as ripgrep reads it: without a slash it means any depth. One that says
/// nothing of the files' names (`src/**`) means a folder, and a folder is not the files in it.
fn searched_files(folder: &str, glob: &str) -> Option<FileAccess> {
    let name = glob.rsplit('/').next().unwrap_or(glob);
    if glob.starts_with('!') || name.chars().all(|letter| letter == '*') {
        return None;
    }
    let depth = if glob.trim_start_matches("./").contains('/') { "" } else { "**/" };
    let path = paths::absolute(folder, &format!("{depth}{}", glob.trim_start_matches('/')));
    Some(FileAccess { is_pattern: true, ..FileAccess::new(path, Access::Read) })
}

/// Whether a tool's response says in so many words that it failed.
pub(crate) fn says_failed(output: &Value) -> bool {
    ["is_error", "isError", "interrupted"].into_iter().any(|key| output.get(key) == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests;
