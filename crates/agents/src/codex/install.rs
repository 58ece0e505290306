//! Codex' `hooks.json`. Its hooks are command lines for a shell, and `hooks` must be its only top-level key.
//!
//! Codex runs a hook only after the person has accepted it with the command `/hooks`. After every change of the hook,
//! the person must accept it again. Codex records the acceptance in its `config.toml`. The functions here read that
//! file line by line, without a TOML parser, so they do not recognize every notation.

use std::path::Path;

use serde_json::{Map, Value};

use crate::install::Nesting::{Grouped, Matched};
use crate::install::{
    AcceptanceFile, AcceptanceRecord, AcceptanceSubject, Call, Canonicalize, DirectoryOverride, Entries, Handler, Hook,
    Settings, SettingsError, SettingsForm, SettingsScope, SwitchFileSpec, Timeout,
};

pub(super) const SETTINGS: Settings = Settings {
    project_markers: &[".codex"],
    home_markers: &[],
    project_file: ".codex/hooks.json",
    local_file: None,
    user_directory: ".codex",
    overridden_by: Some(DirectoryOverride { variable: "CODEX_HOME", below: "" }),
    user_file: "hooks.json",
    acceptance: Some(AcceptanceFile {
        file: "config.toml",
        overridden_by: None,
        subject: AcceptanceSubject::Hooks,
        requirement: "it runs a hook only after you accept it, and you must accept it again after every change",
        how: "open Codex and type /hooks",
        read: accepted,
    }),
    next_steps: None,
    also_reads: &[],
    switch_files: &[
        SwitchFileSpec { scope: SettingsScope::Project, file: ".codex/config.toml", read: switched_off },
        SwitchFileSpec { scope: SettingsScope::User, file: "config.toml", read: switched_off },
    ],
    form: SettingsForm::Entries(Entries {
        hooks: &[
            Hook::new("PreToolUse", Matched("*")),
            Hook::new("PermissionRequest", Matched("*")),
            Hook::new("PostToolUse", Matched("*")),
            Hook::new("UserPromptSubmit", Grouped),
            Hook::stop("Stop", Grouped),
            Hook::new("SubagentStart", Grouped),
            Hook::stop("SubagentStop", Grouped),
            Hook::new("PreCompact", Grouped),
            Hook::new("PostCompact", Grouped),
            Hook::new("SessionStart", Grouped),
            // The maximum timeout that Codex allows at the end of a session.
            Hook { timeout: 3, ..Hook::end("SessionEnd", Grouped) },
        ],
        is_versioned: false,
        handler: Handler { is_typed: true, call: Call::Shell, timeout: Timeout::SECONDS, agent_fields: |_| Vec::new() },
        switches: |_| Vec::new(),
        faults,
    }),
};

fn faults(settings: &Map<String, Value>) -> Vec<String> {
    let unknown = settings.keys().filter(|key| *key != "hooks");
    unknown.map(|key| format!("Codex rejects the whole file because of the key `{key}`")).collect()
}

/// Returns the lines of `config.toml`, without white space and comments. Each line comes with the header line of its
/// TOML table, from which comments are not removed.
fn settings(config: &str) -> impl Iterator<Item = (&str, String)> {
    let mut table = "";
    config.lines().map(str::trim).map(move |line| {
        if line.starts_with('[') {
            table = line;
        }
        (table, line.split('#').next().unwrap_or_default().split_whitespace().collect())
    })
}

#[expect(clippy::unnecessary_wraps, reason = "other agents' files can be broken")]
fn switched_off(config: &str) -> Result<Vec<String>, SettingsError> {
    let is_off = settings(config).any(|(table, setting)| {
        setting == "features.hooks=false" || (table.starts_with("[features]") && setting == "hooks=false")
    });
    Ok(is_off.then(|| "hooks are switched off".to_owned()).into_iter().collect())
}

/// Reads whether the person has accepted hooks of the settings file `hooks`. For each accepted hook, `config.toml` has
/// a table; the table's name contains the path of the settings file and the position of the hook in the settings file.
/// One such table is enough for `Accepted`, but if one of the hooks is switched off, the result is `Refused`.
#[expect(clippy::unnecessary_wraps, reason = "other agents' files can be broken")]
fn accepted(config: &str, hooks: &Path, _canonicalize: Canonicalize<'_>) -> Result<AcceptanceRecord, SettingsError> {
    let hooks = hooks.to_string_lossy();
    let starts = [format!("[hooks.state.\"{hooks}:"), format!("[hooks.state.'{hooks}:")];
    let is_for_hooks = |table: &str| starts.iter().any(|start| table.starts_with(start.as_str()));
    let mut record = AcceptanceRecord::Absent;
    for (_, setting) in settings(config).filter(|(table, _)| is_for_hooks(table)) {
        if setting == "enabled=false" {
            return Ok(AcceptanceRecord::Refused(
                "some of the hooks are switched off, so it does not call them".to_owned(),
            ));
        }
        record = AcceptanceRecord::Accepted;
    }
    Ok(record)
}
