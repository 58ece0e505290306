//! Where an agent keeps its settings, whose they are, and in which form hooks are in them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::acceptance::Accepting;
use super::handler::{Handler, Hook};
use super::module::Module;
use super::scope::SettingsScope;
use super::switch::SwitchFile;
use crate::Agent;

/// Where one agent keeps its hooks, and how.
pub(crate) struct Settings {
    /// What in a project, or in the home, shows that somebody uses the agent, besides its folder in the home.
    pub project_signs: &'static [&'static str],
    pub home_signs: &'static [&'static str],
    /// From the project's root.
    pub project_file: &'static str,
    pub local_file: Option<&'static str>,
    /// The agent's folder in the home, what moves it elsewhere, and the file in it.
    pub user_folder: &'static str,
    pub moved_by: Option<Moved>,
    pub user_file: &'static str,
    pub accepting: Option<Accepting>,
    /// What a person has to do after hooks were put in, besides accepting them.
    pub afterwards: Option<&'static str>,
    /// Agents whose settings it reads besides its own.
    pub reads: &'static [Agent],
    /// Other files by which hooks are switched off.
    pub switch_files: &'static [SwitchFile],
    pub form: Form,
}

/// A variable that moves an agent's folder.
pub(crate) struct Moved {
    pub variable: &'static str,
    /// Where below the folder that it names; empty where it names the agent's own.
    pub below: &'static str,
}

pub(crate) enum Form {
    /// Entries in a JSON file, among those of others.
    Entries(Entries),
    /// A file that is ours alone.
    Module(Module),
}

pub(crate) struct Entries {
    pub hooks: &'static [Hook],
    /// The file has to say that it is of version 1.
    pub is_versioned: bool,
    pub handler: Handler,
    /// What in the settings keeps the agent from calling hooks, those in other files too.
    pub switches: fn(&Map<String, Value>) -> Vec<String>,
    /// What in the settings keeps the agent from calling the hooks of this file alone.
    pub faults: fn(&Map<String, Value>) -> Vec<String>,
}

impl Settings {
    /// The agent's folder, where a variable moved it.
    fn moved(&self, lookup: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let moved = self.moved_by.as_ref()?;
        let folder = PathBuf::from(lookup(moved.variable).filter(|folder| !folder.is_empty())?);
        Some(if moved.below.is_empty() { folder } else { folder.join(moved.below) })
    }

    /// The agent's folder, wherever it is.
    pub(super) fn own_folder(&self, home: &Path, lookup: &impl Fn(&str) -> Option<String>) -> PathBuf {
        self.moved(lookup).unwrap_or_else(|| home.join(self.user_folder))
    }
}

/// Where an agent's settings of this scope are, if it has such a scope.
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

/// The folder that an agent's settings of this scope are somewhere in, and that is never ours to make or to take away.
pub fn settings_top(
    agent: Agent,
    scope: SettingsScope,
    project: &Path,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> PathBuf {
    let moved = agent.adapter().settings.moved_by.as_ref();
    let named = moved.and_then(|moved| lookup(moved.variable)).filter(|folder| !folder.is_empty());
    match (scope, named) {
        (SettingsScope::Project | SettingsScope::Local, _) => project.to_owned(),
        (SettingsScope::User, Some(folder)) => PathBuf::from(folder),
        (SettingsScope::User, None) => home.to_owned(),
    }
}

/// What shows that somebody uses the agent: in the project, and in the home.
pub fn signs(agent: Agent, project: &Path, home: &Path, lookup: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let settings = &agent.adapter().settings;
    let in_project = settings.project_signs.iter().map(|sign| project.join(sign));
    let in_home = settings.home_signs.iter().map(|sign| home.join(sign));
    in_project.chain(in_home).chain([settings.own_folder(home, &lookup)]).collect()
}

/// Agents whose settings this one reads besides its own.
pub fn read_besides(agent: Agent) -> &'static [Agent] {
    agent.adapter().settings.reads
}

/// What a person still has to do after hooks were put into settings of this scope.
pub fn afterwards(agent: Agent, scope: SettingsScope) -> Option<String> {
    let settings = &agent.adapter().settings;
    let accepting = settings.accepting.as_ref().filter(|accepting| accepting.is_for(scope));
    let accept = accepting.map(|accepting| format!("{}: {}", accepting.demand, accepting.how));
    accept.or_else(|| settings.afterwards.map(str::to_owned))
}

/// Where agents' own folders are that a variable moved out of the home, and how they are known otherwise.
pub fn user_folders(lookup: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let moved = |agent: Agent| {
        let settings = &agent.adapter().settings;
        let folder = settings.moved(&lookup)?.to_str()?.to_owned();
        Some((folder, format!("~/{}", settings.user_folder)))
    };
    Agent::ALL.into_iter().filter_map(moved).collect()
}
