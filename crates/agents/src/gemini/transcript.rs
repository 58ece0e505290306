//! Gemini CLI's transcript, the chat file. It contains a record of type `gemini` for each response of the model. When
//! the tool calls of the response are done, the record is repeated with the same id.
//!
//! The figures for input tokens include cached tokens; these are subtracted. Subagents have separate chat files, in a
//! directory named after the session's id.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::transcript::{MessageTokens, MessageUsage, ReaderState, TranscriptFormat, time};

pub(super) const FORMAT: TranscriptFormat = TranscriptFormat {
    usage,
    subagents,
    message,
    usage_markers: &["\"tokens\"", "\"kind\""],
    ..TranscriptFormat::NONE
};

fn usage(line: &Value, state: &mut ReaderState) -> Option<MessageUsage> {
    // The field `kind` in the first line shows whether the chat is that of a subagent.
    if let (Some(kind), Some(_)) = (line.get("kind").and_then(Value::as_str), line.get("sessionId")) {
        state.is_subagent = kind == "subagent";
        return None;
    }
    if line.get("type").and_then(Value::as_str) != Some("gemini") {
        return None;
    }
    let tokens = line.get("tokens")?;
    let count = |key: &str| tokens.get(key).and_then(Value::as_u64).unwrap_or_default();
    Some(MessageUsage {
        id: line.get("id")?.as_str()?.to_owned(),
        time: time(line)?,
        tokens: MessageTokens {
            input: count("input").saturating_sub(count("cached")).saturating_add(count("tool")),
            output: count("output").saturating_add(count("thoughts")),
            cache_read: count("cached"),
            cache_write: 0,
        },
        is_subagent: state.is_subagent,
    })
}

/// Returns the chat files of the session's subagents. These files are in a directory whose name is the session's id,
/// next to the session's own chat file. The name of that chat file ends in the first characters of the id.
fn subagents(session: &Path) -> Vec<PathBuf> {
    let name = session.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let Some((_, start)) = name.rsplit_once('-').filter(|(_, start)| start.len() >= 8) else { return Vec::new() };
    let directories =
        session.parent().and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten().flatten();
    let own = directories.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(start)));
    let chats = own.filter_map(|entry| fs::read_dir(entry.path()).ok()).flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = chats.filter(|path| path.extension() == Some(OsStr::new("jsonl"))).collect();
    found.sort();
    found
}

fn message(line: &Value) -> Option<String> {
    let text = line.get("content")?.as_str().filter(|text| !text.is_empty())?;
    (line.get("type").and_then(Value::as_str) == Some("gemini")).then(|| text.to_owned())
}
