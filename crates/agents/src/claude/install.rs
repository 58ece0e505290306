//! Claude Code's settings. A hook is a program with a list of arguments, so no shell parses the program's path.
//!
//! No hook is installed for `WorktreeCreate`, because that hook would have to create the worktree, which Linchpin does
//! not do; for `FileChanged`, because that hook needs a list of file names; and for `MessageDisplay` and
//! `PostToolBatch`, because these events are very frequent.

use serde_json::{Map, Value, json};

use crate::install::Nesting::{Grouped, Matched};
use crate::install::{Call, DirectoryOverride, Entries, Field, Handler, Hook, Settings, SettingsForm, Timeout};

pub(super) const SETTINGS: Settings = Settings {
    project_markers: &[".claude"],
    home_markers: &[],
    project_file: ".claude/settings.json",
    local_file: Some(".claude/settings.local.json"),
    user_directory: ".claude",
    overridden_by: Some(DirectoryOverride { variable: "CLAUDE_CONFIG_DIR", below: "" }),
    user_file: "settings.json",
    acceptance: None,
    next_steps: None,
    also_reads: &[],
    switch_files: &[],
    form: SettingsForm::Entries(Entries {
        hooks: &[
            Hook::new("PreToolUse", Matched("*")),
            Hook::new("PermissionRequest", Matched("*")),
            Hook::new("PostToolUse", Matched("*")),
            Hook::new("PostToolUseFailure", Matched("*")),
            Hook::new("UserPromptSubmit", Grouped),
            Hook::stop("Stop", Grouped),
            Hook::new("SubagentStart", Grouped),
            Hook::stop("SubagentStop", Grouped),
            Hook::new("TaskCompleted", Grouped),
            Hook::new("PreCompact", Grouped),
            Hook::new("PostCompact", Grouped),
            Hook::new("Notification", Grouped),
            Hook::new("SessionStart", Grouped),
            Hook::end("SessionEnd", Grouped),
        ],
        is_versioned: false,
        handler: Handler { is_typed: true, call: Call::Exec, timeout: Timeout::SECONDS, agent_fields },
        switches,
        faults: |_| Vec::new(),
    }),
};

fn agent_fields(hook: &Hook) -> Vec<Field> {
    let is_call = hook.event == "PreToolUse";
    is_call.then(|| Field::fail_closed("onFailure", json!("block"))).into_iter().collect()
}

fn switches(settings: &Map<String, Value>) -> Vec<String> {
    let on = |key: &str| settings.get(key) == Some(&Value::Bool(true));
    let mut switches = Vec::new();
    if on("disableAllHooks") {
        switches.push("`disableAllHooks` is on, so Claude Code calls no hooks".to_owned());
    }
    if on("allowManagedHooksOnly") {
        switches.push("`allowManagedHooksOnly` is on, so Claude Code calls only managed hooks".to_owned());
    }
    switches
}
