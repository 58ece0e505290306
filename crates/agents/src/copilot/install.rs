//! Copilot CLI's hook files: any number of them in a folder, so ours is one of its own. The events have Claude Code's
//! names, by which Copilot sends Claude Code's shape; where it does not, the command line says which event it is.
//!
//! Headless, Copilot reads a repository's hooks only where the folder is trusted. Its settings, in which hooks can be switched
//! off, are other files; of a repository, Claude Code's are among them.

use std::path::Path;

use serde_json::{Map, Value};

use crate::Agent;
use crate::install::Nesting::Flat;
use crate::install::{
    About, Accepting, Call, Entries, Form, Handler, Hook, Moved, Noted, Real, Settings, SettingsError, SettingsScope,
    SwitchFile, Timeout, json_values,
};

pub(super) const SETTINGS: Settings = Settings {
    project_signs: &[".github/hooks"],
    home_signs: &[],
    project_file: ".github/hooks/linchpin.json",
    local_file: None,
    user_folder: ".copilot",
    moved_by: Some(Moved { variable: "COPILOT_HOME", below: "" }),
    user_file: "hooks/linchpin.json",
    accepting: Some(Accepting {
        file: "config.json",
        moved_by: None,
        about: About::Project,
        demand: "headless, it reads a project's hooks only where you trust the folder",
        how: "open Copilot there once",
        read: trusted,
    }),
    afterwards: None,
    reads: &[Agent::Claude],
    switch_files: &[
        SwitchFile { scope: SettingsScope::User, file: "settings.json", read: switched_off },
        SwitchFile { scope: SettingsScope::User, file: "config.json", read: switched_off },
        SwitchFile { scope: SettingsScope::Project, file: ".github/copilot/settings.json", read: switched_off },
        SwitchFile { scope: SettingsScope::Project, file: ".github/copilot/settings.local.json", read: switched_off },
        SwitchFile { scope: SettingsScope::Project, file: ".claude/settings.json", read: switched_off },
        SwitchFile { scope: SettingsScope::Project, file: ".claude/settings.local.json", read: switched_off },
    ],
    form: Form::Entries(Entries {
        hooks: &[
            Hook::new("PreToolUse", Flat),
            Hook::new("PermissionRequest", Flat),
            Hook::new("PostToolUse", Flat),
            Hook::new("PostToolUseFailure", Flat),
            Hook::new("UserPromptSubmit", Flat),
            Hook::stop("Stop", Flat),
            Hook::new("SubagentStart", Flat),
            Hook::stop("SubagentStop", Flat),
            Hook::new("PreCompact", Flat),
            Hook::new("Notification", Flat),
            Hook::new("SessionStart", Flat),
            Hook::end("SessionEnd", Flat),
        ],
        is_versioned: true,
        handler: Handler {
            is_typed: true,
            call: Call::ShellWithEvent,
            timeout: Timeout { key: "timeoutSec", per_second: 1 },
            more: |_| Vec::new(),
        },
        switches,
        faults: |_| Vec::new(),
    }),
};

fn switches(settings: &Map<String, Value>) -> Vec<String> {
    let is_off = settings.get("disableAllHooks") == Some(&Value::Bool(true));
    is_off.then(|| "`disableAllHooks` is on, so Copilot does not call them".to_owned()).into_iter().collect()
}

fn switched_off(text: &str) -> Result<Vec<String>, SettingsError> {
    Ok(switches(&json_values(text)?))
}

/// What lies in a trusted folder is trusted too.
fn trusted(text: &str, project: &Path, real: Real<'_>) -> Result<Noted, SettingsError> {
    let config = json_values(text)?;
    let lists = ["trustedFolders", "trusted_folders"].into_iter().filter_map(|key| config.get(key)?.as_array());
    let mut folders = lists.flatten().filter_map(Value::as_str).map(Path::new);
    let project = real(project);
    // Everything would lie in a folder without a name.
    let is_trusted = folders.any(|folder| folder.is_absolute() && project.starts_with(real(folder)));
    Ok(if is_trusted { Noted::Accepted } else { Noted::Nothing })
}
