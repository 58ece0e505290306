//! Analyzes calls of tools that Linchpin does not know, whether the tools belong to MCP servers or to agents. Finds the
//! MCP tools that a call reaches, the files that the arguments name, and the command that the tool runs.
//!
//! There is no standard for the arguments of such tools. But most tools use one of a few argument names for a path, and
//! most tools' names say what the tool does with the path. If a tool's name does not say that, the kind of access is
//! unknown.

use engine::event::{FileAccess, McpTool};
use path::Access;
use serde_json::{Map, Value};

use super::{patch, paths};

mod arguments;
mod shell;

pub(super) use shell::shell;

/// Whether a path is the source or the destination, for tools that have arguments for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathArgument {
    Source,
    Destination,
}

/// Names of arguments that are paths or lists of paths, in lower case and without separators. The list also contains
/// names that often mean something else (`source`, `file`). They do no harm: an argument's value matters only if the
/// value is the path of a file that a rule is about.
const PATH_ARGUMENTS: &[(&str, PathArgument)] = &[
    ("path", PathArgument::Source),
    ("paths", PathArgument::Source),
    ("file", PathArgument::Source),
    ("files", PathArgument::Source),
    ("filepath", PathArgument::Source),
    ("filepaths", PathArgument::Source),
    ("filename", PathArgument::Source),
    ("absolutepath", PathArgument::Source),
    ("relativepath", PathArgument::Source),
    ("pathinproject", PathArgument::Source),
    ("directory", PathArgument::Source),
    ("uri", PathArgument::Source),
    ("source", PathArgument::Source),
    ("sourcepath", PathArgument::Source),
    ("src", PathArgument::Source),
    ("from", PathArgument::Source),
    ("oldpath", PathArgument::Source),
    ("destination", PathArgument::Destination),
    ("destinationpath", PathArgument::Destination),
    ("dest", PathArgument::Destination),
    ("dst", PathArgument::Destination),
    ("to", PathArgument::Destination),
    ("newpath", PathArgument::Destination),
    ("target", PathArgument::Destination),
    ("targetfile", PathArgument::Destination),
    ("targetpath", PathArgument::Destination),
    ("outputfile", PathArgument::Destination),
    ("outputpath", PathArgument::Destination),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Read,
    Write,
    Delete,
    Move,
    Copy,
}

/// Words in tools' names that say what the tool does with a path.
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
    fn accesses(self, argument: PathArgument) -> &'static [Access] {
        match (self, argument) {
            (Self::Read, _) | (Self::Copy, PathArgument::Source) => &[Access::Read],
            (Self::Write, _) | (Self::Move | Self::Copy, PathArgument::Destination) => &[Access::Write],
            (Self::Delete, _) => &[Access::Delete],
            (Self::Move, PathArgument::Source) => &[Access::Read, Access::Delete],
        }
    }
}

/// Returns the MCP tool that a name like `mcp__server__tool` denotes and, if that tool is a proxy, the tool that the
/// proxy calls. Other names denote no MCP tool.
pub(super) fn tools(name: &str, input: &Value) -> Vec<McpTool> {
    let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
        return Vec::new();
    };
    let own = McpTool { server: server.to_owned(), tool: tool.to_owned() };
    let proxied = is_proxy(tool).then(|| proxied_call(input)).flatten();
    let proxied = proxied.map(|(server, tool)| McpTool { server: server.to_owned(), tool: tool.to_owned() });
    std::iter::once(own).chain(proxied).collect()
}

/// True for the name of a proxy, a tool that only calls another tool, such as `call_tool` or `use_mcp_tool`.
fn is_proxy(tool: &str) -> bool {
    let words = split_words(tool);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|known| known.eq_ignore_ascii_case(word)));
    has(&["tool"]) && has(&["call", "execute", "invoke", "run", "use"])
}

/// Returns the names of the server and the tool that a proxy calls, from the proxy's arguments.
fn proxied_call(input: &Value) -> Option<(&str, &str)> {
    let text = |wanted: [&str; 2]| {
        let mut fields = input.as_object()?.iter();
        fields.find(|(key, _)| wanted.contains(&normalized(key).as_str())).and_then(|(_, value)| value.as_str())
    };
    Some((text(["servername", "server"])?, text(["toolname", "tool"])?))
}

/// Returns the names of the server and the tool of a call; if the tool is a proxy, those of the proxied call. For an
/// agent's own tool that is not a proxy, the server's name is empty.
fn called_tool(name: &str, input: &Value) -> (String, String) {
    match tools(name, input).pop() {
        Some(tool) => (tool.server, tool.tool),
        None if is_proxy(name) => proxied_call(input)
            .map_or((String::new(), name.to_owned()), |(server, tool)| (server.to_owned(), tool.to_owned())),
        None => (String::new(), name.to_owned()),
    }
}

/// Converts a name to lower case without separators: `filePath`, `file_path` and `file-path` become equal.
fn normalized(key: &str) -> String {
    key.chars().filter(|character| !matches!(character, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Returns the files that the arguments of a call name, each with the kinds of access that the tool's name shows.
pub(super) fn files(name: &str, input: &Value, cwd: &str) -> Vec<FileAccess> {
    let (_, tool) = called_tool(name, input);
    let words = split_words(&tool);
    let verbs: Vec<Verb> = words.iter().filter_map(|word| verb(word)).collect();
    let accesses = |(path, argument): (String, PathArgument)| {
        let mut accesses: Vec<Option<Access>> =
            verbs.iter().flat_map(|verb| verb.accesses(argument)).copied().map(Some).collect();
        if accesses.is_empty() {
            accesses.push(None);
        }
        let paths: Vec<String> = paths::interpretations(cwd, &path).collect();
        let each =
            move |access| paths.clone().into_iter().map(move |path| FileAccess { path, access, is_pattern: false });
        accesses.into_iter().flat_map(each)
    };
    let patched = words.iter().any(|word| word.eq_ignore_ascii_case("patch")).then(|| patch::files(input, cwd));
    let file_paths = arguments::nested_objects(input).into_iter().flat_map(|arguments| named_paths(&arguments));
    file_paths.flat_map(accesses).chain(patched.into_iter().flatten()).collect()
}

fn verb(word: &str) -> Option<Verb> {
    VERBS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, verb)| *verb)
}

/// Splits a name into words: `read_file`, `readFile` and `read-file` are two words each.
fn split_words(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    for character in name.chars() {
        if character.is_uppercase() && spaced.ends_with(char::is_lowercase) {
            spaced.push(' ');
        }
        spaced.push(character);
    }
    spaced.split(|character: char| !character.is_alphanumeric()).map(str::to_owned).collect()
}

/// Returns the paths in the arguments whose names are in [`PATH_ARGUMENTS`].
fn named_paths(arguments: &Map<String, Value>) -> Vec<(String, PathArgument)> {
    let mut found = Vec::new();
    for (key, value) in arguments {
        let key = normalized(key);
        let Some((_, argument)) = PATH_ARGUMENTS.iter().find(|(name, _)| *name == key) else { continue };
        let texts: Vec<&str> = match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            // An object whose keys are file names, and whose values are the files' contents: `files: {"a.txt": "…"}`.
            Value::Object(files) if key == "files" => files.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        found.extend(texts.into_iter().filter_map(as_path).map(|path| (path, *argument)));
    }
    found
}

/// The maximum length of a path in bytes, as on Linux. Longer strings are not taken for paths.
const LONGEST_PATH: usize = 4096;

/// Returns the text if it can be a path, or the path in a `file:` URL. Returns `None` for other URLs, and for texts
/// that are empty, too long, or contain a line break or a NUL.
fn as_path(text: &str) -> Option<String> {
    if text.is_empty() || text.len() > LONGEST_PATH || text.contains(['\n', '\0']) {
        return None;
    }
    if let Some((scheme, rest)) = text.split_once(":/")
        && scheme.eq_ignore_ascii_case("file")
    {
        // `file:/a`, `file:///a` and `file://localhost/a` mean the same file.
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
