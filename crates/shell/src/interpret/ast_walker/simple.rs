//! Expands simple commands: assignments, words and redirections, with known values in place of expansions.

use brush_parser::ast::{AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand as SimpleCommandNode};

use super::Walker;
use super::control_flow::Jump;
use crate::interpret::possible_output::MAX_ALTERNATIVES;
use crate::interpret::state::{MAX_COMBINATIONS, State, Value};
use crate::model::{SimpleCommand, Word};
use crate::syntax::word_scan::{self, Context, Unit};

impl Walker<'_> {
    pub(super) fn simple(&mut self, node: &SimpleCommandNode) {
        if self.state.variables.assumed_index.is_some() {
            return self.simple_once(node);
        }
        let text = if self.state.has_possible_values() { node.to_string() } else { String::new() };
        let states = self.state.split_by_variable_in(&text, MAX_COMBINATIONS / self.alternatives.state_count);
        if !states.is_empty() {
            return self.simple_in_each_state(node, states);
        }
        let outer = std::mem::take(&mut self.alternatives.possible_count);
        let mut count = self.state.possible_count_in(&text);
        // `X=${X:-default}` changes the variable that it reads.
        let before = if count > 0 || node.prefix.is_some() { Some(self.saved_state()) } else { None };
        self.alternatives.substitution_outputs = None;
        self.simple_once(node);
        let outputs = self.alternatives.substitution_outputs.take();
        count = count.max(std::mem::replace(&mut self.alternatives.possible_count, outer)).min(MAX_ALTERNATIVES);
        // Walks the command again for each possible value.
        for index in 0..count {
            if !self.has_budget() {
                return;
            }
            let state = self.saved_state();
            self.state.clone_from(before.as_ref().unwrap_or(&state));
            self.state.variables.assumed_index = Some(index);
            self.in_addition(|walker| walker.simple_once(node));
            let assumed = std::mem::replace(&mut self.state, state);
            self.state.add_possible_from(&assumed);
        }
        if let Some((name, values)) = set_by_substitution(node).zip(outputs) {
            self.state.assign_one_of(&name, &values);
        }
    }

    /// Walks the command in each of these states, one of which is certainly the real one.
    fn simple_in_each_state(&mut self, node: &SimpleCommandNode, states: Vec<State>) {
        let (paths, is_timed) = (std::mem::take(&mut self.streams.paths), self.is_timed);
        let mut ended: Option<State> = None;
        let outer = self.alternatives.state_count;
        self.alternatives.state_count *= states.len();
        for state in states {
            if !self.spend(state.size()) {
                break;
            }
            self.state = state;
            let visit = |walker: &mut Self| {
                (walker.streams.paths, walker.is_timed) = (paths.clone(), is_timed);
                walker.simple(node);
            };
            match ended.take() {
                None => visit(self),
                Some(before) => {
                    self.as_alternative(visit);
                    self.join(&before);
                }
            }
            ended = Some(self.saved_state());
        }
        self.alternatives.state_count = outer;
    }

    fn simple_once(&mut self, node: &SimpleCommandNode) {
        let mut command = SimpleCommand::default();
        let first = self.script.commands.len();
        let has_dashes = std::mem::take(&mut self.is_timed) && follows_dashes(node);
        let (mut arrays, mut declared) = (Vec::new(), Vec::new());
        for item in node.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    let (assignment, elements) = self.assignment(assignment);
                    arrays.extend(elements.map(|elements| (assignment.name.clone(), elements)));
                    command.invocation.assignments.push(assignment);
                }
                other => self.item(other, &mut command),
            }
        }
        if let Some(program) = node.word_or_name.as_ref().filter(|_| !has_dashes) {
            self.words(&program.value, &mut command.invocation.words);
        }
        let is_declaration = node.word_or_name.as_ref().is_some_and(|word| takes_assignments(&word.value));
        for item in node.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word)
                    if is_declaration && matches!(assignment.value, AssignmentValue::Array(_)) =>
                {
                    let (assignment, elements) = self.assignment(assignment);
                    declared.extend(elements.map(|elements| (assignment.name, elements)));
                    command.invocation.words.push(Word::known(&word.value));
                }
                other => self.item(other, &mut command),
            }
        }
        if node.word_or_name.is_none() {
            for assignment in command.assignments() {
                self.state.variables.note_path(&assignment.name, &assignment.value);
                self.state.assign(&assignment.name, Value::of(&assignment.value));
            }
            for (name, elements) in arrays {
                self.state.assign_array(&name, elements);
            }
        }
        command.evidence.substituted = first..self.script.commands.len();
        let jump = Jump::of(&command);
        self.dispatch(command);
        for (name, elements) in declared {
            self.state.assign_array(&name, elements);
        }
        if let Some(jump) = jump {
            self.jump_out(jump);
        }
    }

    fn item(&mut self, item: &CommandPrefixOrSuffixItem, command: &mut SimpleCommand) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                let redirect = self.redirect(redirect);
                command.invocation.redirects.push(redirect);
            }
            // An argument may look like an assignment, for example one of `env` or `export`.
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                self.words(&word.value, &mut command.invocation.words);
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                let word = self.process_substitution(subshell, kind);
                // The parser splits `--flag=<(…)` into two words.
                if let Some(flag) = command.invocation.words.last_mut().and_then(|word| word.value.as_mut())
                    && flag.starts_with("--")
                    && flag.ends_with('=')
                {
                    flag.pop();
                }
                command.invocation.words.push(word);
            }
        }
    }
}

/// Returns the variable that the command sets to the output of one substitution, if it does nothing else: `x=$(…)`.
fn set_by_substitution(node: &SimpleCommandNode) -> Option<String> {
    let prefix = node.prefix.as_ref().filter(|_| node.word_or_name.is_none())?;
    let [CommandPrefixOrSuffixItem::AssignmentWord(assignment, _)] = prefix.0.as_slice() else { return None };
    let AssignmentValue::Scalar(word) = &assignment.value else { return None };
    let units = word_scan::scan(&word.value, Context::Word).units;
    let is_one = matches!(units.as_slice(), [Unit::Expansion(expansion)] if expansion.script.is_some());
    (is_one && !assignment.append).then(|| assignment.name.to_string())
}

/// True if the program's arguments can be assignments: `declare -A x=([a]=b)`.
fn takes_assignments(program: &str) -> bool {
    matches!(program, "declare" | "typeset" | "local" | "readonly" | "export")
}

/// `time -- ls`: the dashes belong to `time`. After them, bash may not read an assignment as one.
fn follows_dashes(node: &SimpleCommandNode) -> bool {
    let first = node.suffix.iter().flat_map(|suffix| &suffix.0).next();
    let is_dashes = node.word_or_name.as_ref().is_some_and(|word| word.value == "--");
    is_dashes && node.prefix.is_none() && matches!(first, Some(CommandPrefixOrSuffixItem::Word(_)))
}
