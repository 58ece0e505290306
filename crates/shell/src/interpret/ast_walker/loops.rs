//! Walks loops. A loop whose values are known is walked iteration by iteration.

use std::rc::Rc;

use brush_parser::ast::{
    ArithmeticForClauseCommand, Command, CommandPrefixOrSuffixItem, CompoundList, ForClauseCommand,
    UnexpandedArithmeticExpr, WhileOrUntilClauseCommand,
};

use crate::interpret::ast_walker::Walker;
use crate::interpret::possible_output::PossibleOutput;
use crate::interpret::state::{Expanded, State, Value};
use crate::limits::budget;
use crate::model::{Assignment, Invocation, Word};

/// Loops with more iterations are not walked iteration by iteration.
const MAX_ITERATIONS: usize = 32;
/// The values of a `for` loop without `in`.
const ALL_ARGUMENTS: &str = "\"$@\"";

impl Walker<'_> {
    /// Walks `for NAME in …`.
    pub(super) fn walk_for(&mut self, clause: &ForClauseCommand) {
        let value_texts =
            clause.values.as_ref().map(|values| values.iter().map(|value| value.value.as_str()).collect());
        let value_texts: Vec<&str> = value_texts.unwrap_or_else(|| vec![ALL_ARGUMENTS]);
        let alternatives = self.for_each_possible_value(&value_texts.join(" "), |walker| {
            let mut values = Vec::new();
            for value in &value_texts {
                walker.expand_word(value, &mut values);
            }
            values
        });
        let before = self.saved_state();
        let mut alternatives = alternatives.into_iter();
        self.walk_values(clause, alternatives.next().unwrap_or_default());
        for values in alternatives {
            if !self.spend(before.size()) {
                return;
            }
            let known = std::mem::replace(&mut self.state, before.clone());
            self.in_addition(|walker| walker.walk_values(clause, values));
            self.join(&known);
        }
        // Without `in`, the loop is over the script's arguments. If there are no arguments, the body does not run.
        if clause.values.is_none() {
            self.join(&before);
        }
    }

    /// Walks the loop's body once for each value.
    fn walk_values(&mut self, clause: &ForClauseCommand, values: Vec<Word>) {
        let known: Option<Vec<Value>> = values.iter().map(Value::of).collect();
        if let Some(known) = known.filter(|known| known.len() <= MAX_ITERATIONS) {
            // If every word of the list may expand to nothing, the body possibly does not run.
            let may_be_none = !values.is_empty() && values.iter().all(Word::may_be_nothing);
            let before = if may_be_none { Some(self.saved_state()) } else { None };
            // The assignments are recorded as a command, because the variable of the loop may be `PATH`.
            let set = |value| Assignment { name: clause.variable_name.clone(), value };
            let assignments = values.into_iter().map(set).collect();
            self.dispatch(Invocation { assignments, ..Invocation::default() }.into());
            let mut printed = PossibleOutput::empty();
            for value in known {
                if !self.spend(budget::NODE) {
                    return;
                }
                let stands_for_several = value.glob || value.is_placeholder;
                self.state.assign(&clause.variable_name, Some(value.clone()));
                let before = if stands_for_several { Some(self.saved_state()) } else { None };
                self.in_loop(|walker| walker.walk_list(&clause.body.list));
                printed.append(&std::mem::take(&mut self.streams.output));
                if let Some(before) = before {
                    self.walk_another_iteration(clause, value, &before);
                }
            }
            self.streams.output = printed;
            if let Some(before) = before {
                self.join(&before);
            }
            return;
        }
        self.script.unattached_words.extend(values.into_iter().map(|word| word.value.unwrap_or(word.raw)));
        self.forget_changed_in(&clause.body.loc);
        self.state.assign(&clause.variable_name, None);
        let before = self.saved_state();
        self.walk_unknown_iterations(|walker| walker.walk_list(&clause.body.list));
        self.join(&before);
    }

    /// Walks another iteration for a value that stands for several values. This iteration starts in the state after the
    /// first iteration, but in the directory in which the first iteration started. `before`: the state before the first
    /// iteration.
    fn walk_another_iteration(&mut self, clause: &ForClauseCommand, value: Value, before: &State) {
        let after_first = self.saved_state();
        self.state.assign(&clause.variable_name, Some(value));
        // A loop body that changes the directory usually changes back to the previous directory.
        self.state.directory.possible.clone_from(&before.directory.possible);
        if !before.is_equivalent(&self.state) {
            self.in_addition(|walker| walker.in_loop(|walker| walker.walk_list(&clause.body.list)));
        }
        let after_second = std::mem::replace(&mut self.state, after_first);
        self.state.add_possible_from(&after_second);
    }

    /// Walks a loop with an unknown number of iterations. The caller must have forgotten everything that the loop
    /// changes.
    pub(super) fn walk_unknown_iterations(&mut self, iteration: impl Fn(&mut Self)) {
        let known = self.state.variables.unknown_name_assignments;
        self.in_loop(&iteration);
        // The next iteration starts with the values that the body has assigned to variables whose names are computed.
        if self.state.variables.unknown_name_assignments > known && self.has_budget() {
            self.in_loop(&iteration);
        }
    }

    /// Walks `for ((…; …; …))`.
    pub(super) fn walk_arithmetic_for(&mut self, clause: &ArithmeticForClauseCommand) {
        for expression in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
            self.walk_arithmetic(expression);
        }
        let hidden = Rc::clone(&self.hidden);
        let body = hidden.at(&clause.body.loc);
        if !self.spend(body.len()) {
            return;
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let counters = clause.initializer.iter().flat_map(|start| start.value.split(','));
        let counters = counters.filter_map(|start| start.split_once('=')).map(|(name, _)| name.trim());
        let is_used = |name: &&str| body.split(|c| !is_name(c)).any(|word| word.trim_start_matches('$') == *name);
        let (used_counters, other_counters): (Vec<&str>, Vec<&str>) = counters.partition(is_used);
        if !used_counters.is_empty() && self.walk_counted_iterations(clause) {
            return;
        }
        self.forget_changed_in(&clause.loc);
        // A counter that the body does not use gets a placeholder for an unknown number.
        for counter in other_counters {
            self.state.assign(counter, Some(Value::unknown_number()));
        }
        let before = self.saved_state();
        self.walk_unknown_iterations(|walker| walker.walk_list(&clause.body.list));
        self.join(&before);
    }

    /// Walks `for ((i=0; i<3; i++))` if the number of iterations is known. Returns false if the number is not known.
    fn walk_counted_iterations(&mut self, clause: &ArithmeticForClauseCommand) -> bool {
        let (Some(start), Some(condition), Some(step)) = (&clause.initializer, &clause.condition, &clause.updater)
        else {
            return false;
        };
        let mut state = self.saved_state();
        if !ends_within_limit(&mut state, start, condition, step) {
            return false;
        }
        self.state.evaluate(&start.value);
        let mut printed = PossibleOutput::empty();
        for _ in 0..MAX_ITERATIONS {
            // The body may change the counter.
            if self.state.evaluate(&condition.value) == Some(0) || !self.spend(budget::NODE) {
                break;
            }
            self.in_loop(|walker| walker.walk_list(&clause.body.list));
            printed.append(&std::mem::take(&mut self.streams.output));
            self.state.evaluate_or_forget(&step.value);
        }
        self.streams.output = printed;
        true
    }

    /// Walks `while [ $# -gt 0 ]; do …; shift; done` as long as the number of arguments is known. Returns false if
    /// there may be other iterations.
    pub(super) fn walk_shift_loop(&mut self, clause: &WhileOrUntilClauseCommand) -> bool {
        let remaining = |walker: &Self| match walker.state.expand("$#") {
            Some(Expanded::One(count)) => count.text.parse::<usize>().ok(),
            _ => None,
        };
        let Some(mut count) =
            remaining(self).filter(|count| *count <= MAX_ITERATIONS && tests_argument_count(&clause.0))
        else {
            return false;
        };
        let mut printed = PossibleOutput::empty();
        while count > 0 {
            if !self.spend(budget::NODE) {
                return false;
            }
            self.in_loop(|walker| walker.walk_list(&clause.1.list));
            printed.append(&std::mem::take(&mut self.streams.output));
            // If the body removes no argument, or an unknown number of arguments, the caller walks the loop like any
            // other loop.
            match remaining(self) {
                Some(fewer) if fewer < count => count = fewer,
                _ => return false,
            }
        }
        self.streams.output = printed;
        true
    }

    /// Walks `while read x; do …; done` for each known line. Returns false if there may be other lines.
    pub(super) fn walk_read_loop(&mut self, clause: &WhileOrUntilClauseCommand) -> bool {
        let Some((text, end)) = self.streams.input.clone().zip(read_terminator(&clause.0)) else { return false };
        let mut rest: &str = &text;
        let mut printed = PossibleOutput::empty();
        for _ in 0..MAX_ITERATIONS {
            let Some((line, after)) = rest.split_once(end).or((!rest.is_empty()).then_some((rest, ""))) else { break };
            if !self.spend(budget::NODE + text.len()) {
                break;
            }
            self.in_loop(|walker| {
                walker.streams.input = Some(line.into());
                walker.walk_condition(&clause.0);
                // The body may read further lines.
                walker.streams.input = Some(after.into());
                walker.walk_list(&clause.1.list);
            });
            printed.append(&std::mem::take(&mut self.streams.output));
            rest = after;
        }
        self.streams.input = None;
        self.streams.output = printed;
        rest.is_empty() && !text.is_empty()
    }
}

/// True if a condition tests that there are arguments left: `[ $# -gt 0 ]`.
fn tests_argument_count(condition: &CompoundList) -> bool {
    let text = condition.to_string();
    let text: String = text.chars().filter(|c| !"\"'[]() ;{}".contains(*c)).collect();
    matches!(text.as_str(), "$#-gt0" | "$#-ne0" | "$#!=0" | "$#>0" | "$#" | "test$#-gt0" | "test$#-ne0" | "$#-ge1")
}

/// True if a loop ends after at most [`MAX_ITERATIONS`] iterations, unless its body changes the counter.
fn ends_within_limit(
    state: &mut State,
    start: &UnexpandedArithmeticExpr,
    condition: &UnexpandedArithmeticExpr,
    step: &UnexpandedArithmeticExpr,
) -> bool {
    let mut is_known = state.evaluate(&start.value).is_some();
    for _ in 0..=MAX_ITERATIONS {
        match state.evaluate(&condition.value).filter(|_| is_known) {
            None => return false,
            Some(0) => return true,
            Some(_) => is_known = state.evaluate(&step.value).is_some(),
        }
    }
    false
}

/// Returns the character that ends each line, if the condition is a `read` command and nothing else: a newline or, with
/// `-d ''`, a NUL.
fn read_terminator(condition: &CompoundList) -> Option<char> {
    let [item] = condition.0.as_slice() else { return None };
    let pipeline = &item.0.first;
    let [Command::Simple(command)] = pipeline.seq.as_slice() else { return None };
    let is_read = command.word_or_name.as_ref().is_some_and(|word| word.value == "read") && !pipeline.bang;
    let suffix = || command.suffix.iter().flat_map(|suffix| &suffix.0);
    let mut parts = command.prefix.iter().flat_map(|prefix| &prefix.0).chain(suffix());
    let has_redirect = parts.any(|part| {
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
        flag.is_some_and(|index| words.get(index + 1).is_some_and(|end| matches!(*end, "''" | "\"\"" | "$'\\0'")));
    match flag {
        _ if !is_read || has_redirect => None,
        Some(_) => ends_with_nul.then_some('\0'),
        None => Some('\n'),
    }
}
