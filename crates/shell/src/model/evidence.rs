//! How it is known that a command runs, and what is known of the texts that it reads and runs.

use std::ops::Range;
use std::sync::Arc;

use super::{Word, Written};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// The programs through which it would be run, outermost first: `sudo`, `env`, `bash -c`.
    pub via: Vec<String>,
    /// Whether it waits for what is typed, and runs that.
    pub is_session: bool,
    /// The programs whose output it runs.
    pub runs_output_of: Vec<String>,
    /// The text of its stdin, where that is known.
    pub(crate) input: Option<Arc<str>>,
    /// The names of files that come to it through its stdin, where it takes such.
    pub(crate) told: Vec<Word>,
    /// The contents of patches that it applies, as far as they were written in the session.
    pub(crate) patches: Vec<Arc<str>>,
    /// The contents of the file that it runs, where that was written in the session.
    pub(crate) script: Option<Written>,
    /// Texts for a shell that it runs of its own accord, of what the script has written; `None` for one that is not known.
    pub(crate) own_texts: Vec<Option<String>>,
    /// The commands in its words: places in [`Script::commands`](super::Script::commands).
    pub(crate) substituted: Range<usize>,
    /// The commands whose output it may read: places in [`Script::commands`](super::Script::commands).
    pub piped_from: Range<usize>,
}
