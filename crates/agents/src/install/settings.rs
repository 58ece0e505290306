//! Locations of agents' settings, and the format of hooks in them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::acceptance::AcceptanceFile;
use super::handler::{Handler, Hook};
use super::module::Module;
use super::scope::SettingsScope;
use super::switch_file::SwitchFileSpec;
use crate::Agent;

/// The location and the format of one agent's hooks.
pub(crate) struct Settings {
    /// Paths in a project that show that somebody uses the agent.
    pub project_markers: &'static [&'static str],
    /// Paths in the home directory that show that somebody uses the agent. The agent's own directory there shows that
    /// too, and is not listed.
    pub home_markers: &'static [&'static str],
    /// The path of a project's settings, relative to the project's root.
    pub project_file: &'static str,
    pub local_file: Option<&'static str>,
    /// The agent's directory, relative to the home directory.
    pub user_directory: &'static str,
    pub overridden_by: Option<DirectoryOverride>,
    /// The path of the user's settings, relative to the agent's directory.
    pub user_file: &'static str,
    pub acceptance: Option<AcceptanceFile>,
    /// What a person has to do after `install`, apart from accepting hooks.
    pub next_steps: Option<&'static str>,
    /// Other agents whose settings this agent reads too.
    pub also_reads: &'static [Agent],
    /// Other files whose settings can switch off hooks.
    pub switch_files: &'static [SwitchFileSpec],
    pub form: SettingsForm,
}

/// An environment variable that overrides an agent's directory.
pub(crate) struct DirectoryOverride {
    pub variable: &'static str,
    /// The agent's directory relative to the variable's value; empty if the value is the agent's directory itself.
    pub below: &'static str,
}

pub(crate) enum SettingsForm {
    /// Hooks are entries in a JSON file, which may contain hooks of other programs too.
    Entries(Entries),
    /// Instead of hooks, the agent loads a separate file with only Linchpin's code.
    Module(Module),
}

pub(crate) struct Entries {
    pub hooks: &'static [Hook],
    /// True if the file needs `"version": 1`.
    pub is_versioned: bool,
    pub handler: Handler,
    /// Describes the settings in the file that switch off hooks of the agent, including hooks in other files.
    pub switches: fn(&Map<String, Value>) -> Vec<String>,
    /// Describes the settings in the file that prevent the agent from calling the hooks of this file.
    pub faults: fn(&Map<String, Value>) -> Vec<String>,
}

impl Settings {
    /// Returns the agent's directory if an environment variable overrides it, and `None` otherwise.
    fn overridden_directory(&self, lookup: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let directory_override = self.overridden_by.as_ref()?;
        let directory = PathBuf::from(lookup(directory_override.variable).filter(|directory| !directory.is_empty())?);
        Some(if directory_override.below.is_empty() { directory } else { directory.join(directory_override.below) })
    }

    /// Returns the agent's directory, whether it is overridden or the default one in the home directory.
    pub(super) fn own_directory(&self, home: &Path, lookup: &impl Fn(&str) -> Option<String>) -> PathBuf {
        self.overridden_directory(lookup).unwrap_or_else(|| home.join(self.user_directory))
    }
}

/// Returns the path of an agent's settings; `None` if the agent has no settings of this scope.
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
        SettingsScope::User => Some(settings.own_directory(home, &lookup).join(settings.user_file)),
    }
}

/// Returns the directory above an agent's settings at which `uninstall` stops deleting empty directories. This
/// directory itself is kept.
pub fn settings_root(
    agent: Agent,
    scope: SettingsScope,
    project: &Path,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> PathBuf {
    let directory_override = agent.adapter().settings.overridden_by.as_ref();
    let overridden = directory_override
        .and_then(|directory_override| lookup(directory_override.variable))
        .filter(|directory| !directory.is_empty());
    match (scope, overridden) {
        (SettingsScope::Project | SettingsScope::Local, _) => project.to_owned(),
        (SettingsScope::User, Some(directory)) => PathBuf::from(directory),
        (SettingsScope::User, None) => home.to_owned(),
    }
}

/// Returns paths to look for: if one of them exists, somebody uses the agent.
pub fn marker_paths(
    agent: Agent,
    project: &Path,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> Vec<PathBuf> {
    let settings = &agent.adapter().settings;
    let in_project = settings.project_markers.iter().map(|marker| project.join(marker));
    let in_home = settings.home_markers.iter().map(|marker| home.join(marker));
    in_project.chain(in_home).chain([settings.own_directory(home, &lookup)]).collect()
}

/// Returns the other agents whose settings this agent reads too.
pub fn also_reads(agent: Agent) -> &'static [Agent] {
    agent.adapter().settings.also_reads
}

/// Describes what a person has to do after `install` in this scope; `None` if there is nothing to do.
pub fn next_steps(agent: Agent, scope: SettingsScope) -> Option<String> {
    let settings = &agent.adapter().settings;
    let acceptance = settings.acceptance.as_ref().filter(|acceptance| acceptance.is_for(scope));
    let accept = acceptance.map(|acceptance| format!("{}: {}", acceptance.requirement, acceptance.how));
    accept.or_else(|| settings.next_steps.map(str::to_owned))
}

/// Returns the agents' directories that environment variables override, each with the default directory, such as
/// `~/.claude`.
pub fn overridden_user_directories(lookup: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let overridden = |agent: Agent| {
        let settings = &agent.adapter().settings;
        let directory = settings.overridden_directory(&lookup)?.to_str()?.to_owned();
        Some((directory, format!("~/{}", settings.user_directory)))
    };
    Agent::ALL.into_iter().filter_map(overridden).collect()
}
