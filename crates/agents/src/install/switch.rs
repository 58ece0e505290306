//! Files of an agent's in which no hooks of ours are, but by which hooks can be switched off.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::document::{Document, SettingsError};
use super::entries;
use super::scope::SettingsScope;
use crate::Agent;

pub(crate) struct SwitchFile {
    /// From the project's root, or in the agent's folder for the user's.
    pub scope: SettingsScope,
    pub file: &'static str,
    /// What in it keeps the agent from calling hooks.
    pub read: fn(&str) -> Result<Vec<String>, SettingsError>,
}

/// Where one agent's switches are.
pub struct Switches {
    pub file: PathBuf,
    read: fn(&str) -> Result<Vec<String>, SettingsError>,
}

impl Switches {
    /// What in the file keeps the agent from calling hooks.
    pub fn look(&self, text: &str) -> Result<Vec<String>, SettingsError> {
        (self.read)(text)
    }
}

pub fn switches(agent: Agent, project: &Path, home: &Path, lookup: impl Fn(&str) -> Option<String>) -> Vec<Switches> {
    let settings = &agent.adapter().settings;
    let place = |SwitchFile { scope, file, read }: &SwitchFile| {
        let folder =
            if *scope == SettingsScope::User { settings.own_folder(home, &lookup) } else { project.to_owned() };
        Switches { file: folder.join(file), read: *read }
    };
    settings.switch_files.iter().map(place).collect()
}

/// Everything in a JSON file, by value; nothing where it is blank.
pub(crate) fn json_values(text: &str) -> Result<Map<String, Value>, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    entries::values(&Document::new(text))
}
