//! Files that can switch off an agent's hooks, apart from the file with Linchpin's hooks.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::document::{Document, SettingsError};
use super::entries;
use super::scope::SettingsScope;
use crate::Agent;

pub(crate) struct SwitchFileSpec {
    /// Determines the directory of the file: the agent's directory for `User`, and the project's root for the other
    /// scopes.
    pub scope: SettingsScope,
    pub file: &'static str,
    /// Describes the settings in the file's text by which hooks are switched off.
    pub read: fn(&str) -> Result<Vec<String>, SettingsError>,
}

/// A file that can switch hooks off.
pub struct SwitchFile {
    pub file: PathBuf,
    read: fn(&str) -> Result<Vec<String>, SettingsError>,
}

impl SwitchFile {
    /// Describes the settings by which hooks are switched off. `text`: the contents of the file.
    pub fn disabling_settings(&self, text: &str) -> Result<Vec<String>, SettingsError> {
        (self.read)(text)
    }
}

pub fn switch_files(
    agent: Agent,
    project: &Path,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> Vec<SwitchFile> {
    let settings = &agent.adapter().settings;
    let place = |SwitchFileSpec { scope, file, read }: &SwitchFileSpec| {
        let directory =
            if *scope == SettingsScope::User { settings.own_directory(home, &lookup) } else { project.to_owned() };
        SwitchFile { file: directory.join(file), read: *read }
    };
    settings.switch_files.iter().map(place).collect()
}

/// Parses the contents of a JSON file; an empty object if the file is blank.
pub(crate) fn json_values(text: &str) -> Result<Map<String, Value>, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    entries::values(&Document::new(text))
}
