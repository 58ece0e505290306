//! Output of commands: text for people, or JSON for programs.

use std::cell::OnceCell;
use std::fmt::Display;
use std::io::{self, Write};

use engine::Level;
use policy::RenderStyle;
use serde_json::Value;

use crate::stdout::{is_unwritable, was_closed};

pub struct Output {
    pub json: bool,
    pub coloured: bool,
    /// True if the purpose of the command is its output, not only its exit code. Then it is an error if stdout is
    /// closed.
    is_for_reading: bool,
    /// The error of the first write to stdout that failed. After it, nothing more is written, because output with a gap
    /// could be mistaken for a complete result.
    failure: OnceCell<io::Error>,
}

impl Output {
    pub fn new(json: bool, coloured: bool) -> Self {
        Self { json, coloured: coloured && !json, is_for_reading: json, failure: OnceCell::new() }
    }

    /// Makes a closed stdout an error if `is_for_reading` is true: the purpose of the command is its output.
    #[must_use]
    pub fn for_reading(self, is_for_reading: bool) -> Self {
        Self { is_for_reading: self.is_for_reading || is_for_reading, ..self }
    }

    pub fn line(&self, text: impl Display) {
        let text = text.to_string();
        let allowed = if self.coloured { OWN_COLOURS } else { &[] };
        self.write(&format!("{}\n", without_controls(&text, allowed)));
    }

    /// Prints a message for people to stderr. It is not part of the command's result.
    pub fn aside(&self, text: impl Display) {
        if !self.json {
            let _ = writeln!(io::stderr(), "{}", without_controls(&text.to_string(), &[]));
        }
    }

    /// Prints the text for people, or the value for programs.
    pub fn line_or(&self, text: impl Display, value: &Value) {
        if self.json {
            self.value(value);
        } else {
            self.line(text);
        }
    }

    pub fn blank(&self) {
        self.line("");
    }

    pub fn value(&self, value: &Value) {
        self.write(&format!("{value}\n"));
    }

    /// Prints text that is already rendered, including colours.
    pub fn rendered(&self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// Writes a text to stdout unchanged. Everything that commands write to stdout goes through this method.
    pub fn write(&self, text: &str) {
        if self.failure.get().is_some() {
            return;
        }
        let mut stdout = io::stdout();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        let is_lost = is_unwritable() || (self.is_for_reading && was_closed());
        if let Err(error) = written.and_then(|()| if is_lost { Err(not_open()) } else { Ok(()) }) {
            let _ = self.failure.set(error);
        }
    }

    /// True if further output would be lost.
    pub fn is_closed(&self) -> bool {
        self.failure.get().is_some()
    }

    /// Returns why the result could not be written. A closed pipe, as in `linchpin log | head`, is not an error.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    pub fn style(&self) -> RenderStyle {
        if self.coloured { RenderStyle::Coloured } else { RenderStyle::Plain }
    }

    pub fn level(&self, level: Level) -> String {
        let code = match level {
            Level::Allow => "32",
            Level::Warn => "33",
            Level::Ask => "35",
            Level::Block => "31",
        };
        self.paint(code, level.name())
    }

    pub fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.coloured { format!("\u{1b}[{code}m{}\u{1b}[0m", without_controls(text, &[])) } else { text.to_owned() }
    }
}

fn not_open() -> io::Error {
    io::Error::other("it is not open for writing")
}

/// Removes control characters except for the `allowed` sequences, because text from an agent or a repository must not
/// control the terminal.
fn without_controls(text: &str, allowed: &[&str]) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let sequence = allowed.iter().find(|sequence| rest.starts_with(**sequence));
        let length = sequence.map_or(char.len_utf8(), |sequence| sequence.len());
        let (head, tail) = rest.split_at(length);
        if sequence.is_some() || char == '\n' || char == '\t' || !controls_terminal(char) {
            cleaned.push_str(head);
        }
        rest = tail;
    }
    cleaned
}

/// True for control characters and for characters that change the text direction.
fn controls_terminal(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The colour codes that [`Output::paint`] writes. Other control sequences are removed from texts.
const OWN_COLOURS: &[&str] =
    &["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[35m"];
