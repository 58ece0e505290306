//! Agents that run hooks only after a person has accepted them, and the files in which they record that.

use std::path::{Path, PathBuf};

use super::document::SettingsError;
use super::scope::SettingsScope;
use crate::Agent;

/// The file in which an agent records acceptance.
pub(crate) struct AcceptanceFile {
    /// The path within the agent's directory, unless an environment variable overrides it.
    pub file: &'static str,
    pub overridden_by: Option<&'static str>,
    pub subject: AcceptanceSubject,
    /// What the agent demands of the person.
    pub demand: &'static str,
    /// How a person accepts hooks.
    pub how: &'static str,
    pub read: fn(text: &str, subject: &Path, canonicalize: Canonicalize<'_>) -> Result<AcceptanceRecord, SettingsError>,
}

impl AcceptanceFile {
    pub(super) fn is_for(&self, scope: SettingsScope) -> bool {
        self.subject == AcceptanceSubject::Hooks || scope != SettingsScope::User
    }
}

/// Resolves symlinks in a path.
pub(crate) type Canonicalize<'a> = &'a dyn Fn(&Path) -> PathBuf;

/// What the person accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AcceptanceSubject {
    /// The hooks in one file.
    Hooks,
    /// A directory, and thereby the hooks of the project in it. User-level hooks need no acceptance.
    Project,
}

/// The acceptance recorded in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AcceptanceRecord {
    Accepted,
    Absent,
    /// A person has refused; the string describes the consequence.
    Refused(String),
}

pub struct HookAcceptance {
    pub file: PathBuf,
    acceptance: &'static AcceptanceFile,
}

/// The status of acceptance of some hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptanceStatus {
    Accepted,
    /// The file has no acceptance; the string says what the agent demands, and how a person does it.
    NotRecorded(String),
    /// A person has refused; the string describes the consequence.
    Refused(String),
}

impl HookAcceptance {
    /// Reads the status. `text`: the file's contents, if it exists; `hooks`: the file with the hooks.
    pub fn status(
        &self,
        text: Option<&str>,
        hooks: &Path,
        project: &Path,
        canonicalize: &dyn Fn(&Path) -> PathBuf,
    ) -> Result<AcceptanceStatus, SettingsError> {
        let (subject, missing) = match self.acceptance.subject {
            AcceptanceSubject::Hooks => (hooks, "lists none of these hooks as accepted"),
            AcceptanceSubject::Project => (project, "lists neither this folder nor a parent folder"),
        };
        let record =
            text.map_or(Ok(AcceptanceRecord::Absent), |text| (self.acceptance.read)(text, subject, canonicalize))?;
        Ok(match record {
            AcceptanceRecord::Accepted => AcceptanceStatus::Accepted,
            AcceptanceRecord::Absent => {
                let AcceptanceFile { demand, how, .. } = self.acceptance;
                AcceptanceStatus::NotRecorded(format!("{demand}. {} {missing}: {how}", self.file.display()))
            }
            AcceptanceRecord::Refused(why) => AcceptanceStatus::Refused(why),
        })
    }
}

/// Returns where the agent records acceptance of hooks in this scope; none if it needs no acceptance.
pub fn acceptance(
    agent: Agent,
    scope: SettingsScope,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> Option<HookAcceptance> {
    let settings = &agent.adapter().settings;
    let acceptance = settings.acceptance.as_ref().filter(|acceptance| acceptance.is_for(scope))?;
    let moved = acceptance.overridden_by.and_then(&lookup).filter(|file| !file.is_empty());
    let file = moved.map_or_else(|| settings.own_folder(home, &lookup).join(acceptance.file), PathBuf::from);
    Some(HookAcceptance { file, acceptance })
}
