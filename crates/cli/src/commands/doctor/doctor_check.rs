//! One thing that `doctor` looked at, and how it is.

use std::path::Path;

pub struct DoctorCheck {
    pub state: State,
    pub text: String,
    pub help: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    Fine,
    /// Worth knowing, nothing is ineffective.
    Note,
    /// The guard, or a part of it, is off.
    Bad,
}

impl DoctorCheck {
    pub fn fine(text: impl Into<String>) -> Self {
        Self { state: State::Fine, text: text.into(), help: None }
    }

    /// The same, of a folder in the project.
    #[must_use]
    pub fn within(self, folder: &Path) -> Self {
        Self { text: format!("{}: {}", folder.display(), self.text), ..self }
    }

    pub fn note(text: impl Into<String>) -> Self {
        Self { state: State::Note, ..Self::fine(text) }
    }

    pub fn bad(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { state: State::Bad, text: text.into(), help: Some(help.into()) }
    }
}
