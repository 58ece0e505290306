//! Cursor's `hooks.json`. Its hooks are command lines for a shell, and the file must contain the version of its format.
//!
//! Before a call of any tool, Cursor calls the hook for `preToolUse`. Cursor also has older events for single tools,
//! such as `beforeShellExecution`. No hooks are installed for the older events, because Cursor would call two hooks for
//! the same call.

use serde_json::{Value, json};

use crate::Agent;
use crate::install::Nesting::Flat;
use crate::install::{Call, Entries, Field, Handler, Hook, Settings, SettingsForm, Timeout};

pub(super) const SETTINGS: Settings = Settings {
    project_markers: &[".cursor"],
    home_markers: &[],
    project_file: ".cursor/hooks.json",
    local_file: None,
    user_directory: ".cursor",
    overridden_by: None,
    user_file: "hooks.json",
    acceptance: None,
    next_steps: None,
    also_reads: &[Agent::Claude],
    switch_files: &[],
    form: SettingsForm::Entries(Entries {
        hooks: &[
            Hook::new("preToolUse", Flat),
            Hook::new("postToolUse", Flat),
            Hook::new("postToolUseFailure", Flat),
            Hook::new("beforeSubmitPrompt", Flat),
            Hook::stop("stop", Flat),
            Hook::new("subagentStart", Flat),
            Hook::stop("subagentStop", Flat),
            Hook::new("preCompact", Flat),
            Hook::new("sessionStart", Flat),
            Hook::end("sessionEnd", Flat),
        ],
        is_versioned: true,
        handler: Handler { is_typed: false, call: Call::Shell, timeout: Timeout::SECONDS, agent_fields },
        switches: |_| Vec::new(),
        faults: |_| Vec::new(),
    }),
};

fn agent_fields(hook: &Hook) -> Vec<Field> {
    match hook.event {
        "preToolUse" => vec![Field::fail_closed("failClosed", json!(true))],
        // `null` switches off Cursor's own limit for the number of holds, because rules decide how often a stop is
        // held.
        "stop" | "subagentStop" => {
            let without = ", so after some holds the agent stops anyway";
            vec![Field::new("loop_limit", Value::Null, without)]
        }
        _ => Vec::new(),
    }
}
