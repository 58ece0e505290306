//! Gemini CLI's `settings.json`. Its hooks are command lines for a shell, and timeouts are in milliseconds.
//!
//! No hooks are installed for `PreCompress`, `BeforeModel`, `AfterModel` and `BeforeToolSelection`, because these
//! events occur at every request to the model, or even at every piece of a response.

use serde_json::{Map, Value, json};

use super::trusted_folders;
use crate::install::Nesting::{Grouped, Matched};
use crate::install::{
    AcceptanceFile, AcceptanceSubject, Call, DirectoryOverride, Entries, Field, Handler, Hook, Settings, SettingsForm,
    Timeout,
};

pub(super) const SETTINGS: Settings = Settings {
    project_markers: &[".gemini"],
    home_markers: &[],
    project_file: ".gemini/settings.json",
    local_file: None,
    user_directory: ".gemini",
    overridden_by: Some(DirectoryOverride { variable: "GEMINI_CLI_HOME", below: ".gemini" }),
    user_file: "settings.json",
    acceptance: Some(AcceptanceFile {
        file: "trustedFolders.json",
        overridden_by: Some("GEMINI_CLI_TRUSTED_FOLDERS_PATH"),
        subject: AcceptanceSubject::Project,
        requirement: "if folder trust is on, it reads a project's settings only in folders that you trust",
        how: "open Gemini CLI there once",
        read: trusted_folders::read,
    }),
    next_steps: None,
    also_reads: &[],
    switch_files: &[],
    form: SettingsForm::Entries(Entries {
        hooks: &[
            Hook::new("BeforeTool", Matched("*")),
            Hook::new("AfterTool", Matched("*")),
            Hook::new("BeforeAgent", Grouped),
            Hook::stop("AfterAgent", Grouped),
            Hook::new("Notification", Grouped),
            Hook::new("SessionStart", Grouped),
            Hook::end("SessionEnd", Grouped),
        ],
        is_versioned: false,
        handler: Handler {
            is_typed: true,
            call: Call::Shell,
            timeout: Timeout { key: "timeout", per_second: 1000 },
            agent_fields: name_field,
        },
        switches,
        faults: |_| Vec::new(),
    }),
};

const NAME: &str = "linchpin";

fn name_field(_hook: &Hook) -> Vec<Field> {
    vec![Field::new("name", json!(NAME), ", so `hooksConfig.disabled` may switch it off without a warning")]
}

fn switches(settings: &Map<String, Value>) -> Vec<String> {
    let mut switches = Vec::new();
    let config = settings.get("hooksConfig");
    if config.and_then(|config| config.get("enabled")) == Some(&Value::Bool(false)) {
        switches.push("`hooksConfig.enabled` is off, so Gemini CLI calls no hooks".to_owned());
    }
    let disabled = config.and_then(|config| config.get("disabled")?.as_array()).into_iter().flatten();
    for name in disabled.filter_map(Value::as_str).filter(|name| name.contains(NAME)) {
        switches.push(format!("`hooksConfig.disabled` names `{name}`, so Gemini CLI does not call it"));
    }
    switches
}
