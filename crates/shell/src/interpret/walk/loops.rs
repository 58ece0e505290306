//! Loops, round by round where it is known what they go over.

use std::rc::Rc;

use brush_parser::ast::{
    ArithmeticForClauseCommand, Command, CommandPrefixOrSuffixItem, CompoundList, ForClauseCommand,
    UnexpandedArithmeticExpr, WhileOrUntilClauseCommand,
};

use crate::interpret::printed::Printed;
use crate::interpret::state::{Expanded, State, Value};
use crate::interpret::walk::Walker;
use crate::limits::budget;
use crate::model::{Assignment, Invocation, Word};

/// Rounds of a loop over constants.
const MAX_ROUNDS: usize = 32;
/// What a loop goes over that says nothing else.
const ALL_ARGUMENTS: &str = "\"$@\"";

impl Walker<'_> {
    pub(super) fn for_clause(&mut self, clause: &ForClauseCommand) {
        let given = clause.values.as_ref().map(|values| values.iter().map(|value| value.value.as_str()).collect());
        let given: Vec<&str> = given.unwrap_or_else(|| vec![ALL_ARGUMENTS]);
        let ways = self.each_possible(&given.join(" "), |walker| {
            let mut values = Vec::new();
            for value in &given {
                walker.words(value, &mut values);
            }
            values
        });
        let before = self.kept_state();
        let mut ways = ways.into_iter();
        self.rounds(clause, ways.next().unwrap_or_default());
        for values in ways {
            if !self.spend(before.size()) {
                return;
            }
            let known = std::mem::replace(&mut self.state, before.clone());
            self.beside(|walker| walker.rounds(clause, values));
            self.join(&known);
        }
        // Nobody knows whether there are any arguments.
        if clause.values.is_none() {
            self.join(&before);
        }
    }

    /// Of a loop over these values.
    fn rounds(&mut self, clause: &ForClauseCommand, values: Vec<Word>) {
        let known: Option<Vec<Value>> = values.iter().map(Value::of).collect();
        if let Some(known) = known.filter(|known| known.len() <= MAX_ROUNDS) {
            // What a substitution prints may be nothing.
            let may_be_none = !values.is_empty() && values.iter().all(Word::may_be_nothing);
            let before = if may_be_none { Some(self.kept_state()) } else { None };
            // It may be `PATH` that the loop sets.
            let set = |value| Assignment { name: clause.variable_name.clone(), value };
            let assignments = values.into_iter().map(set).collect();
            self.emit(Invocation { assignments, ..Invocation::default() }.into());
            let mut printed = Printed::nothing();
            for value in known {
                if !self.spend(budget::NODE) {
                    return;
                }
                let is_several = value.glob || value.in_kind;
                self.state.assign(&clause.variable_name, Some(value.clone()));
                let before = if is_several { Some(self.kept_state()) } else { None };
                self.in_loop(|walker| walker.list(&clause.body.list));
                printed.then(&std::mem::take(&mut self.streams.output));
                if let Some(before) = before {
                    self.next_round(clause, value, &before);
                }
            }
            self.streams.output = printed;
            if let Some(before) = before {
                self.join(&before);
            }
            return;
        }
        self.script.loose.extend(values.into_iter().map(|word| word.value.unwrap_or(word.raw)));
        self.forget_changed_in(&clause.body.loc);
        self.state.assign(&clause.variable_name, None);
        let before = self.kept_state();
        self.some_rounds(|walker| walker.list(&clause.body.list));
        self.join(&before);
    }

    /// With a value that stands for several: some rounds begin as others have left them. `before`: as the first began.
    fn next_round(&mut self, clause: &ForClauseCommand, value: Value, before: &State) {
        let once = self.kept_state();
        self.state.assign(&clause.variable_name, Some(value));
        // Those that go somewhere come back, if all goes well.
        self.state.directory.folders.clone_from(&before.directory.folders);
        if !before.is_like(&self.state) {
            self.beside(|walker| walker.in_loop(|walker| walker.list(&clause.body.list)));
        }
        let twice = std::mem::replace(&mut self.state, once);
        self.state.may_be_as(&twice);
    }

    /// Of a loop of which nobody knows how often it goes round; what it changes is forgotten by then.
    pub(super) fn some_rounds(&mut self, round: impl Fn(&mut Self)) {
        let known = self.state.variables.set_blindly;
        self.in_loop(&round);
        // What it sets by a name that nobody knows is set when the next one begins.
        if self.state.variables.set_blindly > known && self.goes_on() {
            self.in_loop(&round);
        }
    }

    pub(super) fn arithmetic_for(&mut self, clause: &ArithmeticForClauseCommand) {
        for expression in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
            self.arithmetic(expression);
        }
        let hidden = Rc::clone(&self.hidden);
        let body = hidden.at(&clause.body.loc);
        if !self.spend(body.len()) {
            return;
        }
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$';
        let counters = clause.initializer.iter().flat_map(|start| start.value.split(','));
        let counters = counters.filter_map(|start| start.split_once('=')).map(|(name, _)| name.trim());
        let is_used =
            |name: &&str| body.split(|letter| !is_name(letter)).any(|word| word.trim_start_matches('$') == *name);
        let (used, only_counting): (Vec<&str>, Vec<&str>) = counters.partition(is_used);
        if !used.is_empty() && self.counted_rounds(clause) {
            return;
        }
        self.forget_changed_in(&clause.loc);
        // What only counts is a number.
        for counter in only_counting {
            self.state.assign(counter, Some(Value::some_number()));
        }
        let before = self.kept_state();
        self.some_rounds(|walker| walker.list(&clause.body.list));
        self.join(&before);
    }

    /// `for ((i=0; i<3; i++))`, where it is known how often. Tells whether it is.
    fn counted_rounds(&mut self, clause: &ArithmeticForClauseCommand) -> bool {
        let (Some(start), Some(condition), Some(step)) = (&clause.initializer, &clause.condition, &clause.updater)
        else {
            return false;
        };
        let mut state = self.kept_state();
        if !ends_soon(&mut state, start, condition, step) {
            return false;
        }
        self.state.count(&start.value);
        let mut printed = Printed::nothing();
        for _ in 0..MAX_ROUNDS {
            // What is in the loop may count as well.
            if self.state.count(&condition.value) == Some(0) || !self.spend(budget::NODE) {
                break;
            }
            self.in_loop(|walker| walker.list(&clause.body.list));
            printed.then(&std::mem::take(&mut self.streams.output));
            self.state.count_or_forget(&step.value);
        }
        self.streams.output = printed;
        true
    }

    /// `while [ $# -gt 0 ]; do …; shift; done`, for each argument that is known. Tells whether those are all.
    pub(super) fn shifting(&mut self, clause: &WhileOrUntilClauseCommand) -> bool {
        let left = |walker: &Self| match walker.state.expand("$#") {
            Some(Expanded::One(count)) => count.text.parse::<usize>().ok(),
            _ => None,
        };
        let Some(mut count) = left(self).filter(|count| *count <= MAX_ROUNDS && counts_arguments(&clause.0)) else {
            return false;
        };
        let mut printed = Printed::nothing();
        while count > 0 {
            if !self.spend(budget::NODE) {
                return false;
            }
            self.in_loop(|walker| walker.list(&clause.1.list));
            printed.then(&std::mem::take(&mut self.streams.output));
            // Where nothing is taken away, or nobody knows what, it is a loop like others.
            match left(self) {
                Some(less) if less < count => count = less,
                _ => return false,
            }
        }
        self.streams.output = printed;
        true
    }

    /// `while read x; do …; done`, for each line that is known to come. Tells whether those are all.
    pub(super) fn lines(&mut self, clause: &WhileOrUntilClauseCommand) -> bool {
        let Some((text, end)) = self.streams.input.clone().zip(end_of_line(&clause.0)) else { return false };
        let mut rest: &str = &text;
        let mut printed = Printed::nothing();
        for _ in 0..MAX_ROUNDS {
            let Some((line, behind)) = rest.split_once(end).or((!rest.is_empty()).then_some((rest, ""))) else { break };
            if !self.spend(budget::NODE + text.len()) {
                break;
            }
            self.in_loop(|walker| {
                walker.streams.input = Some(line.into());
                walker.condition(&clause.0);
                // It may read on.
                walker.streams.input = Some(behind.into());
                walker.list(&clause.1.list);
            });
            printed.then(&std::mem::take(&mut self.streams.output));
            rest = behind;
        }
        self.streams.input = None;
        self.streams.output = printed;
        rest.is_empty() && !text.is_empty()
    }
}

/// Whether a condition asks if there are arguments left: `[ $# -gt 0 ]`.
fn counts_arguments(condition: &CompoundList) -> bool {
    let text = condition.to_string();
    let text: String = text.chars().filter(|letter| !"\"'[]() ;{}".contains(*letter)).collect();
    matches!(text.as_str(), "$#-gt0" | "$#-ne0" | "$#!=0" | "$#>0" | "$#" | "test$#-gt0" | "test$#-ne0" | "$#-ge1")
}

/// Whether a loop ends within the rounds that are looked at, if only its head counts.
fn ends_soon(
    state: &mut State,
    start: &UnexpandedArithmeticExpr,
    condition: &UnexpandedArithmeticExpr,
    step: &UnexpandedArithmeticExpr,
) -> bool {
    let mut is_known = state.count(&start.value).is_some();
    for _ in 0..=MAX_ROUNDS {
        match state.count(&condition.value).filter(|_| is_known) {
            None => return false,
            Some(0) => return true,
            Some(_) => is_known = state.count(&step.value).is_some(),
        }
    }
    false
}

/// At which letter the lines end that a condition reads one of each time; `None` where it does something else.
fn end_of_line(condition: &CompoundList) -> Option<char> {
    let [item] = condition.0.as_slice() else { return None };
    let pipeline = &item.0.first;
    let [Command::Simple(command)] = pipeline.seq.as_slice() else { return None };
    let is_read = command.word_or_name.as_ref().is_some_and(|word| word.value == "read") && !pipeline.bang;
    let suffix = || command.suffix.iter().flat_map(|suffix| &suffix.0);
    let mut parts = command.prefix.iter().flat_map(|prefix| &prefix.0).chain(suffix());
    let is_own = parts.any(|part| {
        !matches!(part, CommandPrefixOrSuffixItem::Word(_) | CommandPrefixOrSuffixItem::AssignmentWord(..))
    });
    let words: Vec<&str> = suffix()
        .filter_map(|part| match part {
            CommandPrefixOrSuffixItem::Word(word) => Some(word.value.as_str()),
            _ => None,
        })
        .collect();
    let flag = words.iter().position(|word| word.starts_with('-') && word.contains('d'));
    let ends_with_nul =
        flag.is_some_and(|place| words.get(place + 1).is_some_and(|end| matches!(*end, "''" | "\"\"" | "$'\\0'")));
    match flag {
        _ if !is_read || is_own => None,
        Some(_) => ends_with_nul.then_some('\0'),
        None => Some('\n'),
    }
}
