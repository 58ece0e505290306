//! Copilot CLI's hook files: a directory of any number of files, so Linchpin has its own. With Claude Code's names of
//! events, Copilot sends Claude Code's format. For events that it sends without their name, the command line names the
//! event.
//!
//! In headless mode, Copilot reads a repository's hooks only in trusted directories. Hooks can be switched off in other
//! settings files, including a repository's Claude Code settings.

use std::path::Path;

use serde_json::{Map, Value};

use crate::Agent;
use crate::install::Nesting::Flat;
use crate::install::{
    AcceptanceFile, AcceptanceRecord, AcceptanceSubject, Call, Canonicalize, Entries, FolderOverride, Handler, Hook,
    Settings, SettingsError, SettingsForm, SettingsScope, SwitchFileSpec, Timeout, json_values,
};

pub(super) const SETTINGS: Settings = Settings {
    project_markers: &[".github/hooks"],
    home_markers: &[],
    project_file: ".github/hooks/linchpin.json",
    local_file: None,
    user_folder: ".copilot",
    overridden_by: Some(FolderOverride { variable: "COPILOT_HOME", below: "" }),
    user_file: "hooks/linchpin.json",
    acceptance: Some(AcceptanceFile {
        file: "config.json",
        overridden_by: None,
        subject: AcceptanceSubject::Project,
        demand: "in headless mode it reads a project's hooks only if you trust the folder",
        how: "open Copilot once in that folder",
        read: trusted,
    }),
    next_steps: None,
    also_reads: &[Agent::Claude],
    switch_files: &[
        SwitchFileSpec { scope: SettingsScope::User, file: "settings.json", read: switched_off },
        SwitchFileSpec { scope: SettingsScope::User, file: "config.json", read: switched_off },
        SwitchFileSpec { scope: SettingsScope::Project, file: ".github/copilot/settings.json", read: switched_off },
        SwitchFileSpec {
            scope: SettingsScope::Project,
            file: ".github/copilot/settings.local.json",
            read: switched_off,
        },
        SwitchFileSpec { scope: SettingsScope::Project, file: ".claude/settings.json", read: switched_off },
        SwitchFileSpec { scope: SettingsScope::Project, file: ".claude/settings.local.json", read: switched_off },
    ],
    form: SettingsForm::Entries(Entries {
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
            agent_fields: |_| Vec::new(),
        },
        switches,
        faults: |_| Vec::new(),
    }),
};

fn switches(settings: &Map<String, Value>) -> Vec<String> {
    let is_off = settings.get("disableAllHooks") == Some(&Value::Bool(true));
    is_off.then(|| "`disableAllHooks` is on, so Copilot calls no hooks".to_owned()).into_iter().collect()
}

fn switched_off(text: &str) -> Result<Vec<String>, SettingsError> {
    Ok(switches(&json_values(text)?))
}

/// A trusted directory includes everything in it.
fn trusted(text: &str, project: &Path, canonicalize: Canonicalize<'_>) -> Result<AcceptanceRecord, SettingsError> {
    let config = json_values(text)?;
    let lists = ["trustedFolders", "trusted_folders"].into_iter().filter_map(|key| config.get(key)?.as_array());
    let mut folders = lists.flatten().filter_map(Value::as_str).map(Path::new);
    let project = canonicalize(project);
    // Skips relative entries: every path would be within the empty one.
    let is_trusted = folders.any(|folder| folder.is_absolute() && project.starts_with(canonicalize(folder)));
    Ok(if is_trusted { AcceptanceRecord::Accepted } else { AcceptanceRecord::Absent })
}
