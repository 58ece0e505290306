//! What an agent's transcript says that its hooks do not: tokens used, the last message, how a command ended, the
//! mode of a turn.
//!
//! Transcripts are lines of JSON that grow at the end, may lag behind, and may end in half a line. Their formats are
//! the agents' own business and change; whatever is not understood counts as nothing. All reading is bounded.

mod lines;

use std::fs::File;
use std::io;
use std::path::Path;

use engine::event::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Agent;

/// How one agent writes its transcript.
pub(crate) struct Format {
    /// The usage that a line reports, if it reports one.
    pub usage: fn(&Value) -> Option<Usage>,
    /// The text of an assistant's message, if the line is one of the main agent's.
    pub message: fn(&Value) -> Option<String>,
    /// How the call of this id went, if the line says so.
    pub outcome: fn(&Value, call: &str) -> Option<Outcome>,
    /// The mode of the turn of this id, if the line is the one that would say so; null where it does not.
    pub mode: fn(&Value, turn: &str) -> Option<Value>,
    /// Only lines with one of these in them can report a usage; the others need not be parsed.
    pub usage_marks: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Fresh input, without what came from or went into a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Tokens {
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    fn plus(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    fn minus(self, other: Self) -> Self {
        self.each(other, u64::saturating_sub)
    }

    fn each(self, other: Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            input: with(self.input, other.input),
            output: with(self.output, other.output),
            cache_read: with(self.cache_read, other.cache_read),
            cache_write: with(self.cache_write, other.cache_write),
        }
    }
}

/// One line's report of what one request to the model used.
pub(crate) struct Usage {
    pub tokens: Tokens,
    /// Which report it is; the same request may be reported by several lines.
    pub key: UsageKey,
}

pub(crate) enum UsageKey {
    /// A request, and the message that it gave. Another request with the same message is a replay of it.
    Request { message: String, request: String, sidechain: bool },
    /// A report that names no request: it counts only while no report that does was seen.
    Nameless,
}

/// How far a transcript was read, and what was counted. To be kept from one reading to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Bytes read, of the text as it is unpacked.
    pub offset: u64,
    /// All that was counted so far.
    pub tokens: Tokens,
    /// The latest requests, oldest first: a request is reported by several lines, and the largest report counts.
    #[serde(default)]
    recent: Vec<Counted>,
    /// Reports that name their request were seen, so nameless ones are the same again.
    #[serde(default)]
    named: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Counted {
    message: String,
    request: String,
    tokens: Tokens,
}

/// As many requests as can lie between the first and the last line of one.
const RECENT_LIMIT: usize = 256;

/// A transcript is read from the end in search of its last message, but not further than this.
const TAIL_LIMIT: u64 = 4 * 1024 * 1024;

/// Counts what was added since the last time, at most `budget` bytes of it. Returns what this reading added.
pub fn advance(agent: Agent, path: &Path, progress: &mut Progress, budget: u64) -> io::Result<Tokens> {
    let before = progress.tokens;
    let format = &agent.adapter().transcript;
    let length = lines::unpacked_length(path)?;
    if length.is_some_and(|length| length < progress.offset) {
        // Shorter than what was read: it is another file now, and what was counted stays counted.
        *progress = Progress { tokens: progress.tokens, ..Progress::default() };
    }
    let mut source = lines::open_at(path, progress.offset)?;
    let read = lines::for_each(&mut source, budget, |line| {
        if let Some(usage) = usage(format, line) {
            progress.count(usage);
        }
    })?;
    progress.offset += read;
    Ok(progress.tokens.minus(before))
}

fn usage(format: &Format, line: &[u8]) -> Option<Usage> {
    let text = std::str::from_utf8(line).ok()?;
    if !format.usage_marks.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    (format.usage)(&serde_json::from_str(text).ok()?)
}

impl Progress {
    fn count(&mut self, usage: Usage) {
        let Usage { tokens, key } = usage;
        match key {
            UsageKey::Nameless if self.named => {}
            UsageKey::Nameless => self.tokens = self.tokens.plus(tokens),
            UsageKey::Request { message, request, sidechain } => {
                self.named = true;
                let same = |counted: &&mut Counted| counted.message == message && counted.request == request;
                if let Some(counted) = self.recent.iter_mut().rev().find(same) {
                    if tokens.total() > counted.tokens.total() {
                        self.tokens = self.tokens.minus(counted.tokens).plus(tokens);
                        counted.tokens = tokens;
                    }
                    return;
                }
                if sidechain && self.recent.iter().any(|counted| counted.message == message) {
                    return;
                }
                if self.recent.len() >= RECENT_LIMIT {
                    self.recent.remove(0);
                }
                self.tokens = self.tokens.plus(tokens);
                self.recent.push(Counted { message, request, tokens });
            }
        }
    }
}

/// The last thing that the main agent said, if it said it recently enough to be found.
pub fn last_message(agent: Agent, path: &Path) -> io::Result<Option<String>> {
    let format = &agent.adapter().transcript;
    last(path, |line| (format.message)(line))
}

/// How a tool call went, where the agent's hook did not say. A call that the transcript does not know (yet) gives
/// nothing.
pub fn outcome(agent: Agent, path: &Path, call: &str) -> io::Result<Option<Outcome>> {
    let format = &agent.adapter().transcript;
    last(path, |line| (format.outcome)(line, call))
}

/// The mode in which a turn runs, as the agent calls it, where its hooks do not say. A turn that the transcript does not
/// know (yet) gives nothing.
pub fn mode(agent: Agent, path: &Path, turn: &str) -> io::Result<Option<String>> {
    let format = &agent.adapter().transcript;
    let mode = last(path, |line| (format.mode)(line, turn))?;
    Ok(mode.as_ref().and_then(Value::as_str).map(str::to_owned))
}

/// The first line from the end that `pick` takes.
fn last<T>(path: &Path, pick: impl Fn(&Value) -> Option<T>) -> io::Result<Option<T>> {
    let picked = |line: &[u8]| pick(&serde_json::from_slice(line).ok()?);
    if lines::is_packed(path) {
        let mut found = None;
        let mut source = lines::open_at(path, 0)?;
        lines::for_each(&mut source, lines::UNPACK_LIMIT, |line| {
            if let Some(this) = picked(line) {
                found = Some(this);
            }
        })?;
        return Ok(found);
    }
    let mut file = File::open(path)?;
    lines::from_end(&mut file, TAIL_LIMIT, picked)
}

#[cfg(test)]
mod tests;
