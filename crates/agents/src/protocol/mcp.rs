//! Which MCP tools a call reaches, which files it names, and the command that it runs.
//!
//! The arguments of such a tool are its server's own. But most servers call a path by one of a few names, and most tools
//! say by their own name what they do with it. Where the name does not say, nobody knows.

use engine::event::{Access, FileAccess, McpTool};
use serde_json::Value;

use super::paths;

mod shell;

pub(super) use shell::shell;

/// The part that a path has where a tool takes two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    From,
    To,
}

/// Arguments that are paths, or lists of them. A name that is often something else (`source`, `file`) does no harm:
/// its text counts only where it is the name of a file that a rule protects.
const PATH_ARGUMENTS: &[(&str, Part)] = &[
    ("path", Part::From),
    ("paths", Part::From),
    ("file", Part::From),
    ("files", Part::From),
    ("file_path", Part::From),
    ("filePath", Part::From),
    ("filepath", Part::From),
    ("filename", Part::From),
    ("absolute_path", Part::From),
    ("relative_path", Part::From),
    ("pathInProject", Part::From),
    ("path_in_project", Part::From),
    ("directory", Part::From),
    ("uri", Part::From),
    ("source", Part::From),
    ("source_path", Part::From),
    ("old_path", Part::From),
    ("destination", Part::To),
    ("destination_path", Part::To),
    ("new_path", Part::To),
    ("target_path", Part::To),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Read,
    Write,
    Delete,
    Move,
    Copy,
}

/// Words in the names of tools that say what becomes of a path.
const VERBS: &[(&str, Verb)] = &[
    ("read", Verb::Read),
    ("get", Verb::Read),
    ("list", Verb::Read),
    ("search", Verb::Read),
    ("find", Verb::Read),
    ("view", Verb::Read),
    ("show", Verb::Read),
    ("grep", Verb::Read),
    ("tree", Verb::Read),
    ("upload", Verb::Read),
    ("write", Verb::Write),
    ("edit", Verb::Write),
    ("create", Verb::Write),
    ("update", Verb::Write),
    ("append", Verb::Write),
    ("insert", Verb::Write),
    ("replace", Verb::Write),
    ("patch", Verb::Write),
    ("save", Verb::Write),
    ("download", Verb::Write),
    ("delete", Verb::Delete),
    ("remove", Verb::Delete),
    ("unlink", Verb::Delete),
    ("trash", Verb::Delete),
    ("move", Verb::Move),
    ("rename", Verb::Move),
    ("copy", Verb::Copy),
];

impl Verb {
    fn accesses(self, part: Part) -> &'static [Access] {
        match (self, part) {
            (Self::Read, _) | (Self::Copy, Part::From) => &[Access::Read],
            (Self::Write, _) | (Self::Move | Self::Copy, Part::To) => &[Access::Write],
            (Self::Delete, _) => &[Access::Delete],
            (Self::Move, Part::From) => &[Access::Read, Access::Delete],
        }
    }
}

/// `mcp__server__tool`, and the tool behind it where it only passes calls on.
pub(super) fn tools(name: &str, input: &Value) -> Vec<McpTool> {
    let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
        return Vec::new();
    };
    let mut tools = vec![McpTool { server: server.to_owned(), tool: tool.to_owned() }];
    if tool == PROXY {
        let text = |keys: [&str; 2]| keys.into_iter().find_map(|key| input.get(key)?.as_str());
        if let (Some(server), Some(tool)) = (text(["server_name", "server"]), text(["tool_name", "tool"])) {
            tools.push(McpTool { server: server.to_owned(), tool: tool.to_owned() });
        }
    }
    tools
}

/// A tool that only passes calls on.
const PROXY: &str = "call_tool";

/// Names under which servers, and proxies, put all of their arguments once more.
const WRAPPINGS: &[&str] = &["arguments", "args", "params", "parameters", "input", "options"];

/// The arguments themselves, and those that lie in one of them.
fn all_arguments(input: &Value) -> impl Iterator<Item = &Value> {
    let wrapped = WRAPPINGS.iter().filter_map(|key| input.get(key)).filter(|arguments| arguments.is_object());
    std::iter::once(input).chain(wrapped.flat_map(|wrapped| {
        let deeper = WRAPPINGS.iter().filter_map(|key| wrapped.get(key)).filter(|arguments| arguments.is_object());
        std::iter::once(wrapped).chain(deeper)
    }))
}

pub(super) fn files(name: &str, input: &Value, cwd: &str) -> Vec<FileAccess> {
    let Some(tool) = tools(name, input).pop() else { return Vec::new() };
    let verbs: Vec<Verb> = words(&tool.tool).iter().filter_map(|word| verb(word)).collect();
    let named = all_arguments(input).flat_map(|arguments| named_paths(arguments, true));
    let accesses = |(path, part): (String, Part)| {
        let path = paths::absolute(cwd, &path);
        let mut accesses: Vec<Option<Access>> =
            verbs.iter().flat_map(|verb| verb.accesses(part)).copied().map(Some).collect();
        if accesses.is_empty() {
            accesses.push(None);
        }
        accesses.into_iter().map(move |access| FileAccess { path: path.clone(), access, is_pattern: false })
    };
    named.flat_map(accesses).collect()
}

fn verb(word: &str) -> Option<Verb> {
    VERBS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, verb)| *verb)
}

/// `read_file`, `readFile` and `read-file` are two words.
fn words(name: &str) -> Vec<String> {
    let mut apart = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && apart.ends_with(char::is_lowercase) {
            apart.push(' ');
        }
        apart.push(letter);
    }
    apart.split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned).collect()
}

/// The paths among the arguments. `deeper`: those of a list's items too, as in `files: [{path, content}]`.
fn named_paths(arguments: &Value, deeper: bool) -> Vec<(String, Part)> {
    let mut found = Vec::new();
    for (key, part) in PATH_ARGUMENTS {
        match arguments.get(key) {
            Some(Value::String(text)) => found.extend(as_path(text).map(|path| (path, *part))),
            Some(Value::Array(items)) => {
                let texts = items.iter().filter_map(Value::as_str);
                found.extend(texts.filter_map(as_path).map(|path| (path, *part)));
                let items = items.iter().filter(|item| deeper && item.is_object());
                found.extend(items.flat_map(|item| named_paths(item, false)));
            }
            _ => {}
        }
    }
    found
}

/// No system takes a longer one.
const LONGEST_PATH: usize = 4096;

/// A path, or an address of a file. Other addresses, and texts of several lines, are no paths.
fn as_path(text: &str) -> Option<String> {
    if text.is_empty() || text.len() > LONGEST_PATH || text.contains(['\n', '\0']) {
        return None;
    }
    match text.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
            Some(percent_decoded(rest.strip_prefix("localhost").unwrap_or(rest)))
        }
        Some(_) => None,
        None => Some(text.to_owned()),
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
