//! The tokens that each request to the model used, read from a transcript piece by piece.
//!
//! Several lines can report the same message, and the transcript of a forked session reports the original session's
//! messages again. All reports of a message have the same id. Callers keep the largest figure per id, because the
//! figure grows while the response arrives. Sums per phase or session are not computed here.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::position::{ReaderState, TranscriptPosition};
use super::{TranscriptFormat, lines};
use crate::Agent;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MessageTokens {
    /// Input tokens, without those read from or written to a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl MessageTokens {
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

/// The tokens of one request to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageUsage {
    /// The id of the message, which is the same in every report of it.
    pub id: String,
    /// The time at which the line with the report was written, in milliseconds since 1970.
    pub time: i64,
    pub tokens: MessageTokens,
    pub is_subagent: bool,
}

/// The token usage in a part of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenUsage {
    /// The messages in the order of the transcript. Each id occurs once, with its largest figure.
    pub messages: Vec<MessageUsage>,
    /// The position from which to continue. If the transcript is replaced, everything is reported again from its start.
    pub position: TranscriptPosition,
    /// True if the limit was reached before the end of the transcript.
    pub has_more: bool,
}

/// Reads the usage in complete lines from `from` on, up to and including the first line that ends at least `limit`
/// bytes after `from`.
pub fn usage(agent: Agent, path: &Path, from: TranscriptPosition, limit: u64) -> io::Result<TokenUsage> {
    let format = &agent.adapter().transcript;
    if format.usage_markers.is_empty() {
        return Err(io::Error::other("the agent's transcripts contain no token counts"));
    }
    let (mut source, mut position) = from.open(path)?;
    let mut messages = Messages::default();
    let read = lines::for_each(&mut source, position.is_within_line, limit, |line| {
        if let Some(message) = message(format, line, &mut position.state) {
            messages.add(message);
        }
    })?;
    position.advance(&read);
    Ok(TokenUsage { messages: messages.in_order, position, has_more: read.has_more })
}

fn message(format: &TranscriptFormat, line: &[u8], state: &mut ReaderState) -> Option<MessageUsage> {
    let text = std::str::from_utf8(line).ok()?;
    if !format.usage_markers.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    (format.usage)(&serde_json::from_str(text).ok()?, state)
}

/// Returns the time at which a line was written. All agents use the same field for it.
pub(crate) fn time(line: &Value) -> Option<i64> {
    let time: jiff::Timestamp = line.get("timestamp")?.as_str()?.parse().ok()?;
    Some(time.as_millisecond())
}

#[derive(Default)]
struct Messages {
    in_order: Vec<MessageUsage>,
    places: HashMap<String, usize>,
}

impl Messages {
    fn add(&mut self, message: MessageUsage) {
        match self.places.entry(message.id.clone()) {
            Entry::Vacant(place) => {
                place.insert(self.in_order.len());
                self.in_order.push(message);
            }
            Entry::Occupied(place) => {
                if let Some(earlier) = self.in_order.get_mut(*place.get())
                    && message.tokens.total() > earlier.tokens.total()
                {
                    *earlier = message;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
