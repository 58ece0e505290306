//! What an agent's transcript says that its hooks do not: tokens used, the last message, how a command ended, the
//! mode of a turn.
//!
//! Transcripts are lines of JSON that grow at the end, may lag behind, and may end in half a line. Their formats are
//! the agents' own business and change; whatever is not understood counts as nothing. All reading is bounded.

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

pub(crate) use position::Known;
pub use position::TranscriptPosition;
pub(crate) use usage::time;
pub use usage::{MessageTokens, MessageUsage, TokenUsage, usage};

/// How one agent writes its transcript.
pub(crate) struct Format {
    /// The usage that a line reports, if it reports one. What later lines are read by is noted.
    pub usage: fn(&Value, &mut Known) -> Option<MessageUsage>,
    /// The transcripts of the subagents of the session that has this one, where they can be found by it.
    pub subagents: fn(&Path) -> Vec<PathBuf>,
    /// The text of an assistant's message, if the line is one of the main agent's.
    pub message: fn(&Value) -> Option<String>,
    /// Where what is said last may not be written yet when a stop is told of: whether this last line shows that it is.
    pub has_caught_up: Option<fn(&Value, &Event) -> bool>,
    /// How the call of this id went, if the line says so.
    pub outcome: fn(&Value, call: &str) -> Option<CallOutcome>,
    /// The mode of the turn of this id, if the line is the one that would say so; null where it does not.
    pub mode: fn(&Value, turn: &str) -> Option<Value>,
    /// Only lines with one of these in them matter to `usage`; the others need not be parsed.
    pub usage_marks: &'static [&'static str],
}

impl Format {
    /// An agent whose transcript, if it has one, tells nothing that is read.
    pub(crate) const NONE: Self = Self {
        usage: |_, _| None,
        subagents: |_| Vec::new(),
        message: |_| None,
        has_caught_up: None,
        outcome: |_, _| None,
        mode: |_, _| None,
        usage_marks: &[],
    };
}

/// A transcript is read from the end in search of its last message, but not further than this.
const TAIL_LIMIT: u64 = 4 * 1024 * 1024;

/// The transcript of a session and those of its subagents, as far as it is known where they lie. Not all need exist.
///
/// Codex puts a subagent's beside all others, under a name that only the subagent's own hooks tell.
pub fn files_of(agent: Agent, path: &Path) -> Vec<PathBuf> {
    let subagents = (agent.adapter().transcript.subagents)(path);
    std::iter::once(path.to_owned()).chain(subagents).collect()
}

/// The last thing that the main agent said, if it said it recently enough to be found.
pub fn last_message(agent: Agent, path: &Path) -> io::Result<Option<String>> {
    let format = &agent.adapter().transcript;
    last(path, |line| (format.message)(line))
}

/// Waits until the transcript tells what was said before the event: some agents write with a delay. Not longer than
/// `patience`, nor than any of them needs.
pub fn catch_up(agent: Agent, path: &Path, event: &Event, patience: Duration) {
    let Some(has_caught_up) = agent.adapter().transcript.has_caught_up else { return };
    let end = Instant::now() + patience.min(LONGEST_DELAY);
    // There may not even be a file yet.
    while !matches!(last(path, |line| Some(has_caught_up(line, event))), Ok(Some(true))) && Instant::now() < end {
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

const LONGEST_DELAY: Duration = Duration::from_millis(800);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// How a tool call went, where the agent's hook did not say. A call that the transcript does not know (yet) gives
/// nothing.
pub fn outcome(agent: Agent, path: &Path, call: &str) -> io::Result<Option<CallOutcome>> {
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
        lines::for_each(&mut source, false, lines::UNPACK_LIMIT, |line| {
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
