//! How many tokens each request to the model used, as a transcript tells it piece by piece.
//!
//! A message is reported by several lines, and again by the transcripts of sessions that were forked from this one: it is
//! known by its id. Whoever keeps messages keeps one an id, and the largest figure of it, since a figure only grows while
//! the answer comes in. To sum them up by phase or session is the keeper's matter.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::position::{Known, TranscriptPosition};
use super::{Format, lines};
use crate::Agent;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MessageTokens {
    /// Fresh input, without what came from or went into a cache.
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

/// What one request to the model used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageUsage {
    /// The same wherever the message is reported.
    pub id: String,
    /// When the line was written, in milliseconds since 1970.
    pub time: i64,
    pub tokens: MessageTokens,
    pub is_subagent: bool,
}

/// What a transcript tells from one position to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenUsage {
    /// In the order of the transcript, one an id, with its largest figure.
    pub messages: Vec<MessageUsage>,
    /// Where to go on. The same again is told if the transcript is no longer the one that was read.
    pub position: TranscriptPosition,
    /// The limit was reached before the end.
    pub has_more: bool,
}

/// Reads what was added since `from`, whole lines only, and stops at the first one that ends beyond `limit` bytes.
pub fn usage(agent: Agent, path: &Path, from: TranscriptPosition, limit: u64) -> io::Result<TokenUsage> {
    let format = &agent.adapter().transcript;
    if format.usage_marks.is_empty() {
        return Err(io::Error::other("its agent's transcripts do not tell"));
    }
    let (mut source, mut position) = from.open(path)?;
    let mut messages = Messages::default();
    let stretch = lines::for_each(&mut source, position.is_within_line, limit, |line| {
        if let Some(message) = message(format, line, &mut position.known) {
            messages.add(message);
        }
    })?;
    position.advance(&stretch);
    Ok(TokenUsage { messages: messages.in_order, position, has_more: stretch.has_more })
}

fn message(format: &Format, line: &[u8], known: &mut Known) -> Option<MessageUsage> {
    let text = std::str::from_utf8(line).ok()?;
    if !format.usage_marks.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    (format.usage)(&serde_json::from_str(text).ok()?, known)
}

/// When a line was written. All agents write it in the same way.
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
