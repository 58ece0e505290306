//! Whose settings.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingsScope {
    /// The repository's, shared with everyone who clones it.
    Project,
    /// The repository's, but of this person only.
    Local,
    /// This person's, in all repositories.
    User,
}

impl SettingsScope {
    pub const ALL: [Self; 3] = [Self::Project, Self::Local, Self::User];

    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Local => "local",
            Self::User => "user",
        }
    }
}
