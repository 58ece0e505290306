//! Shell script, files and MCP tools of a call of a canonical tool.
//!
//! The canonical tools are Claude Code's. Adapters of other agents rename their tools and arguments with the functions
//! here.

use engine::event::{FileAccess, ShellText, ToolCall};
use path::Access;
use serde_json::Value;

use super::decode::{RawCall, rename};
use super::shell_text::shell_text;
use super::{mcp, paths};

/// Converts a call whose tool name is canonical or unknown.
pub(crate) fn canonical(call: RawCall<'_>) -> ToolCall {
    tool_call(&call.name, call.input, call.cwd)
}

fn tool_call(name: &str, input: Value, cwd: &str) -> ToolCall {
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

/// Rules about `Bash` apply to `Monitor` too: Claude Code itself applies the permissions of `Bash` to it.
fn aliases(name: &str) -> Vec<String> {
    if name == MONITOR { vec!["Bash".to_owned()] } else { Vec::new() }
}

/// Converts a call to the canonical tool `name`. The agent's name is kept as an alias.
pub(crate) fn renamed(call: RawCall<'_>, name: &str) -> ToolCall {
    let mut renamed = tool_call(name, call.input, call.cwd);
    if call.name != name {
        renamed.aliases.push(call.name);
    }
    renamed
}

/// Like [`renamed`], and renames the arguments to those of the canonical tool.
pub(crate) fn translated(mut call: RawCall<'_>, name: &str, arguments: &[(&str, &str)]) -> ToolCall {
    if let Value::Object(fields) = &mut call.input {
        rename(fields, arguments);
    }
    renamed(call, name)
}

/// Converts input for a running program to a `Bash` call, because the program may be a shell. Without input, nothing is
/// run.
pub(crate) fn terminal_input(call: RawCall<'_>, argument: &str) -> ToolCall {
    if call.input.get(argument).is_none() {
        return canonical(call);
    }
    translated(call, "Bash", &[(argument, "command")])
}

/// Marks the files of a call as deleted.
pub(crate) fn as_deletion(mut call: ToolCall) -> ToolCall {
    for file in &mut call.files {
        file.access = Some(Access::Delete);
    }
    call
}

/// Converts a call that may be of an MCP tool. Some agents join the names of server and tool by a separator that may
/// also occur within either name. As the right split is unknown, rules find the call under every possible split. A name
/// with an unambiguous split (`mcp__…`) is used directly.
pub(crate) fn possibly_mcp(call: RawCall<'_>, joined: &str, separators: &[char]) -> ToolCall {
    let splits = joined.match_indices(separators).filter_map(|(at, separator)| {
        let (server, tool) = (joined.get(..at)?, joined.get(at + separator.len()..)?);
        (!server.is_empty() && !tool.is_empty()).then(|| format!("mcp__{server}__{tool}"))
    });
    let mut names = splits.take(SPLIT_LIMIT);
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

/// The maximum number of splits to try.
const SPLIT_LIMIT: usize = 16;

fn shell(name: &str, input: &Value) -> Option<ShellText> {
    match name {
        "Bash" | "PowerShell" => Some(shell_text(input.get("command"))),
        // Monitors the output of a command, or something that is not a command.
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
    let file_paths: Vec<String> =
        keys.iter().flat_map(|key| texts(input.get(key))).flat_map(|path| paths::interpretations(cwd, path)).collect();
    let mut files: Vec<FileAccess> = file_paths.iter().map(|path| FileAccess::new(path.clone(), access)).collect();
    if tool == "Grep" {
        let folder = file_paths.first().map_or(cwd, String::as_str);
        let globs = texts(input.get("glob")).flat_map(search_globs);
        files.extend(globs.filter_map(|glob| searched_files(folder, glob)));
    }
    files
}

/// Returns a string, or the strings of a list.
fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let one = value.and_then(Value::as_str);
    one.into_iter().chain(value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str))
}

/// Splits a list of globs as Claude Code does: at spaces, and at commas unless the glob contains braces.
fn search_globs(globs: &str) -> impl Iterator<Item = &str> {
    let words = globs.split_whitespace();
    let parts = words.flat_map(|glob| glob.split(move |letter| letter == ',' && !glob.contains('{')));
    parts.filter(|glob| !glob.is_empty())
}

/// Returns the files that a search with a glob reads. As in ripgrep, a glob without a slash matches at any depth. None
/// for a glob that does not restrict file names (`src/**`): it means a directory, and reading a directory is not
/// reading the files in it.
fn searched_files(folder: &str, glob: &str) -> Option<FileAccess> {
    let name = glob.rsplit('/').next().unwrap_or(glob);
    if glob.starts_with('!') || name.chars().all(|letter| letter == '*') {
        return None;
    }
    let depth = if glob.trim_start_matches("./").contains('/') { "" } else { "**/" };
    let path = paths::absolute(folder, &format!("{depth}{}", glob.trim_start_matches('/')));
    Some(FileAccess { is_pattern: true, ..FileAccess::new(path, Access::Read) })
}

/// True if a tool's response has an error flag that is set.
pub(crate) fn says_failed(output: &Value) -> bool {
    ["is_error", "isError", "interrupted"].into_iter().any(|key| output.get(key) == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests;
