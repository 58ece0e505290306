//! Some agents run hooks only after a person has accepted them. This module finds and reads the files in which these
//! agents record the acceptance.

use std::path::{Path, PathBuf};

use super::document::SettingsError;
use super::scope::SettingsScope;
use crate::Agent;

/// The file in which an agent records that a person has accepted hooks or trusts a directory.
pub(crate) struct AcceptanceFile {
    /// The path of the file, relative to the agent's directory. The environment variable `overridden_by` can contain
    /// another path.
    pub file: &'static str,
    pub overridden_by: Option<&'static str>,
    pub subject: AcceptanceSubject,
    /// The part of a message that says what the agent requires of the person.
    pub requirement: &'static str,
    /// The part of a message that says how a person accepts hooks.
    pub how: &'static str,
    pub read: fn(text: &str, subject: &Path, canonicalize: Canonicalize<'_>) -> Result<AcceptanceRecord, SettingsError>,
}

impl AcceptanceFile {
    pub(super) fn is_for(&self, scope: SettingsScope) -> bool {
        self.subject == AcceptanceSubject::Hooks || scope != SettingsScope::User
    }
}

/// A function that resolves the symlinks in a path.
pub(crate) type Canonicalize<'a> = &'a dyn Fn(&Path) -> PathBuf;

/// What the person accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AcceptanceSubject {
    /// The hooks in one file.
    Hooks,
    /// A directory, and thereby the hooks of the project in it. Hooks in the user's own settings need no acceptance.
    Project,
}

/// What an agent's file records about the acceptance of hooks.
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

/// Whether a person has accepted the hooks in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptanceStatus {
    Accepted,
    /// The agent has no file with acceptances, or the file does not mention these hooks.
    NotRecorded {
        /// What the agent requires of the person, and how the person does it.
        demand: String,
        /// True if the agent calls none of these hooks without acceptance. False if that depends on how it is used.
        is_required: bool,
    },
    /// A person has refused; the string describes the consequence.
    Refused(String),
}

impl HookAcceptance {
    /// Returns whether a person has accepted the hooks. `text`: the contents of the file in which the agent records
    /// acceptance, if that file exists; `hooks`: the path of the settings file with the hooks.
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
                let AcceptanceFile { requirement, how, .. } = self.acceptance;
                AcceptanceStatus::NotRecorded {
                    demand: format!("{requirement}. {} {missing}: {how}", self.file.display()),
                    is_required: self.acceptance.subject == AcceptanceSubject::Hooks,
                }
            }
            AcceptanceRecord::Refused(why) => AcceptanceStatus::Refused(why),
        })
    }
}

/// Returns where the agent records acceptance of hooks in this scope; `None` if hooks in this scope need no acceptance.
pub fn acceptance(
    agent: Agent,
    scope: SettingsScope,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> Option<HookAcceptance> {
    let settings = &agent.adapter().settings;
    let acceptance = settings.acceptance.as_ref().filter(|acceptance| acceptance.is_for(scope))?;
    let overridden_file = acceptance.overridden_by.and_then(&lookup).filter(|file| !file.is_empty());
    let file =
        overridden_file.map_or_else(|| settings.own_directory(home, &lookup).join(acceptance.file), PathBuf::from);
    Some(HookAcceptance { file, acceptance })
}
