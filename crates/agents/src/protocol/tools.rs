//! What a call of one of the canonical tools touches: its shell text, its files, its MCP tools.
//!
//! The canonical tools are Claude Code's. Agents translate their own names first and then ask here.

use engine::event::{Access, FileAccess, ShellText, ToolCall};
use serde_json::Value;

use super::decode::{RawCall, rename};
use super::{mcp, paths};

/// A call of the canonical tool `name`, with what its input says.
pub(crate) fn canonical(name: &str, input: Value, cwd: &str) -> ToolCall {
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
pub(crate) fn renamed(own_name: String, name: &str, input: Value, cwd: &str) -> ToolCall {
    let mut call = canonical(name, input, cwd);
    if own_name != name {
        call.aliases.push(own_name);
    }
    call
}

/// The same for an agent that has its own names for the arguments too: they get those of the canonical tool.
pub(crate) fn translated(call: RawCall<'_>, name: &str, arguments: &[(&str, &str)]) -> ToolCall {
    let mut input = call.input;
    if let Value::Object(fields) = &mut input {
        rename(fields, arguments);
    }
    renamed(call.name, name, input, call.cwd)
}

fn shell(name: &str, input: &Value) -> Option<ShellText> {
    match name {
        "Bash" | "PowerShell" => Some(shell_text(input.get("command"))),
        // It watches what a command prints, or something that is no command.
        MONITOR => input.get("command").map(|command| shell_text(Some(command))),
        _ => mcp::shell(name, input),
    }
}

const MONITOR: &str = "Monitor";

/// The text that a shell would be given. An argument vector is written as the text that means the same.
pub(super) fn shell_text(command: Option<&Value>) -> ShellText {
    match command {
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
        _ => return mcp::files(tool, input, cwd),
    };
    let named = keys.iter().find_map(|key| input.get(key)?.as_str());
    let mut files: Vec<FileAccess> =
        named.iter().map(|path| FileAccess::new(paths::absolute(cwd, path), access)).collect();
    if let (Some(globs), "Grep") = (input.get("glob").and_then(Value::as_str), tool) {
        let folder = named.map_or_else(|| cwd.to_owned(), |folder| paths::absolute(cwd, folder));
        files.extend(search_globs(globs).filter_map(|glob| searched_files(&folder, glob)));
    }
    files
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
