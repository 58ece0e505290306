//! The position up to which a transcript was read. Callers store it between readings.

use std::io::{self, BufRead, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::lines::{self, LinesRead};

/// A position in a transcript. The default is the start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TranscriptPosition {
    /// In bytes of the decompressed text.
    offset: u64,
    /// A digest of the text before the position. If it differs, the file was truncated, replaced or rewritten.
    #[serde(rename = "mark")]
    tail: TailDigest,
    /// The position is within a line that is too long and skipped.
    pub(super) is_within_line: bool,
    #[serde(rename = "known")]
    pub(super) state: ReaderState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct TailDigest {
    length: u64,
    digest: u64,
}

/// What earlier lines of a transcript said, needed to interpret later lines.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ReaderState {
    /// The thread that the transcript belongs to.
    pub thread: Option<String>,
    pub is_subagent: bool,
    /// The current lines are copied from the thread that this one was forked from.
    pub is_copy: bool,
    /// Usage is reported with ids, so a report without an id is a duplicate.
    pub has_ids: bool,
    /// The running total of the last report without an id.
    pub total: Option<u64>,
}

impl TranscriptPosition {
    /// Opens the text at this position, or at its start if the file was replaced or rewritten.
    pub(super) fn open(self, path: &Path) -> io::Result<(Box<dyn BufRead>, Self)> {
        let Some(start) = self.offset.checked_sub(self.tail.length).filter(|_| self.offset > 0) else {
            return Self::start(path);
        };
        let mut source = lines::open_at(path, start)?;
        let mut before = Vec::new();
        source.by_ref().take(self.tail.length).read_to_end(&mut before)?;
        if TailDigest::of(&before) == self.tail { Ok((source, self)) } else { Self::start(path) }
    }

    fn start(path: &Path) -> io::Result<(Box<dyn BufRead>, Self)> {
        Ok((lines::open_at(path, 0)?, Self::default()))
    }

    pub(super) fn advance(&mut self, read: &LinesRead) {
        if read.length > 0 {
            self.offset += read.length;
            self.tail = TailDigest::of(&read.tail);
            self.is_within_line = read.is_within_line;
        }
    }
}

impl TailDigest {
    fn of(text: &[u8]) -> Self {
        let digest = Sha256::digest(text).first_chunk().copied().map_or(0, u64::from_le_bytes);
        Self { length: text.len() as u64, digest }
    }
}
