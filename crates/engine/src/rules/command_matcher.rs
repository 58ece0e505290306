//! `command`: a simple command by what it is, and not by its text.
//!
//! All that a matcher says must be true of one simple command. What words mean is told by [`shell::programs`]; of a program
//! that is not known there, what begins with a dash is a flag and all else an operand.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{PathClause, Truth, Wildcard};
use crate::facts::{EventPart, Missing};
use crate::situation::Situation;
use shell::programs::{Arguments, Flag, guessed_arguments};
use shell::{SimpleCommand, Word};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandMatcher {
    /// Base names, of which one will do; empty: any.
    pub program: Vec<Wildcard>,
    /// Words that follow it, but for flags: `push`, `remote add`.
    pub subcommand: Vec<String>,
    pub flags_any: Vec<FlagPattern>,
    pub flags_all: Vec<FlagPattern>,
    pub operands_any: Vec<Wildcard>,
    /// Variables that are set for it.
    pub sets: Vec<VariablePattern>,
    /// Names of variables that are taken away from it.
    pub unsets: Vec<String>,
    /// It runs what one of these programs prints.
    pub runs_output_of: Vec<Wildcard>,
    /// Whether it waits for what is typed, and runs that.
    pub interactive: Option<bool>,
    /// `reads`, `writes` and `deletes`.
    pub paths: Vec<PathClause>,
}

/// `--force`, or `--mode=fast` for one with this value.
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
    /// `place`: of the command, in the script. `missing`: a fact that the answer depends on.
    pub(super) fn truth(
        &self,
        command: &SimpleCommand,
        place: usize,
        situation: &Situation,
        missing: &mut Option<Missing>,
    ) -> Truth {
        if command.words().is_empty() {
            return Truth::False;
        }
        let arguments =
            command.arguments().map_or_else(|| Cow::Owned(guessed_arguments(&command.texts_of_words())), Cow::Borrowed);
        let command = Read { command, arguments: &arguments };
        let mut truth = self.program_truth(command.command);
        let mut and = |clause: &dyn Fn() -> Truth| {
            if truth != Truth::False {
                truth = truth.and(clause());
            }
        };
        and(&|| any(&self.subcommand, |subcommand| command.is_form(subcommand)));
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
                *missing = missing.take().or(situation.facts.asked(EventPart::Paths).err());
                truth = truth.and(clause.truth_of(place, situation));
            }
        }
        truth
    }

    fn program_truth(&self, command: &SimpleCommand) -> Truth {
        any(&self.program, |name| command.program().map_or(Truth::Unknown, |program| name.matches(program).into()))
    }

    /// The programs that it can be about; `None`: any.
    pub(super) fn programs(&self) -> Option<Vec<&str>> {
        if self.program.is_empty() {
            return None;
        }
        self.program.iter().map(Wildcard::only).collect()
    }
}

/// Of none, all is true.
fn any<T>(patterns: &[T], truth: impl Fn(&T) -> Truth) -> Truth {
    if patterns.is_empty() {
        return Truth::True;
    }
    patterns.iter().map(truth).fold(Truth::False, Truth::or)
}

/// A command with its words read.
#[derive(Clone, Copy)]
struct Read<'a> {
    command: &'a SimpleCommand,
    arguments: &'a Arguments,
}

impl Read<'_> {
    fn is_form(&self, subcommand: &str) -> Truth {
        let named = self.arguments.subcommands.iter().map(|word| Some(word.as_str()));
        let mut words = named.chain(self.arguments.operands.iter().map(|place| self.command.text_from(*place, 0)));
        let mut truth = Truth::True;
        for wanted in subcommand.split_whitespace() {
            truth = truth.and(match words.next() {
                Some(Some(word)) => (word == wanted).into(),
                Some(None) => Truth::Unknown,
                // A word that is not known may be it.
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
        // `-auto-approve`: one flag to its program, a cluster of letters by its looks.
        let whole = self.command.text_from(flag.word, 0).and_then(|word| word.split('=').next());
        flag.is(name) || whole == Some(name) || (!flag.is_known() && begins(&flag.name, name))
    }

    fn has_value(&self, flag: &Flag, wanted: Option<&Wildcard>) -> Truth {
        let Some(wanted) = wanted else { return Truth::True };
        let text = match flag.value {
            Some(value) => self.command.text_from(value.word, value.from),
            None if flag.is_known() => return Truth::False,
            // Who knows whether it takes one.
            None => self.command.text_from(flag.word + 1, 0),
        };
        text.map_or(Truth::Unknown, |text| wanted.matches(text).into())
    }

    fn has_operand(&self, wanted: &Wildcard) -> Truth {
        let words = self.arguments.operands.iter().filter_map(|place| self.command.words().get(*place));
        let truth = |word: &Word| match &word.value {
            Some(text) => wanted.matches(text).into(),
            // What it is in kind may be enough: `kill $(pgrep NAME)`.
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

/// Whether a long flag is the beginning of this one, up to the middle of a word: `--har` of `--hard`.
fn begins(given: &str, name: &str) -> bool {
    let rest = name.strip_prefix(given).filter(|_| given.starts_with("--") && given.len() > 3);
    rest.is_some_and(|rest| !rest.starts_with('-'))
}
