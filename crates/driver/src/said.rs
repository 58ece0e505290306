//! What an agent says while it works: for people, for the log of the iteration, and for what it costs.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use runner::Stream;
use serde_json::Value;

/// How an agent speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speech {
    Plain,
    /// A JSON object a line, as Claude Code's `stream-json` has them.
    ClaudeEvents,
}

/// A log grows to this and no further.
const LOG_LIMIT: usize = 10 * 1024 * 1024;
/// So much of the end is kept, to see what was the matter.
const END: usize = 4 * 1024;
/// A line that is longer is no event.
const LONGEST_LINE: usize = 8 * 1024 * 1024;

pub struct Said {
    speech: Speech,
    log: Option<File>,
    logged: usize,
    /// The last that was said, on either stream.
    end: Vec<u8>,
    /// Of events: the line that is not whole yet.
    line: Vec<u8>,
    /// That line is too long, and nothing of it is told.
    is_too_long: bool,
    pub usage: Usage,
}

impl Said {
    /// Where there can be no log, there is none.
    pub fn new(speech: Speech, log: &Path) -> Self {
        let made = || -> io::Result<File> {
            if let Some(folder) = log.parent() {
                fs::create_dir_all(folder)?;
            }
            policy::write_private_file(log, "")?;
            File::options().append(true).open(log)
        };
        Self {
            speech,
            log: made().ok(),
            logged: 0,
            end: Vec::new(),
            line: Vec::new(),
            is_too_long: false,
            usage: Usage::default(),
        }
    }

    /// Takes a piece, and tells what of it is for people.
    pub fn hear(&mut self, stream: Stream, piece: &[u8], mut tell: impl FnMut(&str)) {
        self.keep(piece);
        if self.speech == Speech::Plain || stream == Stream::Error {
            tell(&String::from_utf8_lossy(piece));
        }
        if stream == Stream::Error {
            return;
        }
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.finish(&mut tell);
            }
        }
        if self.line.len() > LONGEST_LINE {
            self.line.clear();
            self.is_too_long = true;
        }
    }

    /// Nothing comes any more on this line.
    pub fn finish(&mut self, mut tell: impl FnMut(&str)) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            return;
        }
        let event = Some(&line).filter(|line| line.trim_ascii_start().starts_with(b"{"));
        let event = event.and_then(|line| serde_json::from_slice::<Value>(line).ok());
        if let Some(event) = &event {
            self.usage.add(event);
        }
        if self.speech == Speech::Plain {
            return;
        }
        let Some(event) = event else {
            // What keeps it from working it often says in plain words.
            let line = String::from_utf8_lossy(&line);
            if !line.trim().is_empty() {
                tell(&format!("{}\n", line.trim_end()));
            }
            return;
        };
        for text in texts(&event) {
            tell(&format!("{text}\n"));
        }
    }

    /// The end of it.
    pub fn end(&self) -> String {
        String::from_utf8_lossy(&self.end).into_owned()
    }

    fn keep(&mut self, piece: &[u8]) {
        self.end.extend_from_slice(piece);
        let surplus = self.end.len().saturating_sub(END);
        self.end.drain(..surplus);
        let room = LOG_LIMIT.saturating_sub(self.logged);
        let Some(log) = self.log.as_mut().filter(|_| room > 0) else { return };
        let kept = piece.get(..piece.len().min(room)).unwrap_or_default();
        self.logged += kept.len();
        let cut = if self.logged == LOG_LIMIT { "\n(the rest is not kept)\n" } else { "" };
        // A log that cannot be written does not end the work.
        let _ = log.write_all(kept).and_then(|()| log.write_all(cut.as_bytes()));
    }
}

/// What an agent's own events say that it used up, whichever way it was started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    pub tokens: Option<i64>,
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Claude Code and Gemini CLI sum up in a last event `result`, Codex after each turn.
    fn add(&mut self, event: &Value) {
        self.cost_usd = event.get("total_cost_usd").and_then(Value::as_f64).or(self.cost_usd);
        let kind = event.get("type").and_then(Value::as_str);
        let Some(figures) = ["usage", "stats"].iter().find_map(|key| event.get(key)) else { return };
        let figure = |name: &str| figures.get(name).and_then(Value::as_i64).filter(|figure| *figure >= 0);
        // Codex counts what it read from its cache as input too.
        let parts = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let sum = || parts.iter().filter_map(|part| figure(part)).reduce(i64::saturating_add);
        if matches!(kind, Some("result" | "turn.completed"))
            && let Some(tokens) = figure("total_tokens").or_else(sum)
        {
            self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(tokens));
        }
    }
}

/// What an assistant's event says in words.
fn texts(event: &Value) -> impl Iterator<Item = &str> {
    let is_assistants = event.get("type").and_then(Value::as_str) == Some("assistant");
    let content = event.pointer("/message/content").and_then(Value::as_array).filter(|_| is_assistants);
    content.into_iter().flatten().filter_map(|part| part.get("text").and_then(Value::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_words_and_a_cost_however_they_are_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let lines = concat!(
            "{\"type\":\"system\"}\n",
            "Update available.\n\n",
            "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Looking.\"},{\"type\":\"tool_use\"}]}}\n",
            "{\"type\":\"result\",\"total_cost_usd\":0.25}\n",
        );
        for size in [1, 7, 1000] {
            let mut said = Said::new(Speech::ClaudeEvents, &folder.path().join("log"));
            let mut told = String::new();
            for piece in lines.as_bytes().chunks(size) {
                said.hear(Stream::Output, piece, |text| told.push_str(text));
            }
            assert_eq!((told.as_str(), said.usage.cost_usd), ("Update available.\nLooking.\n", Some(0.25)));
            assert_eq!(fs::read_to_string(folder.path().join("log")).expect("a log"), lines);
        }
    }

    #[test]
    fn what_was_used_up_is_read_from_events_of_any_agent() {
        let folder = tempfile::tempdir().expect("a folder");
        let used = |lines: &str| {
            let mut said = Said::new(Speech::Plain, &folder.path().join("log"));
            let mut told = String::new();
            said.hear(Stream::Output, lines.as_bytes(), |text| told.push_str(text));
            said.finish(|text| told.push_str(text));
            assert_eq!(told, lines, "what is plain is told as it is");
            (said.usage.tokens, said.usage.cost_usd)
        };
        let claude = concat!(
            "{\"type\":\"assistant\",\"message\":{\"usage\":{\"input_tokens\":5}}}\n",
            "{\"type\":\"result\",\"total_cost_usd\":0.5,\"usage\":{\"input_tokens\":10,\"output_tokens\":3,\
             \"cache_read_input_tokens\":100,\"cache_creation_input_tokens\":7}}",
        );
        assert_eq!(used(claude), (Some(120), Some(0.5)));
        let turn = "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":10,\"cached_input_tokens\":4,\"output_tokens\":2}}\n";
        assert_eq!(used(&turn.repeat(2)), (Some(24), None));
        assert_eq!(used("{\"type\":\"result\",\"stats\":{\"total_tokens\":9}}\n"), (Some(9), None));
        assert_eq!(
            used("no usage\n{\"usage\": 5}\n{\"type\":\"result\",\"usage\":{\"input_tokens\":-5}}\n"),
            (None, None)
        );
    }

    #[test]
    fn of_a_line_that_is_too_long_nothing_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut said = Said::new(Speech::ClaudeEvents, &folder.path().join("log"));
        let mut told = String::new();
        let long = [b"{\"text\":\"".to_vec(), vec![b'x'; LONGEST_LINE]].concat();
        for piece in [long.as_slice(), b"rest\"}\nplain"] {
            said.hear(Stream::Output, piece, |text| told.push_str(text));
        }
        said.finish(|text| told.push_str(text));
        assert_eq!(told, "plain\n");
    }

    #[test]
    fn a_flood_is_cut_in_the_log() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut said = Said::new(Speech::Plain, &folder.path().join("log"));
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..12 {
            said.hear(Stream::Output, &piece, |_| ());
        }
        let log = fs::read_to_string(folder.path().join("log")).expect("a log");
        assert!(log.len() < LOG_LIMIT + 100 && log.ends_with("(the rest is not kept)\n"));
        assert_eq!(said.end().len(), END);
    }
}
