//! Cursor's `hooks.json`: a command line for a shell, and a version.
//!
//! Asked for is `preToolUse`, which every tool passes; the older events about one tool each would call a second time.

use serde_json::{Value, json};

use crate::Agent;
use crate::install::Nesting::Flat;
use crate::install::{Call, Entries, Field, Form, Handler, Hook, Settings, Timeout};

pub(super) const SETTINGS: Settings = Settings {
    project_signs: &[".cursor"],
    home_signs: &[],
    project_file: ".cursor/hooks.json",
    local_file: None,
    user_folder: ".cursor",
    moved_by: None,
    user_file: "hooks.json",
    accepting: None,
    afterwards: None,
    reads: &[Agent::Claude],
    switch_files: &[],
    form: Form::Entries(Entries {
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
        handler: Handler { is_typed: false, call: Call::Shell, timeout: Timeout::SECONDS, more },
        switches: |_| Vec::new(),
        faults: |_| Vec::new(),
    }),
};

fn more(hook: &Hook) -> Vec<Field> {
    match hook.event {
        "preToolUse" => vec![Field::fail_closed("failClosed", json!(true))],
        // How often a stop is held is for the rules to say.
        "stop" | "subagentStop" => {
            let without = ", so the agent ends by itself that a stop is held";
            vec![Field::new("loop_limit", Value::Null, without)]
        }
        _ => Vec::new(),
    }
}
