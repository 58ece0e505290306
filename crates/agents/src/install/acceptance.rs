//! Agents that run hooks only where a person accepted them: the file in which they note it, and what it says.

use std::path::{Path, PathBuf};

use super::document::SettingsError;
use super::scope::SettingsScope;
use crate::Agent;

/// How one agent notes it.
pub(crate) struct Accepting {
    /// In the agent's folder, where no variable names another.
    pub file: &'static str,
    pub moved_by: Option<&'static str>,
    pub about: About,
    /// What the agent demands, and how a person does it.
    pub demand: &'static str,
    pub how: &'static str,
    pub read: fn(text: &str, about: &Path, real: Real<'_>) -> Result<Noted, SettingsError>,
}

impl Accepting {
    pub(super) fn is_for(&self, scope: SettingsScope) -> bool {
        self.about == About::Hooks || scope != SettingsScope::User
    }
}

/// Where a path leads, links followed.
pub(crate) type Real<'a> = &'a dyn Fn(&Path) -> PathBuf;

/// What a person accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// The hooks in one file.
    Hooks,
    /// A folder, and with it the hooks of the project there; those of the person need nothing.
    Project,
}

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Noted {
    Accepted,
    Nothing,
    /// A person decided against it; what comes of that.
    Refused(String),
}

pub struct HookAcceptance {
    pub file: PathBuf,
    accepting: &'static Accepting,
}

/// Whether some hooks are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    Yes,
    /// The file does not say so; what the agent demands, and how a person does it.
    NotSeen(String),
    /// Somebody decided against them; what comes of that.
    Refused(String),
}

impl HookAcceptance {
    /// `text` is what is in the file, `None` where there is none; `hooks` is the file that the hooks are in.
    pub fn look(
        &self,
        text: Option<&str>,
        hooks: &Path,
        project: &Path,
        real: &dyn Fn(&Path) -> PathBuf,
    ) -> Result<Accepted, SettingsError> {
        let (about, missing) = match self.accepting.about {
            About::Hooks => (hooks, "none of these hooks"),
            About::Project => (project, "neither this folder nor one that it lies in"),
        };
        let noted = text.map_or(Ok(Noted::Nothing), |text| (self.accepting.read)(text, about, real))?;
        Ok(match noted {
            Noted::Accepted => Accepted::Yes,
            Noted::Nothing => {
                let Accepting { demand, how, .. } = self.accepting;
                Accepted::NotSeen(format!("{demand}, but {} names {missing}: {how}", self.file.display()))
            }
            Noted::Refused(why) => Accepted::Refused(why),
        })
    }
}

/// For hooks of this scope, where the agent wants them accepted.
pub fn acceptance(
    agent: Agent,
    scope: SettingsScope,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> Option<HookAcceptance> {
    let settings = &agent.adapter().settings;
    let accepting = settings.accepting.as_ref().filter(|accepting| accepting.is_for(scope))?;
    let moved = accepting.moved_by.and_then(&lookup).filter(|file| !file.is_empty());
    let file = moved.map_or_else(|| settings.own_folder(home, &lookup).join(accepting.file), PathBuf::from);
    Some(HookAcceptance { file, accepting })
}
