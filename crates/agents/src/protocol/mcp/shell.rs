//! MCP tools that run commands: their script is judged like that of an agent's own shell.
//!
//! Such a tool is recognized by its name and by an argument with a command. It is assumed to run on this machine.

use engine::event::ShellText;
use serde_json::{Map, Value};

use super::{arguments, called_tool, normalized, words};
use crate::protocol::shell_text::{in_folder, shell_text};

/// Words in tools' names that mean running something.
const RUNS: &[&str] = &["exec", "execute", "launch", "run", "spawn", "start"];
/// Words in tools' names that mean a shell.
const SHELLS: &[&str] =
    &["bash", "cli", "cmd", "command", "commands", "console", "process", "pty", "sh", "shell", "terminal", "zsh"];

/// Words in the names of agents' own tools that mean a shell.
const OWN_SHELLS: &[&str] = &["bash", "pty", "sh", "shell", "terminal", "zsh"];

/// Names of arguments with a command, in lower case and without separators.
const COMMANDS: &[&str] = &[
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
const SCRIPTS: &[&str] = &["script", "commands", "code", "input", "text", "keys"];
/// Names of arguments with the command's arguments.
const WORDS: &[&str] = &["args", "arguments", "argv"];
/// Names of arguments with the working directory.
const FOLDERS: &[&str] = &["cwd", "workdir", "workingdir", "workingdirectory"];

/// Returns the script of a call; none if the call runs no command.
pub fn shell(name: &str, input: &Value) -> Option<ShellText> {
    let (server, tool) = called_tool(name, input);
    let says = |name: &str, known: &[&str]| {
        words(name).iter().any(|word| known.iter().any(|known| known.eq_ignore_ascii_case(word)))
    };
    let runs = says(&tool, RUNS);
    // `run` of a server that is a shell, such as `terminal`, runs a script.
    let is_shell = says(&tool, SHELLS) || runs && says(&server, SHELLS);
    // An agent's own tool with `command` in its name may not run any: `SlashCommand`.
    let is_shell = is_shell && (runs || !server.is_empty() || says(&tool, OWN_SHELLS));
    if !is_shell && !runs {
        return None;
    }
    let all = arguments::all(input);
    let text = all.iter().find_map(|arguments| {
        let script = || first(arguments, SCRIPTS).filter(|_| is_shell).and_then(script);
        command(arguments).or_else(script)
    });
    let folder = all.iter().find_map(|arguments| first(arguments, FOLDERS)?.as_str());
    match text {
        Some(text) => Some(in_folder(folder, ShellText::Command(text))),
        // The tool runs a command, but no known argument has it.
        None => (runs && is_shell).then_some(ShellText::Missing),
    }
}

/// Returns the first of these arguments that is not empty.
fn first<'a>(arguments: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let said = |name: &&str| {
        let mut fields = arguments.iter().filter(|(key, _)| normalized(key) == **name);
        fields.find(|(_, value)| value.as_str() != Some("")).map(|(_, value)| value)
    };
    names.iter().find_map(said)
}

fn command(arguments: &Map<String, Value>) -> Option<String> {
    let text = |names: &[&str]| match shell_text(first(arguments, names)) {
        ShellText::Command(text) => Some(text),
        ShellText::Missing => None,
    };
    match (text(COMMANDS), text(WORDS)) {
        (Some(command), Some(words)) => Some(format!("{command} {words}")),
        (Some(command), None) => Some(command),
        (None, _) => text(&["argv"]),
    }
}

/// Returns a script, or joins a list of commands.
fn script(text: &Value) -> Option<String> {
    match text {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?.join("\n")),
        _ => None,
    }
}
