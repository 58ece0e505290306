//! Codex's `hooks.json`: a command line for a shell, and nothing at the top level but `hooks`.
//!
//! Codex runs a hook only after the person has accepted it in `/hooks`, and again after every change. It notes that in its
//! `config.toml`, of which only lines are read here: whoever writes it in another way that TOML has is not found out.

use std::path::Path;

use serde_json::{Map, Value};

use crate::install::Nesting::{Grouped, Matched};
use crate::install::{
    About, Accepting, Call, Entries, Form, Handler, Hook, Moved, Noted, Real, Settings, SettingsError, SettingsScope,
    SwitchFile, Timeout,
};

pub(super) const SETTINGS: Settings = Settings {
    project_signs: &[".codex"],
    home_signs: &[],
    project_file: ".codex/hooks.json",
    local_file: None,
    user_folder: ".codex",
    moved_by: Some(Moved { variable: "CODEX_HOME", below: "" }),
    user_file: "hooks.json",
    accepting: Some(Accepting {
        file: "config.toml",
        moved_by: None,
        about: About::Hooks,
        demand: "it runs hooks only after you accept them, and again after every change",
        how: "open Codex and type /hooks",
        read: accepted,
    }),
    afterwards: None,
    reads: &[],
    switch_files: &[
        SwitchFile { scope: SettingsScope::Project, file: ".codex/config.toml", read: switched_off },
        SwitchFile { scope: SettingsScope::User, file: "config.toml", read: switched_off },
    ],
    form: Form::Entries(Entries {
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
            // Codex waits no longer than this at the end of a session.
            Hook { timeout: 3, ..Hook::end("SessionEnd", Grouped) },
        ],
        is_versioned: false,
        handler: Handler { is_typed: true, call: Call::Shell, timeout: Timeout::SECONDS, more: |_| Vec::new() },
        switches: |_| Vec::new(),
        faults,
    }),
};

fn faults(settings: &Map<String, Value>) -> Vec<String> {
    let unknown = settings.keys().filter(|key| *key != "hooks");
    unknown.map(|key| format!("Codex rejects the whole file because of the key `{key}`")).collect()
}

/// Each setting that has a line of its own, without spaces, and the table that it is in.
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
        setting == "features.hooks=false" || (table == "[features]" && setting == "hooks=false")
    });
    Ok(is_off.then(|| "hooks are switched off".to_owned()).into_iter().collect())
}

/// Each hook that was accepted has a table that is named for the file it is in, and for its place there.
#[expect(clippy::unnecessary_wraps, reason = "other agents' files can be broken")]
fn accepted(config: &str, hooks: &Path, _real: Real<'_>) -> Result<Noted, SettingsError> {
    let hooks = hooks.to_string_lossy();
    let starts = [format!("[hooks.state.\"{hooks}:"), format!("[hooks.state.'{hooks}:")];
    let is_about = |table: &str| starts.iter().any(|start| table.starts_with(start.as_str()));
    let mut noted = Noted::Nothing;
    for (_, setting) in settings(config).filter(|(table, _)| is_about(table)) {
        if setting == "enabled=false" {
            return Ok(Noted::Refused("some of the hooks are switched off, so it does not call them".to_owned()));
        }
        noted = Noted::Accepted;
    }
    Ok(noted)
}
