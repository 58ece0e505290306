//! Reading on in transcripts, from where the last reading stopped and as far as a limit allows.

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

pub(super) struct Reading<'s> {
    store: &'s Store,
    /// Bytes.
    left: u64,
    looked_at: BTreeSet<PathBuf>,
    pub(super) read: Vec<Read>,
    /// There is more to read.
    pub(super) is_behind: bool,
}

/// What was read of a file.
pub(super) struct Read {
    path: String,
    whose: Transcript,
    messages: Vec<TranscriptMessage>,
    progress: Value,
}

/// How far a file was read.
#[derive(Default, Serialize, Deserialize)]
struct Progress {
    position: TranscriptPosition,
    /// How large the file was then, where all of it was read: as long as it is so, nothing was appended.
    size: Option<u64>,
}

impl<'s> Reading<'s> {
    pub(super) fn new(store: &'s Store, limit: u64) -> Self {
        Self { store, left: limit, looked_at: BTreeSet::new(), read: Vec::new(), is_behind: false }
    }

    /// Reads on in a transcript and in those of its subagents. An error where nothing of it was ever read, and nothing can
    /// be now.
    pub(super) fn read(&mut self, transcript: &Transcript) -> Result<io::Result<()>, StoreError> {
        let Some(agent) = Agent::from_name(&transcript.agent) else {
            return Ok(Err(io::Error::other("its agent is not known")));
        };
        let mut problem = None;
        let mut is_any_read = false;
        for path in transcript::transcript_files(agent, Path::new(&transcript.path)) {
            // Subagents may be named by themselves besides.
            if !self.looked_at.insert(path.clone()) {
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

    fn read_file(&mut self, agent: Agent, path: &Path, whose: &Transcript) -> Result<io::Result<()>, StoreError> {
        let name = path.to_string_lossy();
        let kept = self.store.transcript_position(&name)?;
        let was_read = kept.is_some();
        let progress: Progress = kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default();
        let read = size(path).and_then(|size| self.read_on(agent, path, size, progress));
        Ok(match read {
            Ok(None) => Ok(()),
            Ok(Some((messages, progress))) => {
                let progress = serde_json::to_value(progress).unwrap_or_default();
                self.read.push(Read { path: name.into_owned(), whose: whose.clone(), messages, progress });
                Ok(())
            }
            // What it told before still counts.
            Err(_) if was_read => Ok(()),
            Err(error) => Err(error),
        })
    }

    /// Nothing where nothing was appended, or nothing may be read any more.
    fn read_on(
        &mut self,
        agent: Agent,
        path: &Path,
        size: u64,
        from: Progress,
    ) -> io::Result<Option<(Vec<TranscriptMessage>, Progress)>> {
        if from.size == Some(size) {
            return Ok(None);
        }
        if self.left == 0 {
            self.is_behind = true;
            return Ok(None);
        }
        let usage = transcript::usage(agent, path, from.position, self.left)?;
        self.is_behind |= usage.has_more;
        // Never less than what was read.
        self.left = self.left.saturating_sub(size.saturating_sub(from.size.unwrap_or(0)));
        let progress = Progress { position: usage.position, size: (!usage.has_more).then_some(size) };
        Ok(Some((usage.messages.into_iter().map(message).collect(), progress)))
    }
}

impl Read {
    pub(super) fn stretch(&self) -> TranscriptChunk<'_> {
        TranscriptChunk {
            path: &self.path,
            session: self.whose.key(),
            messages: self.messages.clone(),
            end: self.progress.clone(),
        }
    }
}

/// Nobody may be kept waiting by a pipe in the place of a file.
fn size(path: &Path) -> io::Result<u64> {
    let found = fs::metadata(path)?;
    if found.is_file() { Ok(found.len()) } else { Err(io::Error::other("it is no file")) }
}

fn message(usage: MessageUsage) -> TranscriptMessage {
    let transcript::MessageTokens { input, output, cache_read, cache_write } = usage.tokens;
    TranscriptMessage { id: usage.id, time: usage.time, tokens: Tokens { input, output, cache_read, cache_write } }
}
