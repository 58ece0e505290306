//! Detects whether an agent started the shell that runs this command.
//!
//! An agent can change a command's environment, but not its parents'. So parents are checked too, up to the first that
//! is no shell, wrapper or interpreter. Linux only.

use std::collections::BTreeMap;
use std::fs;

/// Programs that may run between an agent and its command.
const WRAPPERS: [&str; 28] = [
    "bash", "sh", "dash", "zsh", "ksh", "fish", "busybox", "env", "xargs", "timeout", "nohup", "nice", "setsid",
    "sudo", "stdbuf", "parallel", "watch", "script", "awk", "gawk", "mawk", "find", "make", "node", "bun", "deno",
    "expect", "tclsh",
];
/// Interpreters whose process names end in a version.
const INTERPRETERS: [&str; 6] = ["python", "perl", "ruby", "php", "lua", "pypy"];
/// The maximum number of ancestors to inspect.
const MAX_ANCESTORS: usize = 32;

/// Process names of agents.
const AGENTS: [&str; 7] = ["claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "amp"];

/// Returns the environment variable that shows that an agent runs this command, or the agent's process name.
pub fn agent_marker() -> Option<&'static str> {
    let (_, mut process) = status("self")?;
    for _ in 0..MAX_ANCESTORS {
        let (name, parent) = status(&process.to_string())?;
        let variables = variables(process);
        if let Some(marker) = agents::environment::detected_variable(|name| variables.get(name).cloned()) {
            return Some(marker);
        }
        let is_between =
            WRAPPERS.contains(&name.as_str()) || INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter));
        if !is_between {
            return AGENTS.into_iter().find(|agent| *agent == name);
        }
        process = parent;
    }
    None
}

/// Returns a process's name and the id of its parent.
fn status(process: &str) -> Option<(String, u32)> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some((field("Name:")?.to_owned(), field("PPid:")?.parse().ok()?))
}

/// Returns the environment that a process was started with.
fn variables(process: u32) -> BTreeMap<String, String> {
    let bytes = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let variables = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    variables.filter_map(|variable| variable.split_once('=').map(|(name, value)| (name.into(), value.into()))).collect()
}
