//! Which MCP tools a call reaches; and which files a tool names that nobody knows here, of a server or the agent's own, and
//! the command that it runs.
//!
//! The arguments of such a tool are its makers' own. But most call a path by one of a few names, and most tools say by their
//! own name what they do with it. Where the name does not say, nobody knows.

use engine::event::{FileAccess, McpTool};
use path::Access;
use serde_json::{Map, Value};

use super::{patch, paths};

mod arguments;
mod shell;

pub(super) use shell::shell;

/// The part that a path has where a tool takes two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    From,
    To,
}

/// Arguments that are paths, or lists of them, without capital letters and separators. A name that is often something else
/// (`source`, `file`) does no harm: its text counts only where it is the name of a file that a rule protects.
const PATH_ARGUMENTS: &[(&str, Part)] = &[
    ("path", Part::From),
    ("paths", Part::From),
    ("file", Part::From),
    ("files", Part::From),
    ("filepath", Part::From),
    ("filepaths", Part::From),
    ("filename", Part::From),
    ("absolutepath", Part::From),
    ("relativepath", Part::From),
    ("pathinproject", Part::From),
    ("directory", Part::From),
    ("uri", Part::From),
    ("source", Part::From),
    ("sourcepath", Part::From),
    ("src", Part::From),
    ("from", Part::From),
    ("oldpath", Part::From),
    ("destination", Part::To),
    ("destinationpath", Part::To),
    ("dest", Part::To),
    ("dst", Part::To),
    ("to", Part::To),
    ("newpath", Part::To),
    ("target", Part::To),
    ("targetfile", Part::To),
    ("targetpath", Part::To),
    ("outputfile", Part::To),
    ("outputpath", Part::To),
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
    ("add", Verb::Write),
    ("change", Verb::Write),
    ("fix", Verb::Write),
    ("format", Verb::Write),
    ("modify", Verb::Write),
    ("overwrite", Verb::Write),
    ("put", Verb::Write),
    ("rewrite", Verb::Write),
    ("set", Verb::Write),
    ("store", Verb::Write),
    ("truncate", Verb::Write),
    ("delete", Verb::Delete),
    ("remove", Verb::Delete),
    ("unlink", Verb::Delete),
    ("trash", Verb::Delete),
    ("erase", Verb::Delete),
    ("purge", Verb::Delete),
    ("rm", Verb::Delete),
    ("wipe", Verb::Delete),
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
    let own = McpTool { server: server.to_owned(), tool: tool.to_owned() };
    let behind = is_proxy(tool).then(|| passed_on(input)).flatten();
    let behind = behind.map(|(server, tool)| McpTool { server: server.to_owned(), tool: tool.to_owned() });
    std::iter::once(own).chain(behind).collect()
}

/// A tool that only passes calls on: `call_tool`, `use_mcp_tool`.
fn is_proxy(tool: &str) -> bool {
    let words = words(tool);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|known| known.eq_ignore_ascii_case(word)));
    has(&["tool"]) && has(&["call", "execute", "invoke", "run", "use"])
}

/// The server and the tool that a call is passed on to.
fn passed_on(input: &Value) -> Option<(&str, &str)> {
    let text = |wanted: [&str; 2]| {
        let mut fields = input.as_object()?.iter();
        fields.find(|(key, _)| wanted.contains(&plain(key).as_str())).and_then(|(_, value)| value.as_str())
    };
    Some((text(["servername", "server"])?, text(["toolname", "tool"])?))
}

/// What is called: the server, and the tool. Of one that is no server's, nothing but the tool.
fn called(name: &str, input: &Value) -> (String, String) {
    match tools(name, input).pop() {
        Some(tool) => (tool.server, tool.tool),
        None if is_proxy(name) => passed_on(input)
            .map_or((String::new(), name.to_owned()), |(server, tool)| (server.to_owned(), tool.to_owned())),
        None => (String::new(), name.to_owned()),
    }
}

/// Without capital letters and separators: `filePath`, `file_path` and `file-path` are one name.
fn plain(key: &str) -> String {
    key.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

pub(super) fn files(name: &str, input: &Value, cwd: &str) -> Vec<FileAccess> {
    let (_, tool) = called(name, input);
    let words = words(&tool);
    let verbs: Vec<Verb> = words.iter().filter_map(|word| verb(word)).collect();
    let accesses = |(path, part): (String, Part)| {
        let mut accesses: Vec<Option<Access>> =
            verbs.iter().flat_map(|verb| verb.accesses(part)).copied().map(Some).collect();
        if accesses.is_empty() {
            accesses.push(None);
        }
        let paths: Vec<String> = paths::readings(cwd, &path).collect();
        let each =
            move |access| paths.clone().into_iter().map(move |path| FileAccess { path, access, is_pattern: false });
        accesses.into_iter().flat_map(each)
    };
    let patched = words.iter().any(|word| word.eq_ignore_ascii_case("patch")).then(|| patch::files(input, cwd));
    let named = arguments::all(input).into_iter().flat_map(|arguments| named_paths(&arguments));
    named.flat_map(accesses).chain(patched.into_iter().flatten()).collect()
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

/// The paths among the arguments.
fn named_paths(arguments: &Map<String, Value>) -> Vec<(String, Part)> {
    let mut found = Vec::new();
    for (key, value) in arguments {
        let key = plain(key);
        let Some((_, part)) = PATH_ARGUMENTS.iter().find(|(name, _)| *name == key) else { continue };
        let texts: Vec<&str> = match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            // Files by their names: `files: {"a.txt": "…"}`.
            Value::Object(files) if key == "files" => files.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        found.extend(texts.into_iter().filter_map(as_path).map(|path| (path, *part)));
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
    if let Some((scheme, rest)) = text.split_once(":/")
        && scheme.eq_ignore_ascii_case("file")
    {
        // `file:/a`, `file:///a` and `file://localhost/a` are one address.
        let rest = rest.strip_prefix("/localhost").unwrap_or(rest);
        return Some(percent_decoded(&format!("/{}", rest.trim_start_matches('/'))));
    }
    (!text.contains("://")).then(|| text.to_owned())
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
