//! Copilot CLI's hook files: any number of them in a folder, so ours is one of its own. The events have Claude Code's
//! names, by which Copilot sends Claude Code's shape; where it does not, the command line says which event it is.
//!
//! Headless, Copilot reads a repository's hooks only where the folder is trusted.

use serde_json::{Map, Value, json};

use crate::install::{Accepting, Entries, Form, Hook, Moved, Nesting, Scope, Settings};
use crate::protocol::tools::shell_quoted;

pub(super) const SETTINGS: Settings = Settings {
    sign: Some(".github/hooks"),
    project_file: ".github/hooks/linchpin.json",
    local_file: None,
    user_folder: ".copilot",
    moved_by: Some(Moved { variable: "COPILOT_HOME", below: "" }),
    user_file: "hooks/linchpin.json",
    accepting: Some(Accepting {
        file: "config.json",
        by_hooks: false,
        demand: "headless, it reads a project's hooks only where you trust the folder",
        is_off,
    }),
    form: Form::Entries(Entries {
        hooks: &[
            Hook { event: "PreToolUse", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "PermissionRequest", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "PostToolUse", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "PostToolUseFailure", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "UserPromptSubmit", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "Stop", nesting: Nesting::Flat, timeout: 600 },
            Hook { event: "SubagentStart", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "SubagentStop", nesting: Nesting::Flat, timeout: 600 },
            Hook { event: "PreCompact", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "Notification", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "SessionStart", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "SessionEnd", nesting: Nesting::Flat, timeout: 10 },
        ],
        is_versioned: true,
        handler,
        problems,
    }),
};

fn handler(hook: &Hook, _scope: Scope, program: &str) -> Value {
    json!({
        "type": "command",
        "command": format!("{} hook copilot {}", shell_quoted(program), hook.event),
        "timeoutSec": hook.timeout,
    })
}

fn problems(settings: &Map<String, Value>) -> Vec<String> {
    let is_off = settings.get("disableAllHooks") == Some(&Value::Bool(true));
    is_off
        .then(|| "`disableAllHooks` is on, so Copilot calls none of the hooks in this file".to_owned())
        .into_iter()
        .collect()
}

fn is_off(config: &str) -> bool {
    let config: Value = serde_json::from_str(config).unwrap_or_default();
    config.get("disableAllHooks") == Some(&Value::Bool(true))
}
