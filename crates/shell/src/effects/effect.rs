//! One thing that is done to one path.

use path::Access;

use crate::model::Folders;

/// What a path stands for beside itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathExpansion {
    Nothing,
    /// All that it matches for a shell.
    Shell,
    /// All that it matches for a search: what is hidden is meant too.
    Search,
}

/// One thing that is done to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// As it is written; `None` where that is not known before it runs.
    pub path: Option<String>,
    /// For people, where the path is not known.
    pub raw: String,
    /// `None`: who knows what for.
    pub access: Option<Access>,
    /// It is deleted, or written, with all that is in it.
    pub takes_all: bool,
    /// What the path stands for beside itself.
    pub pattern: PathExpansion,
    /// It is what a variable is set to, of which nothing says that it is written to.
    pub is_setting: bool,
    /// The command that does it: a place in [`crate::Script::commands`], or none for a word that may come to any of them.
    pub command: Option<usize>,
    /// What the path is relative to.
    pub folders: Folders,
}

impl Effect {
    /// A path in a word that belongs to no command but may come to one.
    pub(super) fn of_loose_word(path: &str) -> Self {
        Self {
            path: Some(path.to_owned()),
            raw: path.to_owned(),
            access: None,
            takes_all: false,
            pattern: PathExpansion::Nothing,
            is_setting: false,
            command: None,
            folders: Folders::default(),
        }
    }
}
