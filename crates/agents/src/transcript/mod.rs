//! Reads from agents' transcripts what their hooks do not report: tokens used, the last message, the outcome of a
//! command, the mode of a turn.
//!
//! A transcript consists of lines of JSON. It grows at the end, may be written late, and may end in an incomplete line.
//! The formats are internal to the agents and change; unknown lines are ignored. Only a limited amount of text is read.

mod lines;
mod position;
mod usage;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::Event;
use engine::event::CallOutcome;
use serde_json::Value;

use crate::Agent;

pub(crate) use position::ReaderState;
pub use position::TranscriptPosition;
pub(crate) use usage::time;
pub use usage::{MessageTokens, MessageUsage, TokenUsage, usage};

/// The format of an agent's transcript.
pub(crate) struct TranscriptFormat {
    /// Returns the token usage that a line reports, and updates the state that is needed to interpret later lines.
    pub usage: fn(&Value, &mut ReaderState) -> Option<MessageUsage>,
    /// Returns the transcripts of a session's subagents, given the session's own transcript.
    pub subagents: fn(&Path) -> Vec<PathBuf>,
    /// Returns the text of a message, if the line is a message of the main agent.
    pub message: fn(&Value) -> Option<String>,
    /// For agents that write with a delay: true if this line, the last of the transcript, shows that everything before
    /// the event is written.
    pub has_caught_up: Option<fn(&Value, &Event) -> bool>,
    /// Returns the outcome of the call with this id, if the line contains it.
    pub outcome: fn(&Value, call: &str) -> Option<CallOutcome>,
    /// Returns the mode of a turn if the line is that turn's record; `Value::Null` if the record has no mode.
    pub mode: fn(&Value, turn: &str) -> Option<Value>,
    /// Only lines that contain one of these strings are parsed for `usage`.
    pub usage_markers: &'static [&'static str],
}

impl TranscriptFormat {
    /// For an agent without a transcript, or whose transcript is not read.
    pub(crate) const NONE: Self = Self {
        usage: |_, _| None,
        subagents: |_| Vec::new(),
        message: |_| None,
        has_caught_up: None,
        outcome: |_, _| None,
        mode: |_, _| None,
        usage_markers: &[],
    };
}

/// How many bytes at the end of an uncompressed transcript are searched for the last message or other records.
const TAIL_LIMIT: u64 = 4 * 1024 * 1024;

/// Returns the paths of a session's transcript and of its subagents' transcripts, as far as they are known. Not all of
/// them need exist.
///
/// For Codex, the transcripts of subagents are not included, because Codex reports their paths only to the subagents'
/// own hooks.
pub fn transcript_files(agent: Agent, path: &Path) -> Vec<PathBuf> {
    let subagents = (agent.adapter().transcript.subagents)(path);
    std::iter::once(path.to_owned()).chain(subagents).collect()
}

/// Returns the last message of the main agent, if it is within the searched tail of the transcript.
pub fn last_message(agent: Agent, path: &Path) -> io::Result<Option<String>> {
    let format = &agent.adapter().transcript;
    last(path, |line| (format.message)(line))
}

/// Waits until an agent that writes with a delay has written everything before the event; at most `patience`, and at
/// most the longest known delay.
pub fn wait_until_written(agent: Agent, path: &Path, event: &Event, patience: Duration) {
    let Some(has_caught_up) = agent.adapter().transcript.has_caught_up else { return };
    let end = Instant::now() + patience.min(LONGEST_DELAY);
    // A file that does not exist yet is waited for, too.
    while !matches!(last(path, |line| Some(has_caught_up(line, event))), Ok(Some(true))) && Instant::now() < end {
        std::thread::sleep(POLL_INTERVAL);
    }
}

const LONGEST_DELAY: Duration = Duration::from_millis(800);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Returns the outcome of a tool call; `None` if the transcript does not contain it (yet).
pub fn outcome(agent: Agent, path: &Path, call: &str) -> io::Result<Option<CallOutcome>> {
    let format = &agent.adapter().transcript;
    last(path, |line| (format.outcome)(line, call))
}

/// Returns the agent's name of the mode of a turn; `None` if the turn is not in the transcript (yet) or has no mode.
pub fn mode(agent: Agent, path: &Path, turn: &str) -> io::Result<Option<String>> {
    let format = &agent.adapter().transcript;
    let mode = last(path, |line| (format.mode)(line, turn))?;
    Ok(mode.as_ref().and_then(Value::as_str).map(str::to_owned))
}

/// Returns the result of `pick` for the last line for which `pick` returns `Some`. Only a limited part of the file is
/// searched: the end, or the start if the file is compressed.
fn last<T>(path: &Path, pick: impl Fn(&Value) -> Option<T>) -> io::Result<Option<T>> {
    let picked = |line: &[u8]| pick(&serde_json::from_slice(line).ok()?);
    if lines::is_compressed(path) {
        let mut found = None;
        let mut source = lines::open_at(path, 0)?;
        lines::for_each(&mut source, false, lines::DECOMPRESSION_LIMIT, |line| {
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
