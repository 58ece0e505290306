//! Where commands print: text for people, or JSON for programs.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use engine::Level;
use policy::Style;
use serde_json::Value;

pub struct Output {
    pub json: bool,
    pub coloured: bool,
}

impl Output {
    /// Colour is for terminals, and for nobody who said no to it.
    pub fn new(json: bool, no_color: bool) -> Self {
        Self { json, coloured: !json && !no_color && io::stdout().is_terminal() }
    }

    /// A reader that has gone away, as `head` does, is no failure.
    pub fn line(&self, text: impl Display) {
        let text = text.to_string();
        let _ = writeln!(
            io::stdout(),
            "{}",
            if self.coloured { without_controls(&text, OWN_COLOURS) } else { without_controls(&text, &[]) }
        );
    }

    /// The text for people, the value for programs.
    /// For whoever reads along; no part of what was asked for.
    pub fn aside(&self, text: impl Display) {
        if !self.json {
            let _ = writeln!(io::stderr(), "{}", without_controls(&text.to_string(), &[]));
        }
    }

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

    #[expect(clippy::unused_self, reason = "printing goes through here, whatever it needs")]
    pub fn value(&self, value: &Value) {
        let _ = writeln!(io::stdout(), "{value}");
    }

    /// What is already rendered, colours included.
    #[expect(clippy::unused_self, reason = "printing goes through here, whatever it needs")]
    pub fn rendered(&self, text: &str) {
        let _ = writeln!(io::stdout(), "{text}");
    }

    pub fn style(&self) -> Style {
        if self.coloured { Style::Coloured } else { Style::Plain }
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

/// Text that came from an agent or a repository must not drive the terminal.
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

/// Control characters, and those that change the order in which others are read.
fn drives_terminal(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What [`Output::paint`] writes. A colour is all that other text can pass for it with.
const OWN_COLOURS: &[&str] =
    &["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[35m"];
