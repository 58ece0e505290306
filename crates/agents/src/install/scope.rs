/// Where settings apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingsScope {
    /// In the repository, committed and shared.
    Project,
    /// In the repository, for this person only.
    Local,
    /// In all repositories, for this person.
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
