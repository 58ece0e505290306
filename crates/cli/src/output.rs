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
    /// The purpose of the command is its output, not only its exit code, so a closed stdout is an error.
    is_for_reading: bool,
    /// The first failed write to stdout. Nothing is written after it, because a partial result could be mistaken for a
    /// complete one.
    failure: OnceCell<io::Error>,
}

impl Output {
    pub fn new(json: bool, coloured: bool) -> Self {
        Self { json, coloured: coloured && !json, is_for_reading: json, failure: OnceCell::new() }
    }

    /// The same output, for a command that only prints.
    #[must_use]
    pub fn for_reading(self, is_for_reading: bool) -> Self {
        Self { is_for_reading: self.is_for_reading || is_for_reading, ..self }
    }

    pub fn line(&self, text: impl Display) {
        let text = text.to_string();
        let own = if self.coloured { OWN_COLOURS } else { &[] };
        self.write(&format!("{}\n", without_controls(&text, own)));
    }

    /// Prints a message to stderr for people; not part of the result.
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

    /// Writes a text unchanged. All output of commands goes through this method.
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

    /// The reason why the result could not be written. A closed pipe, as in `linchpin log | head`, is not an error.
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

/// Removes control characters: text from an agent or a repository must not control the terminal.
fn without_controls(text: &str, but: &[&str]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let excepted = but.iter().find(|sequence| rest.starts_with(**sequence));
        let length = excepted.map_or(letter.len_utf8(), |sequence| sequence.len());
        let (head, tail) = rest.split_at(length);
        if excepted.is_some() || letter == '\n' || letter == '\t' || !drives_terminal(letter) {
            kept.push_str(head);
        }
        rest = tail;
    }
    kept
}

/// True for control characters and for characters that change the text direction.
fn drives_terminal(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The colour codes that [`Output::paint`] writes, the only ones that text may contain.
const OWN_COLOURS: &[&str] =
    &["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[35m"];
