/// The place of an agent's settings, which decides to whom they apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingsScope {
    /// Settings in the repository that are committed and apply to everyone.
    Project,
    /// Settings in the repository that apply to this person only.
    Local,
    /// Settings of this person that apply in all repositories.
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
