//! Claude Code's transcript. One request to the model is reported in several `assistant` lines, each with the tokens
//! that the request has used so far.
//!
//! The transcript of a forked session begins with a copy of the original session's lines. The copied lines keep their
//! ids and times.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::transcript::{MessageTokens, MessageUsage, ReaderState, TranscriptFormat, time};

pub(super) const FORMAT: TranscriptFormat =
    TranscriptFormat { usage, subagents, message, usage_markers: &["\"usage\""], ..TranscriptFormat::NONE };

/// How many levels of directories below the directory `subagents` are searched for transcripts. Claude Code uses two.
const DEPTH_LIMIT: u8 = 4;

/// True for a response of the model; false for lines that the client generates, such as errors.
fn is_response(line: &Value) -> bool {
    line.get("type").and_then(Value::as_str) == Some("assistant")
        && line.get("isApiErrorMessage") != Some(&Value::Bool(true))
        && line.pointer("/message/model").and_then(Value::as_str) != Some("<synthetic>")
}

fn is_sidechain(line: &Value) -> bool {
    line.get("isSidechain") == Some(&Value::Bool(true))
}

fn usage(line: &Value, _: &mut ReaderState) -> Option<MessageUsage> {
    if !is_response(line) {
        return None;
    }
    let message = line.get("message")?;
    let usage = message.get("usage")?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    Some(MessageUsage {
        id: message.get("id")?.as_str()?.to_owned(),
        time: time(line)?,
        tokens: MessageTokens {
            input: count("input_tokens"),
            output: count("output_tokens"),
            cache_read: count("cache_read_input_tokens"),
            cache_write: count("cache_creation_input_tokens"),
        },
        is_subagent: is_sidechain(line),
    })
}

/// Returns the transcripts of the session's subagents. If the session's transcript is `ID.jsonl`, those of its
/// subagents are in `ID/subagents` and the directories below, which are searched down to [`DEPTH_LIMIT`] levels.
fn subagents(session: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![(session.with_extension("").join("subagents"), DEPTH_LIMIT)];
    while let Some((directory, depth)) = directories.pop() {
        let Ok(entries) = fs::read_dir(directory) else { continue };
        for entry in entries.flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() && depth > 0 {
                directories.push((path, depth - 1));
            } else if kind.is_file() && is_subagent_transcript(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn is_subagent_transcript(path: &Path) -> bool {
    let name = path.file_stem().and_then(OsStr::to_str);
    name.is_some_and(|name| name.starts_with("agent-")) && path.extension() == Some(OsStr::new("jsonl"))
}

fn message(line: &Value) -> Option<String> {
    if !is_response(line) || is_sidechain(line) {
        return None;
    }
    let content = line.pointer("/message/content")?.as_array()?;
    let texts: Vec<&str> = content.iter().filter_map(|block| block.get("text")?.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
