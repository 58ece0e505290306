//! Files of an agent that contain no hooks, but can switch hooks off.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::document::{Document, SettingsError};
use super::entries;
use super::scope::SettingsScope;
use crate::Agent;

pub(crate) struct SwitchFileSpec {
    /// Determines the directory: the project's root, or the agent's directory for user settings.
    pub scope: SettingsScope,
    pub file: &'static str,
    /// Finds settings by which hooks are switched off.
    pub read: fn(&str) -> Result<Vec<String>, SettingsError>,
}

/// A file that can switch hooks off.
pub struct SwitchFile {
    pub file: PathBuf,
    read: fn(&str) -> Result<Vec<String>, SettingsError>,
}

impl SwitchFile {
    /// Returns the settings by which hooks are switched off.
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
        let folder =
            if *scope == SettingsScope::User { settings.own_folder(home, &lookup) } else { project.to_owned() };
        SwitchFile { file: folder.join(file), read: *read }
    };
    settings.switch_files.iter().map(place).collect()
}

/// Returns the contents of a JSON file by value; an empty object if the file is blank.
pub(crate) fn json_values(text: &str) -> Result<Map<String, Value>, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    entries::values(&Document::new(text))
}
