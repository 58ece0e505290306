//! Claude Code's settings: exec form, so that no shell reads the path.
//!
//! Not asked for: `WorktreeCreate`, whose hook has to make the worktree (with ours, the tool fails); `FileChanged`,
//! which needs a list of names; and what floods (`MessageDisplay`, `PostToolBatch`).

use serde_json::{Map, Value, json};

use crate::install::{Entries, Form, Hook, Moved, Nesting, Scope, Settings};

pub(super) const SETTINGS: Settings = Settings {
    sign: Some(".claude"),
    project_file: ".claude/settings.json",
    local_file: Some(".claude/settings.local.json"),
    user_folder: ".claude",
    moved_by: Some(Moved { variable: "CLAUDE_CONFIG_DIR", below: "" }),
    user_file: "settings.json",
    accepting: None,
    form: Form::Entries(Entries {
        hooks: &[
            Hook { event: "PreToolUse", nesting: Nesting::Matched("*"), timeout: 60 },
            Hook { event: "PermissionRequest", nesting: Nesting::Matched("*"), timeout: 60 },
            Hook { event: "PostToolUse", nesting: Nesting::Matched("*"), timeout: 60 },
            Hook { event: "PostToolUseFailure", nesting: Nesting::Matched("*"), timeout: 60 },
            Hook { event: "UserPromptSubmit", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "Stop", nesting: Nesting::Grouped, timeout: 600 },
            Hook { event: "SubagentStart", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "SubagentStop", nesting: Nesting::Grouped, timeout: 600 },
            Hook { event: "TaskCompleted", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "PreCompact", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "PostCompact", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "Notification", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "SessionStart", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "SessionEnd", nesting: Nesting::Grouped, timeout: 10 },
        ],
        is_versioned: false,
        handler,
        problems,
    }),
};

fn handler(hook: &Hook, scope: Scope, program: &str) -> Value {
    let mut handler =
        json!({ "type": "command", "command": program, "args": ["hook", "claude"], "timeout": hook.timeout });
    // Committed, the switch would lock out everyone who has no Linchpin.
    let fail_closed = hook.event == "PreToolUse" && scope != Scope::Project;
    if fail_closed && let Value::Object(fields) = &mut handler {
        fields.insert("onFailure".to_owned(), json!("block"));
    }
    handler
}

fn problems(settings: &Map<String, Value>) -> Vec<String> {
    let on = |key: &str| settings.get(key) == Some(&Value::Bool(true));
    let mut problems = Vec::new();
    if on("disableAllHooks") {
        problems.push("`disableAllHooks` is on, so Claude Code calls no hooks".to_owned());
    }
    if on("allowManagedHooksOnly") {
        problems.push("`allowManagedHooksOnly` is on, so Claude Code calls only managed hooks".to_owned());
    }
    problems
}
