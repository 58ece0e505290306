//! `command_pattern` and `command_not_pattern`: regexes on the normalised text of each simple command.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Truth;
use crate::bounded_regex::{LazyRegex, RegexError, RegexSource};
use crate::situation::Situation;
use shell::SimpleCommand;

/// Both regexes are matched against one simple command at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRegex {
    pub pattern: Option<RegexSource>,
    pub not_pattern: Option<RegexSource>,
}

/// The commands that a rule is matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandScope {
    /// Simple commands without their wrappers.
    Commands,
    /// Simple commands and their wrappers: a rule against `sudo` applies to everything run by it.
    CommandsAndWrappers,
}

impl CommandScope {
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

    /// The truth for each simple command or one of its wrappers.
    pub(crate) fn truths(&self, situation: &Situation, scope: CommandScope) -> Result<Vec<Truth>, RegexError> {
        let Some(script) = situation.script() else { return Ok(Vec::new()) };
        let pattern = self.pattern.as_ref().map(CommandTruths::of);
        let not_pattern = self.not_pattern.as_ref().map(CommandTruths::of);
        script
            .commands
            .iter()
            .enumerate()
            .map(|(index, command)| {
                // A command of only assignments or redirections runs no program.
                if command.words().is_empty() || !situation.is_in_scope(index) {
                    return Ok(Truth::False);
                }
                let truth = |command: &SimpleCommand| {
                    let matched = pattern.as_ref().map_or(Ok(Truth::True), |regex| regex.truth(command))?;
                    if matched == Truth::False {
                        return Ok(matched);
                    }
                    let excepted = not_pattern.as_ref().map_or(Ok(Truth::False), |regex| regex.truth(command))?;
                    Ok(matched.and(!excepted))
                };
                // If a rule has only `command_not_pattern`, nearly every wrapper would match.
                let wrappers = scope.wrappers(command).iter().filter(|_| pattern.is_some());
                wrappers.map(|wrapper| truth(wrapper)).try_fold(truth(command)?, |found, more| Ok(found.or(more?)))
            })
            .collect()
    }

    pub(super) fn key(&self) -> &'static str {
        if self.pattern.is_some() { "command_pattern" } else { "command_not_pattern" }
    }
}

/// One regex applied to the simple commands of a call.
struct CommandTruths<'a> {
    regex: LazyRegex<'a>,
    constant_parts: Option<&'a [String]>,
}

/// Placeholder for an unknown part of a word; no regex contains it.
const UNKNOWN: &str = "\u{FFFC}";

impl<'a> CommandTruths<'a> {
    fn of(text: &'a RegexSource) -> Self {
        Self {
            regex: LazyRegex::new(text.regex.as_str(), Cow::Borrowed(&text.hints)),
            constant_parts: text.hints.constant_parts.as_deref(),
        }
    }

    /// True if the regex matches regardless of the unknown words; unknown if it matches with some of its own constant
    /// parts in place of the unknown words. Only an unknown program may turn out to be a flag: unknown operands are
    /// assumed to be operands, otherwise rules would ask at every `git push origin "$branch"`.
    fn truth(&self, command: &SimpleCommand) -> Result<Truth, RegexError> {
        let count = command.unknown_words();
        if self.regex.is_match(&command.text_if(&vec![UNKNOWN; count]))? {
            return Ok(Truth::True);
        }
        if count == 0 {
            return Ok(Truth::False);
        }
        let Some(constant_parts) = self.constant_parts else { return Ok(Truth::Unknown) };
        let operands: Vec<&str> = constant_parts
            .iter()
            .filter(|part| !part.starts_with('-'))
            .map(String::as_str)
            .chain([UNKNOWN, ""])
            .collect();
        let programs: Vec<&str> = constant_parts.iter().map(String::as_str).chain([UNKNOWN, ""]).collect();
        let mut choices = vec![operands.as_slice(); count];
        if let (Some(first), None) = (choices.first_mut(), command.program()) {
            *first = &programs;
        }
        let combinations = choices.iter().try_fold(1_usize, |product, choice| product.checked_mul(choice.len()));
        // Too many combinations to try.
        let Some(combinations) = combinations.filter(|count| *count <= COMBINATIONS_LIMIT) else {
            return Ok(Truth::Unknown);
        };
        for combination in 0..combinations {
            if self.regex.is_match(&command.text_if(&combination_of(&choices, combination)))? {
                return Ok(Truth::Unknown);
            }
        }
        Ok(Truth::False)
    }
}

const COMBINATIONS_LIMIT: usize = 1024;

/// The combination with this number: one item of each choice.
fn combination_of<'a>(choices: &[&[&'a str]], mut number: usize) -> Vec<&'a str> {
    let mut combination = Vec::with_capacity(choices.len());
    for choice in choices {
        combination.extend(choice.get(number % choice.len()));
        number /= choice.len();
    }
    combination
}
