//! Claude Code's settings: exec form, so that no shell reads the path.
//!
//! Not asked for: `WorktreeCreate`, whose hook has to make the worktree (with ours, the tool fails); `FileChanged`,
//! which needs a list of names; and what floods (`MessageDisplay`, `PostToolBatch`).

use serde_json::{Map, Value, json};

use crate::install::{Hook, Scope, Settings};

pub(super) const SETTINGS: Settings = Settings {
    project_file: ".claude/settings.json",
    local_file: Some(".claude/settings.local.json"),
    user_folder: ".claude",
    user_folder_variable: "CLAUDE_CONFIG_DIR",
    user_file: "settings.json",
    hooks: &[
        Hook { event: "PreToolUse", has_matcher: true, timeout: 60 },
        Hook { event: "PermissionRequest", has_matcher: true, timeout: 60 },
        Hook { event: "PostToolUse", has_matcher: true, timeout: 60 },
        Hook { event: "PostToolUseFailure", has_matcher: true, timeout: 60 },
        Hook { event: "UserPromptSubmit", has_matcher: false, timeout: 60 },
        Hook { event: "Stop", has_matcher: false, timeout: 600 },
        Hook { event: "SubagentStart", has_matcher: false, timeout: 60 },
        Hook { event: "SubagentStop", has_matcher: false, timeout: 600 },
        Hook { event: "TaskCompleted", has_matcher: false, timeout: 60 },
        Hook { event: "PreCompact", has_matcher: false, timeout: 60 },
        Hook { event: "PostCompact", has_matcher: false, timeout: 60 },
        Hook { event: "Notification", has_matcher: false, timeout: 60 },
        Hook { event: "SessionStart", has_matcher: false, timeout: 60 },
        Hook { event: "SessionEnd", has_matcher: false, timeout: 10 },
    ],
    handler,
    problems,
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
