//! The result of one check by `doctor`.

use std::path::Path;

pub struct DoctorCheck {
    pub state: CheckState,
    pub text: String,
    pub help: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    Fine,
    /// Something that the person should know, although the guard is effective.
    Note,
    /// The guard, or a part of it, is ineffective.
    Bad,
}

impl DoctorCheck {
    pub fn fine(text: impl Into<String>) -> Self {
        Self { state: CheckState::Fine, text: text.into(), help: None }
    }

    /// Returns this check with the path of the checked directory in front of the text.
    #[must_use]
    pub fn within(self, directory: &Path) -> Self {
        Self { text: format!("{}: {}", directory.display(), self.text), ..self }
    }

    pub fn note(text: impl Into<String>) -> Self {
        Self { state: CheckState::Note, ..Self::fine(text) }
    }

    pub fn bad(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { state: CheckState::Bad, text: text.into(), help: Some(help.into()) }
    }
}
