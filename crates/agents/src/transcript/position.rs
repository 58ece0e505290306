//! The position up to which a transcript was read. Callers store it between readings.

use std::io::{self, BufRead, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::lines::{self, LinesRead};

/// A position in a transcript. The default is the start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TranscriptPosition {
    /// The position itself, in bytes of the decompressed text.
    offset: u64,
    /// A digest of the last bytes before the position. If the digest differs at the next reading, the file was
    /// truncated, replaced or rewritten.
    #[serde(rename = "mark")]
    tail: TailDigest,
    /// True if the position is within a line that is skipped because it is too long.
    pub(super) is_within_line: bool,
    #[serde(rename = "known")]
    pub(super) state: ReaderState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct TailDigest {
    length: u64,
    digest: u64,
}

/// Information from earlier lines of a transcript that is needed to interpret later lines.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ReaderState {
    /// The thread that the transcript belongs to.
    pub thread: Option<String>,
    pub is_subagent: bool,
    /// True while the lines that are read are copied from the thread of which this thread is a fork.
    pub is_copy: bool,
    /// True if a line that reports usage contained an id. Every report without an id is then a duplicate of one with an
    /// id.
    pub has_ids: bool,
    /// The total tokens of the thread, according to the last report without an id.
    pub total: Option<u64>,
}

impl TranscriptPosition {
    /// Opens the text at this position, or at the start of the text if the file was replaced or rewritten. Returns the
    /// actual position too.
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
