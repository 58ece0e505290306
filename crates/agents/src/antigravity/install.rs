//! Antigravity's `hooks.json`. Its top-level keys are arbitrary names; the value of each is an object of events with
//! their hooks. Linchpin uses the name `hooks`, because the settings of other agents have that key.
//!
//! Antigravity silently ignores unknown keys and files that it cannot parse. A directory `.agents` alone does not show
//! that somebody uses Antigravity, because other agents keep their skills there.

use serde_json::{Map, Value};

use crate::install::Nesting::{Flat, Matched};
use crate::install::{Call, Entries, Handler, Hook, Settings, SettingsForm, Timeout};

pub(super) const SETTINGS: Settings = Settings {
    project_markers: &[".agents/hooks.json", ".agents/rules", ".agents/workflows"],
    home_markers: &[".gemini/antigravity", ".gemini/antigravity-cli"],
    project_file: ".agents/hooks.json",
    local_file: None,
    user_directory: ".gemini/config",
    overridden_by: None,
    user_file: "hooks.json",
    acceptance: None,
    next_steps: None,
    also_reads: &[],
    switch_files: &[],
    form: SettingsForm::Entries(Entries {
        hooks: &[Hook::new("PreToolUse", Matched("")), Hook::new("PostToolUse", Matched("")), Hook::stop("Stop", Flat)],
        is_versioned: false,
        handler: Handler {
            is_typed: true,
            call: Call::ShellWithEvent,
            timeout: Timeout::SECONDS,
            agent_fields: |_| Vec::new(),
        },
        switches: |_| Vec::new(),
        faults,
    }),
};

fn faults(settings: &Map<String, Value>) -> Vec<String> {
    let is_off = settings.get("hooks").and_then(|hooks| hooks.get("enabled")) == Some(&Value::Bool(false));
    is_off.then(|| "`hooks.enabled` is off, so Antigravity calls no hooks".to_owned()).into_iter().collect()
}
