//! Reads the part of transcripts that was appended since they were last read, up to a limit of bytes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agents::Agent;
use agents::transcript::{self, MessageUsage, TranscriptPosition};
use engine::pace::Tokens;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Store, StoreError, TranscriptChunk, TranscriptMessage};

use super::Transcript;

pub(super) struct TranscriptReader<'s> {
    store: &'s Store,
    /// The number of bytes that may still be read from all transcripts together.
    bytes_left: u64,
    visited_paths: BTreeSet<PathBuf>,
    pub(super) new_messages: Vec<NewMessages>,
    /// True if there are more new messages than may be read.
    pub(super) is_incomplete: bool,
}

/// The new messages of one file.
pub(super) struct NewMessages {
    path: String,
    transcript: Transcript,
    messages: Vec<TranscriptMessage>,
    progress: Value,
}

/// How far a file was read.
#[derive(Default, Serialize, Deserialize)]
struct Progress {
    position: TranscriptPosition,
    /// The file's size if the last read reached the end of the file; `None` if it did not. As long as the file has this
    /// size, it has no new messages.
    size: Option<u64>,
}

impl<'s> TranscriptReader<'s> {
    pub(super) fn new(store: &'s Store, limit: u64) -> Self {
        Self {
            store,
            bytes_left: limit,
            visited_paths: BTreeSet::new(),
            new_messages: Vec::new(),
            is_incomplete: false,
        }
    }

    /// Reads the new messages of a transcript and of the transcripts of its subagents. The inner error means that none
    /// of these files can be read, and that nothing was read from them earlier.
    pub(super) fn read(&mut self, transcript: &Transcript) -> Result<io::Result<()>, StoreError> {
        let Some(agent) = Agent::from_name(&transcript.agent) else {
            return Ok(Err(io::Error::other("the agent is unknown")));
        };
        let mut problem = None;
        let mut is_any_read = false;
        for path in transcript::transcript_files(agent, Path::new(&transcript.path)) {
            // The file may have been read already, because the transcript of a subagent may also be in the list of
            // transcripts.
            if !self.visited_paths.insert(path.clone()) {
                is_any_read = true;
                continue;
            }
            match self.read_file(agent, &path, transcript)? {
                Ok(()) => is_any_read = true,
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        Ok(problem.filter(|_| !is_any_read).map_or(Ok(()), Err))
    }

    /// Reads the new messages of one file.
    fn read_file(&mut self, agent: Agent, path: &Path, transcript: &Transcript) -> Result<io::Result<()>, StoreError> {
        let name = path.to_string_lossy();
        let stored = self.store.transcript_position(&name)?;
        let was_read = stored.is_some();
        let progress: Progress = stored.and_then(|stored| serde_json::from_value(stored).ok()).unwrap_or_default();
        let read = file_size(path).and_then(|size| self.read_new_messages(agent, path, size, progress));
        Ok(match read {
            Ok(None) => Ok(()),
            Ok(Some((messages, progress))) => {
                let progress = serde_json::to_value(progress).unwrap_or_default();
                self.new_messages.push(NewMessages {
                    path: name.into_owned(),
                    transcript: transcript.clone(),
                    messages,
                    progress,
                });
                Ok(())
            }
            // The file can no longer be read, but its messages that were read earlier still count.
            Err(_) if was_read => Ok(()),
            Err(error) => Err(error),
        })
    }

    /// The new messages of a file, and how far the file was read. Returns `None` if nothing was appended, or if no more
    /// bytes may be read.
    fn read_new_messages(
        &mut self,
        agent: Agent,
        path: &Path,
        size: u64,
        progress: Progress,
    ) -> io::Result<Option<(Vec<TranscriptMessage>, Progress)>> {
        if progress.size == Some(size) {
            return Ok(None);
        }
        if self.bytes_left == 0 {
            self.is_incomplete = true;
            return Ok(None);
        }
        let usage = transcript::usage(agent, path, progress.position, self.bytes_left)?;
        self.is_incomplete |= usage.has_more;
        // Subtracts the number of bytes that were appended (if the last read did not reach the end: the file's size).
        // This is at least the number of bytes that were read.
        self.bytes_left = self.bytes_left.saturating_sub(size.saturating_sub(progress.size.unwrap_or(0)));
        let progress = Progress { position: usage.position, size: (!usage.has_more).then_some(size) };
        Ok(Some((usage.messages.into_iter().map(transcript_message).collect(), progress)))
    }
}

impl NewMessages {
    pub(super) fn as_chunk(&self) -> TranscriptChunk<'_> {
        TranscriptChunk {
            path: &self.path,
            session: self.transcript.key(),
            messages: self.messages.clone(),
            end: self.progress.clone(),
        }
    }
}

/// The file's size. Fails for anything but a regular file, because a read from a pipe could block.
fn file_size(path: &Path) -> io::Result<u64> {
    let metadata = fs::metadata(path)?;
    if metadata.is_file() { Ok(metadata.len()) } else { Err(io::Error::other("it is not a regular file")) }
}

fn transcript_message(usage: MessageUsage) -> TranscriptMessage {
    let transcript::MessageTokens { input, output, cache_read, cache_write } = usage.tokens;
    TranscriptMessage { id: usage.id, time: usage.time, tokens: Tokens { input, output, cache_read, cache_write } }
}
