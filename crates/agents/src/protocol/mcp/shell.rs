//! Recognizes tools of MCP servers, and unknown tools of agents, that run commands. Their scripts are judged like those
//! of an agent's shell tool.
//!
//! Such a tool is recognized by its name and, usually, by an argument with a command. The command is assumed to run on
//! this machine.

use engine::event::ShellText;
use serde_json::{Map, Value};

use super::{arguments, called_tool, normalized, split_words};
use crate::protocol::shell_text::{in_directory, shell_text};

/// Words in tools' names that mean that the tool runs something.
const RUN_WORDS: &[&str] = &["exec", "execute", "launch", "run", "spawn", "start"];
/// Words in the names of tools and servers that mean a shell.
const SHELL_WORDS: &[&str] =
    &["bash", "cli", "cmd", "command", "commands", "console", "process", "pty", "sh", "shell", "terminal", "zsh"];

/// Words in the names of agents' own tools that mean a shell.
const OWN_SHELL_WORDS: &[&str] = &["bash", "pty", "sh", "shell", "terminal", "zsh"];

/// Names of arguments with a command, in lower case and without separators.
const COMMAND_ARGUMENTS: &[&str] = &[
    "command",
    "cmd",
    "commandline",
    "commandstring",
    "cmdline",
    "bashcommand",
    "shellcommand",
    "program",
    "executable",
];
/// Names of arguments with a script, if the tool is a shell.
const SCRIPT_ARGUMENTS: &[&str] = &["script", "commands", "code", "input", "text", "keys"];
/// Names of arguments that contain the command's arguments.
const ARGUMENT_LISTS: &[&str] = &["args", "arguments", "argv"];
/// Names of arguments with the working directory.
const DIRECTORY_ARGUMENTS: &[&str] = &["cwd", "workdir", "workingdir", "workingdirectory"];

/// Returns the script that a call runs. `Missing` if the tool's name says that the tool runs commands, but no argument
/// contains one; `None` if the call is not recognized as one that runs a command.
pub fn shell(name: &str, input: &Value) -> Option<ShellText> {
    let (server, tool) = called_tool(name, input);
    let says = |name: &str, known: &[&str]| {
        split_words(name).iter().any(|word| known.iter().any(|known| known.eq_ignore_ascii_case(word)))
    };
    let runs = says(&tool, RUN_WORDS);
    // A tool with a word such as `run` in its name is a shell too if its server's name means a shell, such as
    // `terminal`.
    let is_shell = says(&tool, SHELL_WORDS) || runs && says(&server, SHELL_WORDS);
    // An agent's own tool with `command` in its name does not necessarily run commands, for example `SlashCommand`.
    let is_shell = is_shell && (runs || !server.is_empty() || says(&tool, OWN_SHELL_WORDS));
    if !is_shell && !runs {
        return None;
    }
    let objects = arguments::nested_objects(input);
    let text = objects.iter().find_map(|arguments| {
        let script = || first(arguments, SCRIPT_ARGUMENTS).filter(|_| is_shell).and_then(script);
        command(arguments).or_else(script)
    });
    let directory = objects.iter().find_map(|arguments| first(arguments, DIRECTORY_ARGUMENTS)?.as_str());
    match text {
        Some(text) => Some(in_directory(directory, ShellText::Command(text))),
        // The tool runs a command, but no known argument contains the command.
        None => (runs && is_shell).then_some(ShellText::Missing),
    }
}

/// Returns the value of the first argument with one of these names, in the order of `names`. Empty strings are skipped.
fn first<'a>(arguments: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let first_value = |name: &&str| {
        let mut fields = arguments.iter().filter(|(key, _)| normalized(key) == **name);
        fields.find(|(_, value)| value.as_str() != Some("")).map(|(_, value)| value)
    };
    names.iter().find_map(first_value)
}

fn command(arguments: &Map<String, Value>) -> Option<String> {
    let text = |names: &[&str]| match shell_text(first(arguments, names)) {
        ShellText::Command(text) => Some(text),
        ShellText::Missing => None,
    };
    match (text(COMMAND_ARGUMENTS), text(ARGUMENT_LISTS)) {
        (Some(command), Some(arguments)) => Some(format!("{command} {arguments}")),
        (Some(command), None) => Some(command),
        (None, _) => text(&["argv"]),
    }
}

/// Returns the text, or the strings of a list joined as lines; `None` for any other value.
fn script(text: &Value) -> Option<String> {
    match text {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?.join("\n")),
        _ => None,
    }
}
