//! Codex's `hooks.json`: a command line for a shell, and nothing at the top level but `hooks`.
//!
//! Codex runs a hook only after the person has accepted it in `/hooks`, and again after every change.

use serde_json::{Map, Value, json};

use crate::install::{Hook, Scope, Settings};
use crate::protocol::tools::shell_quoted;

pub(super) const SETTINGS: Settings = Settings {
    project_file: ".codex/hooks.json",
    local_file: None,
    user_folder: ".codex",
    user_folder_variable: "CODEX_HOME",
    user_file: "hooks.json",
    hooks: &[
        Hook { event: "PreToolUse", has_matcher: true, timeout: 60 },
        Hook { event: "PermissionRequest", has_matcher: true, timeout: 60 },
        Hook { event: "PostToolUse", has_matcher: true, timeout: 60 },
        Hook { event: "UserPromptSubmit", has_matcher: false, timeout: 60 },
        Hook { event: "Stop", has_matcher: false, timeout: 600 },
        Hook { event: "SubagentStart", has_matcher: false, timeout: 60 },
        Hook { event: "SubagentStop", has_matcher: false, timeout: 600 },
        Hook { event: "PreCompact", has_matcher: false, timeout: 60 },
        Hook { event: "PostCompact", has_matcher: false, timeout: 60 },
        Hook { event: "SessionStart", has_matcher: false, timeout: 60 },
        // Codex waits no longer than this at the end of a session.
        Hook { event: "SessionEnd", has_matcher: false, timeout: 3 },
    ],
    handler,
    problems,
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
