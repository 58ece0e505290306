//! Copilot CLI's hook files. Copilot reads all files in the directory for hooks, so Linchpin has a file of its own
//! there. For hooks with Claude Code's names of events, Copilot sends payloads in Claude Code's format. Some payloads
//! do not contain the event's name, so each hook's command line contains it.
//!
//! In headless mode, Copilot reads a repository's hooks only if the repository is in a directory that the person
//! trusts. Settings in other files can switch off hooks, including a repository's settings for Claude Code.

use std::path::Path;

use serde_json::{Map, Value};

use crate::Agent;
use crate::install::Nesting::Flat;
use crate::install::{
    AcceptanceFile, AcceptanceRecord, AcceptanceSubject, Call, Canonicalize, DirectoryOverride, Entries, Handler, Hook,
    Settings, SettingsError, SettingsForm, SettingsScope, SwitchFileSpec, Timeout, json_values,
};

pub(super) const SETTINGS: Settings = Settings {
    project_markers: &[".github/hooks"],
    home_markers: &[],
    project_file: ".github/hooks/linchpin.json",
    local_file: None,
    user_directory: ".copilot",
    overridden_by: Some(DirectoryOverride { variable: "COPILOT_HOME", below: "" }),
    user_file: "hooks/linchpin.json",
    acceptance: Some(AcceptanceFile {
        file: "config.json",
        overridden_by: None,
        subject: AcceptanceSubject::Project,
        requirement: "in headless mode it reads a project's hooks only if you trust the folder",
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

/// Reads whether the project is in a directory that the person trusts.
fn trusted(text: &str, project: &Path, canonicalize: Canonicalize<'_>) -> Result<AcceptanceRecord, SettingsError> {
    let config = json_values(text)?;
    let lists = ["trustedFolders", "trusted_folders"].into_iter().filter_map(|key| config.get(key)?.as_array());
    let mut directories = lists.flatten().filter_map(Value::as_str).map(Path::new);
    let project = canonicalize(project);
    // Only absolute paths count. In particular, an empty path would be a prefix of every path.
    let is_trusted =
        directories.any(|directory| directory.is_absolute() && project.starts_with(canonicalize(directory)));
    Ok(if is_trusted { AcceptanceRecord::Accepted } else { AcceptanceRecord::Absent })
}
