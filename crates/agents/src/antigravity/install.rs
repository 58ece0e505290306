//! Antigravity's `hooks.json`: under a name, which is any, lie events. Ours is `hooks`, as others call theirs.
//!
//! A key that it does not know it passes over in silence, and a file that it does not understand too.

use serde_json::{Map, Value, json};

use crate::install::{Entries, Form, Hook, Nesting, Scope, Settings};
use crate::protocol::tools::shell_quoted;

pub(super) const SETTINGS: Settings = Settings {
    sign: None,
    project_file: ".agents/hooks.json",
    local_file: None,
    user_folder: ".gemini/config",
    moved_by: None,
    user_file: "hooks.json",
    accepting: None,
    form: Form::Entries(Entries {
        hooks: &[
            Hook { event: "PreToolUse", nesting: Nesting::Matched(""), timeout: 60 },
            Hook { event: "PostToolUse", nesting: Nesting::Matched(""), timeout: 60 },
            Hook { event: "Stop", nesting: Nesting::Flat, timeout: 600 },
        ],
        is_versioned: false,
        handler,
        problems,
    }),
};

fn handler(hook: &Hook, _scope: Scope, program: &str) -> Value {
    json!({
        "type": "command",
        "command": format!("{} hook antigravity {}", shell_quoted(program), hook.event),
        "timeout": hook.timeout,
    })
}

fn problems(settings: &Map<String, Value>) -> Vec<String> {
    let is_off = settings.get("hooks").and_then(|hooks| hooks.get("enabled")) == Some(&Value::Bool(false));
    is_off.then(|| "`hooks.enabled` is off, so Antigravity calls none of them".to_owned()).into_iter().collect()
}
