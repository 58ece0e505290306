//! How a command comes to run, and what is known about its stdin and the scripts that it runs.

use std::ops::Range;
use std::sync::Arc;

use super::{FileContents, Word};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// The programs that would run it, outermost first: `sudo`, `env`, `bash -c`.
    pub via: Vec<String>,
    /// True if it runs commands that are typed into it.
    pub is_session: bool,
    /// The programs whose output it runs.
    pub runs_output_of: Vec<String>,
    /// The contents of its stdin, if known.
    pub(crate) input: Option<Arc<str>>,
    /// File names that are piped into it, if it reads file names from stdin.
    pub(crate) piped_names: Vec<Word>,
    /// The contents of the patches that it applies, if the session wrote them.
    pub(crate) patches: Vec<Arc<str>>,
    /// The contents of the script file that it runs, if the session wrote that file.
    pub(crate) script: Option<FileContents>,
    /// Scripts for a shell that it runs without being told their names, from files that the script wrote (a makefile,
    /// for example); `None` for one that is not known.
    pub(crate) implicit_scripts: Vec<Option<String>>,
    /// The commands in its words: indices in [`Script::commands`](super::Script::commands).
    pub(crate) substituted: Range<usize>,
    /// The commands whose output it may read: indices in [`Script::commands`](super::Script::commands).
    pub piped_from: Range<usize>,
}
