//! Handles the output of a running agent: shows it, logs it, and reads token usage from it.

use std::path::Path;

use runner::Stream;
use serde_json::Value;

use crate::agent_log::AgentLog;
use crate::reported_usage::ReportedUsage;

/// The format of an agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    Plain,
    /// One JSON object per line, as in Claude Code's `stream-json`.
    ClaudeEvents,
}

/// The number of bytes at the end of the output that are stored, to find out why an agent failed.
const TAIL_SIZE: usize = 4 * 1024;
/// The number of lines at the end of the output that are searched for error messages. In earlier lines, the agent may
/// be quoting such a message.
const LAST_LINES: usize = 3;
/// The maximum length of a line. Longer ones are not parsed as events.
const MAX_LINE_LENGTH: usize = 8 * 1024 * 1024;

pub struct AgentOutput {
    format: OutputFormat,
    log: AgentLog,
    /// The last bytes of stdout and stderr together.
    tail: Vec<u8>,
    /// The incomplete last line of stdout.
    partial_line: Vec<u8>,
    /// True if the line is too long. The line is then not shown.
    is_too_long: bool,
    pub usage: ReportedUsage,
}

impl AgentOutput {
    pub fn new(format: OutputFormat, log: &Path) -> Self {
        Self {
            format,
            log: AgentLog::new(log),
            tail: Vec::new(),
            partial_line: Vec::new(),
            is_too_long: false,
            usage: ReportedUsage::default(),
        }
    }

    /// Processes a piece of output, and shows the part of it that people read.
    pub fn receive(&mut self, stream: Stream, piece: &[u8], mut show: impl FnMut(&str)) {
        self.log.append(stream, piece);
        self.append_to_tail(piece);
        if self.format == OutputFormat::Plain || stream == Stream::Stderr {
            show(&String::from_utf8_lossy(piece));
        }
        if stream == Stream::Stderr {
            return;
        }
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.partial_line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.process_line(&mut show);
            }
        }
        if self.partial_line.len() > MAX_LINE_LENGTH {
            self.partial_line.clear();
            self.is_too_long = true;
        }
    }

    /// Processes the rest of the output. Called when the agent has ended.
    pub fn finish(&mut self, show: impl FnMut(&str)) {
        self.process_line(show);
        self.log.finish();
    }

    fn process_line(&mut self, mut show: impl FnMut(&str)) {
        let line = std::mem::take(&mut self.partial_line);
        if std::mem::take(&mut self.is_too_long) {
            return;
        }
        let event = Some(&line).filter(|line| line.trim_ascii_start().starts_with(b"{"));
        let event = event.and_then(|line| serde_json::from_slice::<Value>(line).ok());
        if let Some(event) = &event {
            self.usage.add(event);
        }
        if self.format == OutputFormat::Plain {
            return;
        }
        let Some(event) = event else {
            // Agents often print plain text to say why they cannot work.
            let line = String::from_utf8_lossy(&line);
            if !line.trim().is_empty() {
                show(&format!("{}\n", line.trim_end()));
            }
            return;
        };
        for text in assistant_texts(&event) {
            show(&format!("{text}\n"));
        }
    }

    /// Returns the last [`LAST_LINES`] lines that are not blank.
    pub fn last_lines(&self) -> String {
        let tail = String::from_utf8_lossy(&self.tail);
        let lines: Vec<&str> = tail.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default().join("\n")
    }

    fn append_to_tail(&mut self, piece: &[u8]) {
        self.tail.extend_from_slice(piece);
        let surplus = self.tail.len().saturating_sub(TAIL_SIZE);
        self.tail.drain(..surplus);
    }
}

/// Returns the texts in an assistant's event.
fn assistant_texts(event: &Value) -> impl Iterator<Item = &str> {
    let is_from_assistant = event.get("type").and_then(Value::as_str) == Some("assistant");
    let content = event.pointer("/message/content").and_then(Value::as_array).filter(|_| is_from_assistant);
    content.into_iter().flatten().filter_map(|part| part.get("text").and_then(Value::as_str))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn texts_and_cost_are_read_from_events_in_pieces_of_any_size() {
        let directory = tempfile::tempdir().expect("a directory");
        let lines = concat!(
            "{\"type\":\"system\"}\n",
            "Update available.\n\n",
            "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Looking.\"},{\"type\":\"tool_use\"}]}}\n",
            "{\"type\":\"result\",\"total_cost_usd\":0.25}\n",
        );
        for size in [1, 7, 1000] {
            let mut output = AgentOutput::new(OutputFormat::ClaudeEvents, &directory.path().join("log"));
            let mut shown = String::new();
            for piece in lines.as_bytes().chunks(size) {
                output.receive(Stream::Stdout, piece, |text| shown.push_str(text));
            }
            assert_eq!((shown.as_str(), output.usage.cost_usd), ("Update available.\nLooking.\n", Some(0.25)));
            assert_eq!(fs::read_to_string(directory.path().join("log")).expect("a log"), lines);
        }
    }

    #[test]
    fn usage_is_read_from_the_events_of_every_agent() {
        let directory = tempfile::tempdir().expect("a directory");
        let usage_of = |lines: &str| {
            let mut output = AgentOutput::new(OutputFormat::Plain, &directory.path().join("log"));
            let mut shown = String::new();
            output.receive(Stream::Stdout, lines.as_bytes(), |text| shown.push_str(text));
            output.finish(|text| shown.push_str(text));
            assert_eq!(shown, lines, "plain output is shown as it is");
            (output.usage.tokens, output.usage.cost_usd)
        };
        let claude = concat!(
            "{\"type\":\"assistant\",\"message\":{\"usage\":{\"input_tokens\":5}}}\n",
            "{\"type\":\"result\",\"total_cost_usd\":0.5,\"usage\":{\"input_tokens\":10,\"output_tokens\":3,\
             \"cache_read_input_tokens\":100,\"cache_creation_input_tokens\":7}}",
        );
        assert_eq!(usage_of(claude), (Some(120), Some(0.5)));
        let turn = "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":10,\"cached_input_tokens\":4,\"output_tokens\":2}}\n";
        assert_eq!(usage_of(&turn.repeat(2)), (Some(24), None));
        assert_eq!(usage_of("{\"type\":\"result\",\"stats\":{\"total_tokens\":9}}\n"), (Some(9), None));
        assert_eq!(
            usage_of("no usage\n{\"usage\": 5}\n{\"type\":\"result\",\"usage\":{\"input_tokens\":-5}}\n"),
            (None, None)
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_not_shown() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut output = AgentOutput::new(OutputFormat::ClaudeEvents, &directory.path().join("log"));
        let mut shown = String::new();
        let long = [b"{\"text\":\"".to_vec(), vec![b'x'; MAX_LINE_LENGTH]].concat();
        for piece in [long.as_slice(), b"rest\"}\nplain"] {
            output.receive(Stream::Stdout, piece, |text| shown.push_str(text));
        }
        output.finish(|text| shown.push_str(text));
        assert_eq!(shown, "plain\n");
    }
}
