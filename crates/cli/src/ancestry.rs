//! Detects whether an agent started the shell that runs this command.
//!
//! An agent can change the environment variables of a command, but not those of the command's ancestor processes.
//! Therefore the ancestors are inspected too, up to the first one that is not a shell, wrapper or interpreter. Works
//! only on Linux.

use std::collections::BTreeMap;
use std::fs;

/// Programs through which an agent can start a command. The search for an agent goes on with their parent processes.
const WRAPPERS: [&str; 28] = [
    "bash", "sh", "dash", "zsh", "ksh", "fish", "busybox", "env", "xargs", "timeout", "nohup", "nice", "setsid",
    "sudo", "stdbuf", "parallel", "watch", "script", "awk", "gawk", "mawk", "find", "make", "node", "bun", "deno",
    "expect", "tclsh",
];
/// Interpreters. Their process names can end in a version number, such as `python3.12`.
const INTERPRETERS: [&str; 6] = ["python", "perl", "ruby", "php", "lua", "pypy"];
/// The maximum number of ancestors to inspect.
const MAX_ANCESTORS: usize = 32;

/// Process names of agents.
const AGENTS: [&str; 7] = ["claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "amp"];

/// Returns the evidence that an agent is among the ancestors of this process: the name of an environment variable, or
/// the process name of the agent.
pub fn marker_of_ancestors() -> Option<&'static str> {
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

/// Returns the environment variables with which a process was started.
fn variables(process: u32) -> BTreeMap<String, String> {
    let bytes = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let variables = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    variables.filter_map(|variable| variable.split_once('=').map(|(name, value)| (name.into(), value.into()))).collect()
}
