//! One access to one path by a script.

use path::Access;

use crate::model::PossibleDirectories;

/// The paths that a path string stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathExpansion {
    /// Only the path that equals the string.
    Literal,
    /// The path that equals the string, and all paths that the string matches as a glob of the shell.
    ShellGlob,
    /// The path that equals the string, and all paths that the string matches as a pattern of a search program. Such a
    /// pattern also matches hidden files.
    SearchGlob,
}

/// One access to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The path as it is written; `None` if it is not known before the script runs.
    pub path: Option<String>,
    /// For messages: the path or, if the path is not known, the word as written.
    pub raw: String,
    /// `None` if the kind of access is not known.
    pub access: Option<Access>,
    /// True if a directory is deleted or written with everything in it.
    pub is_recursive: bool,
    pub expansion: PathExpansion,
    /// True if the path is the value of a variable that is set for a command (`NAME=path command`), and the variable's
    /// name does not suggest that the command writes there.
    pub is_variable_value: bool,
    /// Index of the command in [`crate::Script::commands`]; `None` for a word that may become part of any command.
    pub command_index: Option<usize>,
    /// The directories that a relative path may be relative to.
    pub directories: PossibleDirectories,
}

impl Effect {
    /// An access of unknown kind to a path in a word that belongs to no command, but may become part of a command.
    pub(super) fn of_unattached_word(path: &str) -> Self {
        Self {
            path: Some(path.to_owned()),
            raw: path.to_owned(),
            access: None,
            is_recursive: false,
            expansion: PathExpansion::Literal,
            is_variable_value: false,
            command_index: None,
            directories: PossibleDirectories::default(),
        }
    }
}
