//! Antigravity's `hooks.json`: under a name, which is any, lie events. Ours is `hooks`, as others call theirs.
//!
//! A key that it does not know it passes over in silence, and a file that it does not understand too. `.agents` alone is no
//! sign of it: other agents keep their skills there.

use serde_json::{Map, Value};

use crate::install::Nesting::{Flat, Matched};
use crate::install::{Call, Entries, Form, Handler, Hook, Settings, Timeout};

pub(super) const SETTINGS: Settings = Settings {
    project_signs: &[".agents/hooks.json", ".agents/rules", ".agents/workflows"],
    home_signs: &[".gemini/antigravity", ".gemini/antigravity-cli"],
    project_file: ".agents/hooks.json",
    local_file: None,
    user_folder: ".gemini/config",
    moved_by: None,
    user_file: "hooks.json",
    accepting: None,
    afterwards: None,
    reads: &[],
    switch_files: &[],
    form: Form::Entries(Entries {
        hooks: &[Hook::new("PreToolUse", Matched("")), Hook::new("PostToolUse", Matched("")), Hook::stop("Stop", Flat)],
        is_versioned: false,
        handler: Handler {
            is_typed: true,
            call: Call::ShellWithEvent,
            timeout: Timeout::SECONDS,
            more: |_| Vec::new(),
        },
        switches: |_| Vec::new(),
        faults,
    }),
};

fn faults(settings: &Map<String, Value>) -> Vec<String> {
    let is_off = settings.get("hooks").and_then(|hooks| hooks.get("enabled")) == Some(&Value::Bool(false));
    is_off.then(|| "`hooks.enabled` is off, so Antigravity calls none of them".to_owned()).into_iter().collect()
}
