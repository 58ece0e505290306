//! `command`: matches a simple command by its parsed parts instead of its text.
//!
//! All conditions of a matcher must hold for the same simple command. [`shell::programs`] defines the arguments of
//! known programs; for unknown programs, words that begin with a dash are flags and all others operands.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{PathClause, Truth, Wildcard};
use crate::facts::{EventPart, Missing};
use crate::situation::Situation;
use shell::programs::{Arguments, Flag, guessed_arguments};
use shell::{SimpleCommand, Word};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandMatcher {
    /// Base names, one of which must match; empty for any program.
    pub program: Vec<Wildcard>,
    /// Words after the program, ignoring flags: `push`, `remote add`.
    pub subcommand: Vec<String>,
    pub flags_any: Vec<FlagPattern>,
    pub flags_all: Vec<FlagPattern>,
    pub operands_any: Vec<Wildcard>,
    /// Environment variables that are set for the command.
    pub sets: Vec<VariablePattern>,
    /// Environment variables that are removed for the command.
    pub unsets: Vec<String>,
    /// Programs whose output the command executes.
    pub runs_output_of: Vec<Wildcard>,
    /// True for interactive shells and interpreters, which run what is typed into them.
    pub interactive: Option<bool>,
    /// `reads`, `writes` and `deletes`.
    pub paths: Vec<PathClause>,
}

/// `--force`, or `--mode=fast` for a flag with this value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlagPattern {
    pub name: String,
    pub value: Option<Wildcard>,
}

/// `NAME`, or `NAME=value`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariablePattern {
    pub name: String,
    pub value: Option<Wildcard>,
}

impl CommandMatcher {
    /// `index` is the command's index in the script. `missing` receives a missing fact that the result depends on.
    pub(super) fn truth(
        &self,
        command: &SimpleCommand,
        index: usize,
        situation: &Situation,
        missing: &mut Option<Missing>,
    ) -> Truth {
        if command.words().is_empty() {
            return Truth::False;
        }
        let arguments =
            command.arguments().map_or_else(|| Cow::Owned(guessed_arguments(&command.texts_of_words())), Cow::Borrowed);
        let command = ParsedCommand { command, arguments: &arguments };
        let mut truth = self.program_truth(command.command);
        let mut and = |clause: &dyn Fn() -> Truth| {
            if truth != Truth::False {
                truth = truth.and(clause());
            }
        };
        and(&|| any(&self.subcommand, |subcommand| command.has_subcommand(subcommand)));
        and(&|| any(&self.flags_any, |flag| command.has_flag(flag)));
        for flag in &self.flags_all {
            and(&|| command.has_flag(flag));
        }
        and(&|| any(&self.operands_any, |operand| command.has_operand(operand)));
        and(&|| any(&self.sets, |variable| command.has_variable(variable)));
        and(&|| any(&self.unsets, |name| command.command.context.removed.has(name).into()));
        let sources = &command.command.evidence.runs_output_of;
        and(&|| any(&self.runs_output_of, |name| sources.iter().any(|source| name.matches(source)).into()));
        and(&|| self.interactive.is_none_or(|wanted| wanted == command.command.evidence.is_session).into());
        for clause in &self.paths {
            if truth != Truth::False {
                *missing = missing.take().or(situation.facts.require(EventPart::Paths).err());
                truth = truth.and(clause.truth_for_command(index, situation));
            }
        }
        truth
    }

    fn program_truth(&self, command: &SimpleCommand) -> Truth {
        any(&self.program, |name| command.program().map_or(Truth::Unknown, |program| name.matches(program).into()))
    }

    /// Exact program names that can match; `None` for any.
    pub(super) fn programs(&self) -> Option<Vec<&str>> {
        if self.program.is_empty() {
            return None;
        }
        self.program.iter().map(Wildcard::as_literal).collect()
    }
}

/// True if one pattern matches, or if there are none.
fn any<T>(patterns: &[T], truth: impl Fn(&T) -> Truth) -> Truth {
    if patterns.is_empty() {
        return Truth::True;
    }
    patterns.iter().map(truth).fold(Truth::False, Truth::or)
}

/// A command with its parsed arguments.
#[derive(Clone, Copy)]
struct ParsedCommand<'a> {
    command: &'a SimpleCommand,
    arguments: &'a Arguments,
}

impl ParsedCommand<'_> {
    fn has_subcommand(&self, subcommand: &str) -> Truth {
        let named = self.arguments.subcommands.iter().map(|word| Some(word.as_str()));
        let mut words = named.chain(self.arguments.operands.iter().map(|index| self.command.text_from(*index, 0)));
        let mut truth = Truth::True;
        for wanted in subcommand.split_whitespace() {
            truth = truth.and(match words.next() {
                Some(Some(word)) => (word == wanted).into(),
                Some(None) => Truth::Unknown,
                // An unknown word may be the subcommand.
                None => {
                    if self.command.is_known() {
                        Truth::False
                    } else {
                        Truth::Unknown
                    }
                }
            });
        }
        truth
    }

    fn has_flag(&self, pattern: &FlagPattern) -> Truth {
        let unknown = if self.command.has_unknown_flags(self.arguments) { Truth::Unknown } else { Truth::False };
        let given = self.arguments.flags.iter().filter(|flag| self.is_flag(flag, &pattern.name));
        given.map(|flag| self.has_value(flag, pattern.value.as_ref())).fold(unknown, Truth::or)
    }

    fn is_flag(&self, flag: &Flag, name: &str) -> bool {
        // Programs may treat `-auto-approve` as one flag although it looks like a cluster of letters.
        let whole = self.command.text_from(flag.word, 0).and_then(|word| word.split('=').next());
        flag.is(name) || whole == Some(name) || (!flag.is_known() && is_abbreviation(&flag.name, name))
    }

    fn has_value(&self, flag: &Flag, wanted: Option<&Wildcard>) -> Truth {
        let Some(wanted) = wanted else { return Truth::True };
        let text = match flag.value {
            Some(value) => self.command.text_from(value.word, value.from),
            None if flag.is_known() => return Truth::False,
            // It is unknown whether the flag takes a value, so the next word may be one.
            None => self.command.text_from(flag.word + 1, 0),
        };
        text.map_or(Truth::Unknown, |text| wanted.matches(text).into())
    }

    fn has_operand(&self, wanted: &Wildcard) -> Truth {
        let words = self.arguments.operands.iter().filter_map(|index| self.command.words().get(*index));
        let truth = |word: &Word| match &word.value {
            Some(text) => wanted.matches(text).into(),
            // The kind of value that an unknown word stands for may be enough to match, as in `kill $(pgrep NAME)`.
            None if word.meaning().is_some_and(|text| wanted.matches(text)) => Truth::True,
            None => Truth::Unknown,
        };
        let operands = words.filter(|word| !word.is_data()).map(truth);
        operands.fold(Truth::False, Truth::or)
    }

    fn has_variable(&self, wanted: &VariablePattern) -> Truth {
        let set = self.command.assignments().iter().filter(|assignment| assignment.name == wanted.name);
        let exported = self.command.exported().iter().filter(|exported| *exported.name == *wanted.name);
        let values = set.map(|set| set.value.value.as_deref()).chain(exported.map(|set| set.value.as_deref()));
        let truth = |value: Option<&str>| match (&wanted.value, value) {
            (None, _) => Truth::True,
            (Some(wanted), Some(value)) => wanted.matches(value).into(),
            (Some(_), None) => Truth::Unknown,
        };
        values.map(truth).fold(Truth::False, Truth::or)
    }
}

/// True if `given` is an abbreviation of the long flag `name`, such as `--har` for `--hard`, that does not end before a
/// hyphen of `name`.
fn is_abbreviation(given: &str, name: &str) -> bool {
    let rest = name.strip_prefix(given).filter(|_| given.starts_with("--") && given.len() > 3);
    rest.is_some_and(|rest| !rest.starts_with('-'))
}
