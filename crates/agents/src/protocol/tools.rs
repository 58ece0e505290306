//! Extracts the shell script, the files and the MCP tools from a call of a canonical tool.
//!
//! The canonical tools are Claude Code's. The adapters of other agents use the functions here to rename tools and
//! arguments to the canonical ones.

use engine::event::{FileAccess, ShellText, ToolCall};
use path::Access;
use serde_json::Value;

use super::decode::RawCall;
use super::payload_fields::rename_fields;
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

/// Returns the other names under which rules find the tool. Rules about `Bash` apply to `Monitor` too, because Claude
/// Code itself applies the permissions of `Bash` to `Monitor`.
fn aliases(name: &str) -> Vec<String> {
    if name == MONITOR { vec!["Bash".to_owned()] } else { Vec::new() }
}

/// Converts a call of an agent's tool to a call of the canonical tool `name`. The agent's name is kept as an alias.
pub(crate) fn renamed(call: RawCall<'_>, name: &str) -> ToolCall {
    let mut renamed = tool_call(name, call.input, call.cwd);
    if call.name != name {
        renamed.aliases.push(call.name);
    }
    renamed
}

/// Like [`renamed`], but also renames the arguments to those of the canonical tool.
pub(crate) fn translated(mut call: RawCall<'_>, name: &str, arguments: &[(&str, &str)]) -> ToolCall {
    if let Value::Object(fields) = &mut call.input {
        rename_fields(fields, arguments);
    }
    renamed(call, name)
}

/// Converts a call of a tool that types text into a running program. The call becomes a call of `Bash`, because the
/// program may be a shell. `argument`: the name of the argument that contains the text. A call without this argument
/// runs nothing and is not converted.
pub(crate) fn terminal_input(call: RawCall<'_>, argument: &str) -> ToolCall {
    if call.input.get(argument).is_none() {
        return canonical(call);
    }
    translated(call, "Bash", &[(argument, "command")])
}

/// Changes the access to every file of a call to a deletion.
pub(crate) fn as_deletion(mut call: ToolCall) -> ToolCall {
    for file in &mut call.files {
        file.access = Some(Access::Delete);
    }
    call
}

/// Converts a call of a tool that may belong to an MCP server. Some agents join the names of server and tool by a
/// separator that can also occur within either name. As it is unknown where to split the name, rules find the call
/// under each of the first [`SPLIT_LIMIT`] possible splits. A name that begins with `mcp__` is unambiguous and is not
/// split here.
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

/// The maximum number of ways in which one name is split into the server's name and the tool's name. Any further ways
/// are ignored.
const SPLIT_LIMIT: usize = 16;

fn shell(name: &str, input: &Value) -> Option<ShellText> {
    match name {
        "Bash" | "PowerShell" => Some(shell_text(input.get("command"))),
        // `Monitor` watches the output of a command, or, without the argument `command`, something else.
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
        let directory = file_paths.first().map_or(cwd, String::as_str);
        let globs = texts(input.get("glob")).flat_map(search_globs);
        files.extend(globs.filter_map(|glob| searched_files(directory, glob)));
    }
    files
}

/// Returns the value if it is a string, or the strings in it if it is a list; otherwise nothing.
fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let one = value.and_then(Value::as_str);
    one.into_iter().chain(value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str))
}

/// Splits a list of globs as Claude Code does: at spaces, and at commas unless the glob contains braces.
fn search_globs(globs: &str) -> impl Iterator<Item = &str> {
    let words = globs.split_whitespace();
    let parts = words.flat_map(|glob| glob.split(move |character| character == ',' && !glob.contains('{')));
    parts.filter(|glob| !glob.is_empty())
}

/// Returns the files that a search with a glob reads. As in ripgrep, a glob without a slash matches at any depth.
/// Returns `None` for a glob that excludes files (`!…`), and for one that does not restrict file names (`src/**`): such
/// a glob only names a directory, and searching a directory does not count as reading its files.
fn searched_files(directory: &str, glob: &str) -> Option<FileAccess> {
    let name = glob.rsplit('/').next().unwrap_or(glob);
    if glob.starts_with('!') || name.chars().all(|character| character == '*') {
        return None;
    }
    let depth = if glob.trim_start_matches("./").contains('/') { "" } else { "**/" };
    let path = paths::absolute(directory, &format!("{depth}{}", glob.trim_start_matches('/')));
    Some(FileAccess { is_pattern: true, ..FileAccess::new(path, Access::Read) })
}

/// True if a field of a tool's response says that the call failed or was interrupted.
pub(crate) fn has_error_flag(output: &Value) -> bool {
    ["is_error", "isError", "interrupted"].into_iter().any(|key| output.get(key) == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests;
