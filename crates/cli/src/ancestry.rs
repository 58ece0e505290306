//! Whether an agent started the shell that runs this command.
//!
//! A command can be given another environment, but what its parents were started with stays readable while they live: that
//! of shells, wrappers and interpreters of scripts, up to the first process that is none of these. Where the kernel does not show it (only Linux does),
//! nothing is known.

use std::collections::BTreeMap;
use std::fs;

/// What may stand between an agent and a command of its.
const BETWEEN: [&str; 28] = [
    "bash", "sh", "dash", "zsh", "ksh", "fish", "busybox", "env", "xargs", "timeout", "nohup", "nice", "setsid",
    "sudo", "stdbuf", "parallel", "watch", "script", "awk", "gawk", "mawk", "find", "make", "node", "bun", "deno",
    "expect", "tclsh",
];
/// Those that have a version behind their names.
const INTERPRETERS: [&str; 6] = ["python", "perl", "ruby", "php", "lua", "pypy"];
/// Nobody nests deeper.
const MOST: usize = 32;

/// Agents, by the names of their processes.
const AGENTS: [&str; 7] = ["claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "amp"];

/// The variable that shows it, or the agent itself.
pub fn mark() -> Option<&'static str> {
    let (_, mut process) = status("self")?;
    for _ in 0..MOST {
        let (name, parent) = status(&process.to_string())?;
        let variables = variables(process);
        if let Some(mark) = agents::environment::detected_variable(|name| variables.get(name).cloned()) {
            return Some(mark);
        }
        let is_between =
            BETWEEN.contains(&name.as_str()) || INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter));
        if !is_between {
            return AGENTS.into_iter().find(|agent| *agent == name);
        }
        process = parent;
    }
    None
}

/// The name and the parent of a process.
fn status(process: &str) -> Option<(String, u32)> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some((field("Name:")?.to_owned(), field("PPid:")?.parse().ok()?))
}

/// What it was started with.
fn variables(process: u32) -> BTreeMap<String, String> {
    let bytes = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let variables = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    variables.filter_map(|variable| variable.split_once('=').map(|(name, value)| (name.into(), value.into()))).collect()
}
