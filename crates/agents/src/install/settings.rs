//! Locations of agents' settings, and the format of hooks in them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::acceptance::AcceptanceFile;
use super::handler::{Handler, Hook};
use super::module::Module;
use super::scope::SettingsScope;
use super::switch_file::SwitchFileSpec;
use crate::Agent;

/// Location and format of one agent's hooks.
pub(crate) struct Settings {
    /// Paths in a project that show that somebody uses the agent.
    pub project_markers: &'static [&'static str],
    /// The same in the home directory, in addition to the agent's own directory there.
    pub home_markers: &'static [&'static str],
    /// Relative to the project's root.
    pub project_file: &'static str,
    pub local_file: Option<&'static str>,
    /// The agent's directory, relative to the home directory.
    pub user_folder: &'static str,
    pub overridden_by: Option<FolderOverride>,
    /// Relative to the agent's directory.
    pub user_file: &'static str,
    pub acceptance: Option<AcceptanceFile>,
    /// What a person has to do after `install`, apart from accepting hooks.
    pub next_steps: Option<&'static str>,
    /// Other agents whose settings this agent reads too.
    pub also_reads: &'static [Agent],
    /// Other files in which hooks can be switched off.
    pub switch_files: &'static [SwitchFileSpec],
    pub form: SettingsForm,
}

/// An environment variable that overrides an agent's directory.
pub(crate) struct FolderOverride {
    pub variable: &'static str,
    /// The agent's directory relative to the variable's value; empty if the value is the agent's directory itself.
    pub below: &'static str,
}

pub(crate) enum SettingsForm {
    /// Entries in a JSON file, next to other hooks.
    Entries(Entries),
    /// A separate file with only Linchpin's code.
    Module(Module),
}

pub(crate) struct Entries {
    pub hooks: &'static [Hook],
    /// The file needs `"version": 1`.
    pub is_versioned: bool,
    pub handler: Handler,
    /// Finds settings by which all of the agent's hooks are switched off, also those in other files.
    pub switches: fn(&Map<String, Value>) -> Vec<String>,
    /// Finds settings that prevent the agent from calling the hooks of this file.
    pub faults: fn(&Map<String, Value>) -> Vec<String>,
}

impl Settings {
    /// The agent's directory, if a variable overrides it.
    fn moved(&self, lookup: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let moved = self.overridden_by.as_ref()?;
        let folder = PathBuf::from(lookup(moved.variable).filter(|folder| !folder.is_empty())?);
        Some(if moved.below.is_empty() { folder } else { folder.join(moved.below) })
    }

    /// The agent's directory.
    pub(super) fn own_folder(&self, home: &Path, lookup: &impl Fn(&str) -> Option<String>) -> PathBuf {
        self.moved(lookup).unwrap_or_else(|| home.join(self.user_folder))
    }
}

/// Returns the path of an agent's settings; none if it does not have this scope.
pub fn settings_path(
    agent: Agent,
    scope: SettingsScope,
    project: &Path,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> Option<PathBuf> {
    let settings = &agent.adapter().settings;
    match scope {
        SettingsScope::Project => Some(project.join(settings.project_file)),
        SettingsScope::Local => settings.local_file.map(|file| project.join(file)),
        SettingsScope::User => Some(settings.own_folder(home, &lookup).join(settings.user_file)),
    }
}

/// Returns a directory above an agent's settings that Linchpin never creates or deletes.
pub fn settings_root(
    agent: Agent,
    scope: SettingsScope,
    project: &Path,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> PathBuf {
    let moved = agent.adapter().settings.overridden_by.as_ref();
    let moved_folder = moved.and_then(|moved| lookup(moved.variable)).filter(|folder| !folder.is_empty());
    match (scope, moved_folder) {
        (SettingsScope::Project | SettingsScope::Local, _) => project.to_owned(),
        (SettingsScope::User, Some(folder)) => PathBuf::from(folder),
        (SettingsScope::User, None) => home.to_owned(),
    }
}

/// Returns paths that show that somebody uses the agent, if one of them exists.
pub fn marker_paths(
    agent: Agent,
    project: &Path,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> Vec<PathBuf> {
    let settings = &agent.adapter().settings;
    let in_project = settings.project_markers.iter().map(|sign| project.join(sign));
    let in_home = settings.home_markers.iter().map(|sign| home.join(sign));
    in_project.chain(in_home).chain([settings.own_folder(home, &lookup)]).collect()
}

/// Returns other agents whose settings this one reads too.
pub fn also_reads(agent: Agent) -> &'static [Agent] {
    agent.adapter().settings.also_reads
}

/// Returns what a person has to do after `install` in this scope.
pub fn next_steps(agent: Agent, scope: SettingsScope) -> Option<String> {
    let settings = &agent.adapter().settings;
    let acceptance = settings.acceptance.as_ref().filter(|acceptance| acceptance.is_for(scope));
    let accept = acceptance.map(|acceptance| format!("{}: {}", acceptance.demand, acceptance.how));
    accept.or_else(|| settings.next_steps.map(str::to_owned))
}

/// Returns the agents' directories that a variable overrides, each with its default such as `~/.claude`.
pub fn overridden_user_folders(lookup: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let moved = |agent: Agent| {
        let settings = &agent.adapter().settings;
        let folder = settings.moved(&lookup)?.to_str()?.to_owned();
        Some((folder, format!("~/{}", settings.user_folder)))
    };
    Agent::ALL.into_iter().filter_map(moved).collect()
}
