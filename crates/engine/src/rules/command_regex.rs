//! `command_pattern` and `command_not_pattern`: searches in the normalised text of each simple command.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Truth;
use crate::bounded_regex::{LazyRegex, RegexError, RegexSource};
use crate::situation::Situation;
use shell::SimpleCommand;

/// Both are about one simple command at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRegex {
    pub pattern: Option<RegexSource>,
    pub not_pattern: Option<RegexSource>,
}

/// Which commands a rule is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    /// Each as it is.
    Commands,
    /// Each, and what it is run through: a rule against `sudo` means all that runs by it.
    CommandsAndWrappers,
}

impl Against {
    pub(super) fn wrappers(self, command: &SimpleCommand) -> &[Arc<SimpleCommand>] {
        match self {
            Self::Commands => &[],
            Self::CommandsAndWrappers => &command.wrappers,
        }
    }
}

impl CommandRegex {
    pub fn is_some(&self) -> bool {
        self.pattern.is_some() || self.not_pattern.is_some()
    }

    /// What is said of each command, or of what it is run through.
    pub(crate) fn truths(&self, situation: &Situation, against: Against) -> Result<Vec<Truth>, RegexError> {
        let Some(script) = situation.script() else { return Ok(Vec::new()) };
        let pattern = self.pattern.as_ref().map(CommandTruths::of);
        let not_pattern = self.not_pattern.as_ref().map(CommandTruths::of);
        script
            .commands
            .iter()
            .enumerate()
            .map(|(place, command)| {
                // One that only assigns or redirects runs no program to speak of.
                if command.words().is_empty() || !situation.concerns(place) {
                    return Ok(Truth::False);
                }
                let truth = |command: &SimpleCommand| {
                    let meant = pattern.as_ref().map_or(Ok(Truth::True), |search| search.truth(command))?;
                    if meant == Truth::False {
                        return Ok(meant);
                    }
                    let excepted = not_pattern.as_ref().map_or(Ok(Truth::False), |search| search.truth(command))?;
                    Ok(meant.and(!excepted))
                };
                // What is only said not to be something is the command itself.
                let wrappers = against.wrappers(command).iter().filter(|_| pattern.is_some());
                wrappers.map(|wrapper| truth(wrapper)).try_fold(truth(command)?, |found, more| Ok(found.or(more?)))
            })
            .collect()
    }

    /// The key in the rule's file.
    pub(super) fn key(&self) -> &'static str {
        if self.pattern.is_some() { "command_pattern" } else { "command_not_pattern" }
    }
}

/// One search over the simple commands of a call.
struct CommandTruths<'a> {
    search: LazyRegex<'a>,
    pieces: Option<&'a [String]>,
}

/// Stands for a part of a word that cannot be known; no rule is about it.
const UNKNOWN: &str = "\u{FFFC}";

impl<'a> CommandTruths<'a> {
    fn of(text: &'a RegexSource) -> Self {
        Self {
            search: LazyRegex::new(text.regex.as_str(), Cow::Borrowed(&text.hints)),
            pieces: text.hints.pieces.as_deref(),
        }
    }

    /// True where the expression is found whatever the unknown words turn out to be; unknown where its own constant
    /// pieces in their place would make it found. Only a program can be unknown *and* an option: an unknown operand is
    /// taken to be an operand, or every `git push origin "$branch"` would be asked about.
    fn truth(&self, command: &SimpleCommand) -> Result<Truth, RegexError> {
        let count = command.unknown_words();
        if self.search.found_in(&command.text_if(&vec![UNKNOWN; count]))? {
            return Ok(Truth::True);
        }
        if count == 0 {
            return Ok(Truth::False);
        }
        let Some(pieces) = self.pieces else { return Ok(Truth::Unknown) };
        let operands: Vec<&str> =
            pieces.iter().filter(|piece| !piece.starts_with('-')).map(String::as_str).chain([UNKNOWN, ""]).collect();
        let programs: Vec<&str> = pieces.iter().map(String::as_str).chain([UNKNOWN, ""]).collect();
        let mut choices = vec![operands.as_slice(); count];
        if let (Some(first), None) = (choices.first_mut(), command.program()) {
            *first = &programs;
        }
        let combinations = choices.iter().try_fold(1_usize, |product, choice| product.checked_mul(choice.len()));
        // More than are worth trying could be anything.
        let Some(combinations) = combinations.filter(|count| *count <= COMBINATIONS_LIMIT) else {
            return Ok(Truth::Unknown);
        };
        for combination in 0..combinations {
            if self.search.found_in(&command.text_if(&combination_of(&choices, combination)))? {
                return Ok(Truth::Unknown);
            }
        }
        Ok(Truth::False)
    }
}

const COMBINATIONS_LIMIT: usize = 1024;

/// The combination of this number: one of each choice.
fn combination_of<'a>(choices: &[&[&'a str]], mut number: usize) -> Vec<&'a str> {
    let mut combination = Vec::with_capacity(choices.len());
    for choice in choices {
        combination.extend(choice.get(number % choice.len()));
        number /= choice.len();
    }
    combination
}
