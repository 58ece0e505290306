//! `command`: matches a simple command by its parsed parts instead of its text.
//!
//! All conditions of a matcher must be true for the same simple command. [`shell::programs`] knows which arguments of
//! known programs are flags. For unknown programs, words that begin with a dash are flags, and all other words are
//! operands.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{PathClause, Truth, Wildcard};
use crate::facts::{EventPart, Missing};
use crate::situation::Situation;
use shell::programs::{Arguments, Flag, guessed_arguments};
use shell::{SimpleCommand, Word};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandMatcher {
    /// The base names of programs, one of which must match; empty for any program.
    pub program: Vec<Wildcard>,
    /// Subcommands, one of which the command must have; empty for no condition. A subcommand consists of the first
    /// words after the program that are not flags: `push`, `remote add`.
    pub subcommand: Vec<String>,
    pub flags_any: Vec<FlagPattern>,
    pub flags_all: Vec<FlagPattern>,
    pub operands_any: Vec<Wildcard>,
    /// Environment variables, at least one of which must be set for the command; empty for no condition.
    pub sets: Vec<VariablePattern>,
    /// Environment variables, at least one of which must be removed for the command; empty for no condition.
    pub unsets: Vec<String>,
    /// Programs. The command must execute the output of at least one of these programs, as in `curl URL | sh`. Empty for
    /// no condition.
    pub runs_output_of: Vec<Wildcard>,
    /// Whether the command must be an interactive shell or interpreter, which runs the lines that it reads from the
    /// terminal; `None` for no condition.
    pub interactive: Option<bool>,
    /// The clauses `reads`, `writes` and `deletes` of this matcher.
    pub paths: Vec<PathClause>,
}

/// A condition on a flag: `--force`, or `--mode=fast` if the flag must have this value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlagPattern {
    pub name: String,
    pub value: Option<Wildcard>,
}

/// A condition on an environment variable: `NAME`, or `NAME=value` if the variable must have this value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariablePattern {
    pub name: String,
    pub value: Option<Wildcard>,
}

impl CommandMatcher {
    /// Returns the truth of the matcher for a command. `index` is the index of the command in the script. If the result
    /// depends on a missing fact, the fact is stored in `missing`.
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
        let parsed = ParsedCommand { command, arguments: &arguments };
        let mut truth = self.program_truth(command);
        let subcommand = any(&self.subcommand, |subcommand| parsed.has_subcommand(subcommand));
        // Neither the program nor the subcommand is known, and of the known words none is a flag of this rule: nothing in
        // `$CC $CFLAGS -c x.c` suggests this rule. (A command without any known word is asked about elsewhere.)
        let has_flag_of_rule =
            || self.flags_any.iter().chain(&self.flags_all).any(|flag| parsed.has_flag(flag) == Truth::True);
        if (truth, subcommand) == (Truth::Unknown, Truth::Unknown) && command.has_known_word() && !has_flag_of_rule() {
            return Truth::False;
        }
        let mut and = |clause: &dyn Fn() -> Truth| {
            if truth != Truth::False {
                truth = truth.and(clause());
            }
        };
        and(&|| subcommand);
        and(&|| any(&self.flags_any, |flag| parsed.has_flag(flag)));
        for flag in &self.flags_all {
            and(&|| parsed.has_flag(flag));
        }
        and(&|| any(&self.operands_any, |operand| parsed.has_operand(operand)));
        and(&|| any(&self.sets, |variable| parsed.has_variable(variable)));
        and(&|| any(&self.unsets, |name| command.context.removed.has(name).into()));
        let sources = &command.provenance.runs_output_of;
        and(&|| any(&self.runs_output_of, |name| sources.iter().any(|source| name.matches(source)).into()));
        and(&|| self.interactive.is_none_or(|wanted| wanted == command.provenance.is_interactive).into());
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

    /// The exact names of the programs that can match; `None` if any program can match, or if a pattern for the program
    /// has wildcards.
    pub(super) fn programs(&self) -> Option<Vec<&str>> {
        if self.program.is_empty() {
            return None;
        }
        self.program.iter().map(Wildcard::as_literal).collect()
    }
}

/// True if one of the patterns matches, or if there are no patterns.
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
                // The command has too few operands for the subcommand.
                None if self.command.is_known() => Truth::False,
                // The operand is unknown, or an unknown word may stand for the missing operands.
                Some(None) | None => Truth::Unknown,
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
        // Some programs treat `-auto-approve` as one flag, not as a group of flags with one letter each.
        let whole = self.command.text_from(flag.word, 0).and_then(|word| word.split('=').next());
        flag.is(name) || whole == Some(name) || (!flag.is_known() && is_abbreviation(&flag.name, name))
    }

    fn has_value(&self, flag: &Flag, wanted: Option<&Wildcard>) -> Truth {
        let Some(wanted) = wanted else { return Truth::True };
        let text = match flag.value {
            Some(value) => self.command.text_from(value.word, value.from),
            None if flag.is_known() => return Truth::False,
            // It is unknown whether the flag takes a value, so the next word may be the value.
            None => self.command.text_from(flag.word + 1, 0),
        };
        text.map_or(Truth::Unknown, |text| wanted.matches(text).into())
    }

    fn has_operand(&self, wanted: &Wildcard) -> Truth {
        let words = self.arguments.operands.iter().filter_map(|index| self.command.words().get(*index));
        let truth = |word: &Word| match &word.value {
            Some(text) => wanted.matches(text).into(),
            // The value of the word is unknown, but its kind may be enough for a match, as in `kill $(pgrep NAME)`.
            None if word.value_or_placeholder().is_some_and(|text| wanted.matches(text)) => Truth::True,
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

/// True if `given` abbreviates the long flag `name`, as `--har` abbreviates `--hard`. An abbreviation with fewer than
/// two letters, or an abbreviation that ends before a hyphen of `name`, does not count.
fn is_abbreviation(given: &str, name: &str) -> bool {
    let rest = name.strip_prefix(given).filter(|_| given.starts_with("--") && given.len() > 3);
    rest.is_some_and(|rest| !rest.starts_with('-'))
}
