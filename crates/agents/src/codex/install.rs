//! Codex's `hooks.json`: a command line for a shell, and nothing at the top level but `hooks`.
//!
//! Codex runs a hook only after the person has accepted it in `/hooks`, and again after every change.

use serde_json::{Map, Value, json};

use crate::install::{Accepting, Entries, Form, Hook, Moved, Nesting, Scope, Settings};
use crate::protocol::tools::shell_quoted;

pub(super) const SETTINGS: Settings = Settings {
    sign: Some(".codex"),
    project_file: ".codex/hooks.json",
    local_file: None,
    user_folder: ".codex",
    moved_by: Some(Moved { variable: "CODEX_HOME", below: "" }),
    user_file: "hooks.json",
    accepting: Some(Accepting {
        file: "config.toml",
        by_hooks: true,
        demand: "it runs hooks only after you accept them under /hooks, and again after every change",
        is_off,
    }),
    form: Form::Entries(Entries {
        hooks: &[
            Hook { event: "PreToolUse", nesting: Nesting::Matched("*"), timeout: 60 },
            Hook { event: "PermissionRequest", nesting: Nesting::Matched("*"), timeout: 60 },
            Hook { event: "PostToolUse", nesting: Nesting::Matched("*"), timeout: 60 },
            Hook { event: "UserPromptSubmit", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "Stop", nesting: Nesting::Grouped, timeout: 600 },
            Hook { event: "SubagentStart", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "SubagentStop", nesting: Nesting::Grouped, timeout: 600 },
            Hook { event: "PreCompact", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "PostCompact", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "SessionStart", nesting: Nesting::Grouped, timeout: 60 },
            // Codex waits no longer than this at the end of a session.
            Hook { event: "SessionEnd", nesting: Nesting::Grouped, timeout: 3 },
        ],
        is_versioned: false,
        handler,
        problems,
    }),
};

fn handler(hook: &Hook, _scope: Scope, program: &str) -> Value {
    json!({
        "type": "command",
        "command": format!("{} hook codex", shell_quoted(program)),
        "timeout": hook.timeout,
    })
}

fn problems(settings: &Map<String, Value>) -> Vec<String> {
    let unknown = settings.keys().filter(|key| *key != "hooks");
    unknown.map(|key| format!("Codex rejects the whole file because of the key `{key}`")).collect()
}

/// `hooks = false` among the features. Whoever writes it otherwise than on a line of its own is not found out.
fn is_off(config: &str) -> bool {
    let mut table = "";
    config.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            table = line;
        }
        let setting: String = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        setting == "features.hooks=false" || (table == "[features]" && setting == "hooks=false")
    })
}
