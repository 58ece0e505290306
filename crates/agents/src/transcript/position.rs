//! How far a transcript was read. To be kept from one reading to the next.

use std::io::{self, BufRead, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::lines::{self, Stretch};

/// A place between two pieces of a transcript. The default is its start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TranscriptPosition {
    /// In bytes, of the text as it is unpacked.
    offset: u64,
    /// What stands before the place. Where something else does, the file was cut, replaced or written anew.
    mark: Mark,
    /// The place is within a line that is too long to be read; what follows up to its end belongs to it.
    pub(super) is_within_line: bool,
    pub(super) known: Known,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Mark {
    length: u64,
    digest: u64,
}

/// What the lines before a position said that the lines after it are read by.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Known {
    /// The thread whose transcript it is.
    pub thread: Option<String>,
    pub is_subagent: bool,
    /// The lines are those of another thread that this one was forked from.
    pub is_copy: bool,
    /// Requests are reported with an id, so that a report without one is the same again.
    pub has_ids: bool,
    /// The running total of the last report without an id.
    pub total: Option<u64>,
}

impl TranscriptPosition {
    /// Opens the text here, or at its start where it is no longer the text that was read.
    pub(super) fn open(self, path: &Path) -> io::Result<(Box<dyn BufRead>, Self)> {
        let Some(start) = self.offset.checked_sub(self.mark.length).filter(|_| self.offset > 0) else {
            return Self::start(path);
        };
        let mut source = lines::open_at(path, start)?;
        let mut before = Vec::new();
        source.by_ref().take(self.mark.length).read_to_end(&mut before)?;
        if Mark::of(&before) == self.mark { Ok((source, self)) } else { Self::start(path) }
    }

    fn start(path: &Path) -> io::Result<(Box<dyn BufRead>, Self)> {
        Ok((lines::open_at(path, 0)?, Self::default()))
    }

    pub(super) fn advance(&mut self, stretch: &Stretch) {
        if stretch.length > 0 {
            self.offset += stretch.length;
            self.mark = Mark::of(&stretch.tail);
            self.is_within_line = stretch.is_within_line;
        }
    }
}

impl Mark {
    fn of(text: &[u8]) -> Self {
        let digest = Sha256::digest(text).first_chunk().copied().map_or(0, u64::from_le_bytes);
        Self { length: text.len() as u64, digest }
    }
}
