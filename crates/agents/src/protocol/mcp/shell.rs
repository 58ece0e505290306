//! MCP tools that run commands: their text is a shell's, as that of an agent's own shell is.
//!
//! A tool is one if its name says so and an argument holds the text. The machine is taken to be this one.

use engine::event::ShellText;
use serde_json::Value;

use super::{all_arguments, tools, words};
use crate::protocol::tools::{in_folder, shell_text};

/// Words in the names of tools that run something.
const RUNS: &[&str] = &["exec", "execute", "launch", "run", "spawn", "start"];
/// Words in the names of tools that mean a shell.
const SHELLS: &[&str] =
    &["bash", "cli", "cmd", "command", "commands", "console", "process", "sh", "shell", "terminal", "zsh"];

const COMMANDS: &[&str] = &["command", "cmd", "command_line", "commandLine", "program", "executable"];
/// What these hold is a shell's text only where the tool is a shell.
const SCRIPTS: &[&str] = &["script", "commands", "code", "input"];
/// Words of the command that have an argument of their own.
const WORDS: &[&str] = &["args", "arguments"];
const FOLDERS: &[&str] = &["cwd", "workdir", "working_dir", "workingDir", "working_directory", "workingDirectory"];

/// The text that a shell is given; `None` where the call runs no command.
pub fn shell(name: &str, input: &Value) -> Option<ShellText> {
    let called = tools(name, input).pop()?;
    let says = |name: &str, known: &[&str]| {
        words(name).iter().any(|word| known.iter().any(|known| known.eq_ignore_ascii_case(word)))
    };
    let runs = says(&called.tool, RUNS);
    // `run` of a server that is a shell is that shell's.
    let is_shell = says(&called.tool, SHELLS) || runs && says(&called.server, SHELLS);
    if !is_shell && !runs {
        return None;
    }
    let text = all_arguments(input).find_map(|arguments| {
        let script = || first(arguments, SCRIPTS).filter(|_| is_shell).and_then(script);
        command(arguments).or_else(script)
    })?;
    let folder = all_arguments(input).find_map(|arguments| first(arguments, FOLDERS)?.as_str());
    Some(in_folder(folder, ShellText::Command(text)))
}

fn first<'a>(arguments: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| arguments.get(name))
}

fn command(arguments: &Value) -> Option<String> {
    let text = |names: &[&str]| match shell_text(first(arguments, names)) {
        ShellText::Command(text) => Some(text),
        ShellText::Missing => None,
    };
    let command = text(COMMANDS)?;
    Some(text(WORDS).map_or_else(|| command.clone(), |words| format!("{command} {words}")))
}

/// A script, or a list of commands that run one after the other.
fn script(text: &Value) -> Option<String> {
    match text {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?.join("\n")),
        _ => None,
    }
}
