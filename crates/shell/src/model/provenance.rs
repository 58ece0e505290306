//! The origin of a command and of its input.

use std::ops::Range;
use std::sync::Arc;

use super::{FileContents, Word};

/// The origin of a command and of its input: the programs that run the command, its stdin, and the scripts that the
/// command runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The programs that would run the command, outermost first: `sudo`, `env`, `bash -c`.
    pub via: Vec<String>,
    /// How many of [`SimpleCommand::wrappers`](super::SimpleCommand::wrappers) run the command as part of a script. The
    /// words of all other wrappers precede the command's own words.
    pub(crate) script_wrappers: usize,
    /// True if the command runs only if an unknown word before it is empty, or names a program that runs other
    /// commands: `git push` of `$X git push`.
    pub is_assumed: bool,
    /// True if the command runs commands that a person types into it.
    pub is_interactive: bool,
    /// The programs whose output the command runs.
    pub runs_output_of: Vec<String>,
    /// The text of stdin, if it is known.
    pub(crate) input: Option<Arc<str>>,
    /// The file names that are piped into the command, if it reads file names from stdin.
    pub(crate) piped_names: Vec<Word>,
    /// The contents of the patches that the command applies, if the session wrote them.
    pub(crate) patches: Vec<Arc<str>>,
    /// The contents of the script file that the command runs, if the session wrote that file.
    pub(crate) script: Option<FileContents>,
    /// Shell scripts that the command runs from files that it finds by their usual names, such as a makefile. Only
    /// files that the script has written are included. `None` stands for a script that is not known.
    pub(crate) implicit_scripts: Vec<Option<String>>,
    /// The commands in substitutions in the words: indices in [`Script::commands`](super::Script::commands).
    pub(crate) substituted: Range<usize>,
    /// The commands whose output the command may read: indices in [`Script::commands`](super::Script::commands).
    pub piped_from: Range<usize>,
}
