//! MCP tools that run commands: their text is a shell's, as that of an agent's own shell is.
//!
//! A tool is one if its name says so and an argument holds the text. The machine is taken to be this one.

use engine::event::ShellText;
use serde_json::{Map, Value};

use super::{arguments, called, plain, words};
use crate::protocol::shell_text::{in_folder, shell_text};

/// Words in the names of tools that run something.
const RUNS: &[&str] = &["exec", "execute", "launch", "run", "spawn", "start"];
/// Words in the names of tools that mean a shell.
const SHELLS: &[&str] =
    &["bash", "cli", "cmd", "command", "commands", "console", "process", "pty", "sh", "shell", "terminal", "zsh"];

const OWN_SHELLS: &[&str] = &["bash", "pty", "sh", "shell", "terminal", "zsh"];

// Without capital letters and separators.
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
/// What these hold is a shell's text only where the tool is a shell.
const SCRIPTS: &[&str] = &["script", "commands", "code", "input", "text", "keys"];
/// Words of the command that have an argument of their own.
const WORDS: &[&str] = &["args", "arguments", "argv"];
const FOLDERS: &[&str] = &["cwd", "workdir", "workingdir", "workingdirectory"];

/// The text that a shell is given; `None` where the call runs no command.
pub fn shell(name: &str, input: &Value) -> Option<ShellText> {
    let (server, tool) = called(name, input);
    let says = |name: &str, known: &[&str]| {
        words(name).iter().any(|word| known.iter().any(|known| known.eq_ignore_ascii_case(word)))
    };
    let runs = says(&tool, RUNS);
    // `run` of a server that is a shell is that shell's.
    let is_shell = says(&tool, SHELLS) || runs && says(&server, SHELLS);
    // Of an agent's own tools, those that speak of commands need not run one: `SlashCommand`.
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
        // It runs a command, and nobody knows where that stands.
        None => (runs && is_shell).then_some(ShellText::Missing),
    }
}

/// The first of these arguments that says something.
fn first<'a>(arguments: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let said = |name: &&str| {
        let mut fields = arguments.iter().filter(|(key, _)| plain(key) == **name);
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

/// A script, or a list of commands that run one after the other.
fn script(text: &Value) -> Option<String> {
    match text {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?.join("\n")),
        _ => None,
    }
}
