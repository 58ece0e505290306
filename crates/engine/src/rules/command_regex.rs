//! `command_pattern` and `command_not_pattern`: regexes on the normalized text of each simple command.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Truth, strongest_truth};
use crate::bounded_regex::{LazyRegex, RegexError, RegexSource};
use crate::situation::Situation;
use shell::SimpleCommand;

/// The regexes of `command_pattern` and `command_not_pattern`. Both are matched against one simple command at a time.
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
    /// Simple commands, their wrappers, and both together, so that a rule against `sudo` matches every command that
    /// `sudo` runs, and a rule against `npx eslint` matches `eslint` with the wrapper `npx`.
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

    /// Returns the truth for each simple command. With [`CommandScope::CommandsAndWrappers`] and a `command_pattern`, a
    /// command also matches if one of its wrappers matches, or if the text of the wrappers together with the command
    /// (`sudo make`) matches.
    pub(crate) fn truths(&self, situation: &Situation, scope: CommandScope) -> Result<Vec<Truth>, RegexError> {
        let Some(script) = situation.script() else { return Ok(Vec::new()) };
        let truths = PairTruths {
            pattern: self.pattern.as_ref().map(CommandTruths::of),
            not_pattern: self.not_pattern.as_ref().map(CommandTruths::of),
        };
        script
            .commands
            .iter()
            .enumerate()
            .map(|(index, command)| {
                // A command that consists only of assignments or redirections runs no program.
                if command.words().is_empty() || !situation.is_in_scope(index) {
                    return Ok(Truth::False);
                }
                let mut found = truths.truth(command)?;
                // If the rule has only `command_not_pattern`, wrappers are not considered, because nearly every wrapper
                // would match.
                if scope == CommandScope::CommandsAndWrappers && self.pattern.is_some() {
                    for wrapper in &command.wrappers {
                        found = found.or(truths.truth(wrapper)?);
                    }
                    for with_wrappers in situation.with_wrappers(index) {
                        found = found.or(truths.truth_with_wrappers(command, with_wrappers)?);
                    }
                }
                Ok(found.and(strongest_truth(command)))
            })
            .collect()
    }

    pub(super) fn key(&self) -> &'static str {
        if self.pattern.is_some() { "command_pattern" } else { "command_not_pattern" }
    }
}

/// `command_pattern` and `command_not_pattern`, applied to the simple commands of a call.
struct PairTruths<'a> {
    pattern: Option<CommandTruths<'a>>,
    not_pattern: Option<CommandTruths<'a>>,
}

impl PairTruths<'_> {
    fn truth(&self, command: &SimpleCommand) -> Result<Truth, RegexError> {
        let matched = self.pattern.as_ref().map_or(Ok(Truth::True), |regex| regex.truth(command))?;
        if matched == Truth::False { Ok(matched) } else { Ok(matched.and(!self.exception(command)?)) }
    }

    /// The truth for a command together with its wrappers. A command that `command_not_pattern` excepts is also
    /// excepted together with its wrappers.
    fn truth_with_wrappers(&self, command: &SimpleCommand, with_wrappers: &SimpleCommand) -> Result<Truth, RegexError> {
        let Some(pattern) = &self.pattern else { return Ok(Truth::False) };
        // An unknown argument of a wrapper (`timeout "$T" make`) is assumed not to contain a part of the pattern.
        let matched = if with_wrappers.unknown_words() > command.unknown_words() {
            pattern.matches_any_value(with_wrappers)?.into()
        } else {
            pattern.truth(with_wrappers)?
        };
        if matched == Truth::False {
            return Ok(matched);
        }
        Ok(matched.and(!self.exception(command)?).and(!self.exception(with_wrappers)?))
    }

    fn exception(&self, command: &SimpleCommand) -> Result<Truth, RegexError> {
        self.not_pattern.as_ref().map_or(Ok(Truth::False), |regex| regex.truth(command))
    }
}

/// One regex applied to the simple commands of a call.
struct CommandTruths<'a> {
    regex: LazyRegex<'a>,
    constant_parts: Option<&'a [String]>,
}

/// The placeholder for the unknown part of a word. The character is chosen because regexes and commands rarely contain
/// it.
const UNKNOWN: &str = "\u{FFFC}";

impl<'a> CommandTruths<'a> {
    fn of(text: &'a RegexSource) -> Self {
        Self {
            regex: LazyRegex::new(text.regex.as_str(), Cow::Borrowed(&text.hints)),
            constant_parts: text.hints.constant_parts.as_deref(),
        }
    }

    /// True if the regex matches with placeholders in place of the unknown words. It is then assumed that the regex
    /// matches whatever the values of these words are, although a negated class such as `[^/]` excludes some values.
    fn matches_any_value(&self, command: &SimpleCommand) -> Result<bool, RegexError> {
        self.regex.is_match(&command.text_if(&vec![UNKNOWN; command.unknown_words()]))
    }

    /// True if [`Self::matches_any_value`]. Unknown if the regex matches when some
    /// of its own constant parts are put in place of the unknown words, or if this replacement cannot be tried, because
    /// the constant parts are not known or there are too many combinations. An unknown operand is never replaced by a
    /// flag, because otherwise every rule against a flag of `git push` would ask at `git push origin "$branch"`.
    fn truth(&self, command: &SimpleCommand) -> Result<Truth, RegexError> {
        let count = command.unknown_words();
        if self.matches_any_value(command)? {
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

/// The maximum number of combinations of values for the unknown words of a command. If there are more, no combination
/// is tried, and it is unknown whether the regex matches.
const COMBINATIONS_LIMIT: usize = 1024;

/// Returns the combination with this number. A combination contains one item of each element of `choices`.
fn combination_of<'a>(choices: &[&[&'a str]], mut number: usize) -> Vec<&'a str> {
    let mut combination = Vec::with_capacity(choices.len());
    for choice in choices {
        combination.extend(choice.get(number % choice.len()));
        number /= choice.len();
    }
    combination
}
