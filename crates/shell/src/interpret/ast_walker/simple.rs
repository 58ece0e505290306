//! Walks simple commands: expands their assignments, words and redirections, and simulates the result.

use brush_parser::ast::{AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand as SimpleCommandNode};

use super::Walker;
use super::control_flow::Jump;
use crate::interpret::possible_output::MAX_ALTERNATIVES;
use crate::interpret::state::{MAX_COMBINATIONS, State, Value};
use crate::model::{SimpleCommand, Word};
use crate::syntax::word_scan::{self, Context, Unit};

impl Walker<'_> {
    /// Walks a simple command with the known values of its variables and substitutions, and again for each possible
    /// value.
    pub(super) fn walk_simple_command(&mut self, node: &SimpleCommandNode) {
        // This is a repeated walk, which assumes one of the possible values of each variable and substitution.
        if self.state.variables.assumed_index.is_some() {
            return self.expand_and_run(node);
        }
        let text = if self.state.has_possible_values() { node.to_string() } else { String::new() };
        let states = self.state.split_by_variable_in(&text, MAX_COMBINATIONS / self.alternatives.state_count);
        if states.is_empty() {
            self.walk_with_known_and_possible_values(node, &text);
        } else {
            self.walk_in_each_state(node, states);
        }
    }

    /// Walks the command in each of these states. One of the states is certainly the actual state.
    fn walk_in_each_state(&mut self, node: &SimpleCommandNode, states: Vec<State>) {
        let (input_paths, is_timed) = (std::mem::take(&mut self.streams.input_paths), self.is_timed);
        let mut joined: Option<State> = None;
        let outer_count = self.alternatives.state_count;
        self.alternatives.state_count *= states.len();
        for state in states {
            if !self.spend(state.size()) {
                break;
            }
            self.state = state;
            let visit = |walker: &mut Self| {
                (walker.streams.input_paths, walker.is_timed) = (input_paths.clone(), is_timed);
                walker.walk_simple_command(node);
            };
            match joined.take() {
                None => visit(self),
                Some(before) => {
                    self.as_alternative(visit);
                    self.join(&before);
                }
            }
            joined = Some(self.saved_state());
        }
        self.alternatives.state_count = outer_count;
    }

    /// Walks the command with the known values, and then once for each possible value. `text`: the command as written.
    fn walk_with_known_and_possible_values(&mut self, node: &SimpleCommandNode, text: &str) {
        let variable_count = self.state.possible_count_in(text);
        // `X=${X:-default}` changes the variable that it reads, so the repeated walks start in the state before the
        // command.
        let before = if variable_count > 0 || node.prefix.is_some() { Some(self.saved_state()) } else { None };
        let (substitution_count, outputs) = self.walk_with_known_values(node);
        for index in 0..variable_count.max(substitution_count).min(MAX_ALTERNATIVES) {
            if !self.has_budget() {
                return;
            }
            self.walk_assuming(index, node, before.as_ref());
        }
        if let Some((name, values)) = set_by_substitution(node).zip(outputs) {
            self.state.assign_one_of(&name, &values);
        }
    }

    /// Returns how many possible outputs the command's substitutions have, and all outputs of the last substitution, if
    /// this substitution certainly printed one of these outputs.
    fn walk_with_known_values(&mut self, node: &SimpleCommandNode) -> (usize, Option<Vec<Value>>) {
        let outer_count = std::mem::take(&mut self.alternatives.possible_count);
        self.alternatives.substitution_outputs = None;
        self.expand_and_run(node);
        let outputs = self.alternatives.substitution_outputs.take();
        (std::mem::replace(&mut self.alternatives.possible_count, outer_count), outputs)
    }

    /// Walks the command again, assuming for each variable and substitution the possible value at this index. Values
    /// that this walk sets become possible values. `before`: the state in which the walk starts; `None` for the current
    /// state.
    fn walk_assuming(&mut self, index: usize, node: &SimpleCommandNode, before: Option<&State>) {
        let state = self.saved_state();
        self.state.clone_from(before.unwrap_or(&state));
        self.state.variables.assumed_index = Some(index);
        self.in_addition(|walker| walker.expand_and_run(node));
        let assumed = std::mem::replace(&mut self.state, state);
        self.state.add_possible_from(&assumed);
    }

    /// Expands the assignments, words and redirections of the command, and simulates the result.
    fn expand_and_run(&mut self, node: &SimpleCommandNode) {
        let mut command = SimpleCommand::default();
        let first = self.script.commands.len();
        let has_dashes = std::mem::take(&mut self.is_timed) && starts_with_dashes(node);
        // Arrays that are assigned before the program, and arrays that are arguments of a declaration.
        let (mut assigned_arrays, mut declared_arrays) = (Vec::new(), Vec::new());
        for item in node.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    let (assignment, elements) = self.expand_assignment(assignment);
                    assigned_arrays.extend(elements.map(|elements| (assignment.name.clone(), elements)));
                    command.invocation.assignments.push(assignment);
                }
                other => self.expand_item(other, &mut command),
            }
        }
        if let Some(program) = node.word_or_name.as_ref().filter(|_| !has_dashes) {
            self.expand_word(&program.value, &mut command.invocation.words);
        }
        let is_declaration = node.word_or_name.as_ref().is_some_and(|word| takes_assignments(&word.value));
        for item in node.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word)
                    if is_declaration && matches!(assignment.value, AssignmentValue::Array(_)) =>
                {
                    let (assignment, elements) = self.expand_assignment(assignment);
                    declared_arrays.extend(elements.map(|elements| (assignment.name, elements)));
                    command.invocation.words.push(Word::known(&word.value));
                }
                other => self.expand_item(other, &mut command),
            }
        }
        if node.word_or_name.is_none() {
            for assignment in command.assignments() {
                self.state.variables.note_path(&assignment.name, &assignment.value);
                self.state.assign(&assignment.name, Value::of(&assignment.value));
            }
            for (name, elements) in assigned_arrays {
                self.state.assign_array(&name, elements);
            }
        }
        command.provenance.substituted = first..self.script.commands.len();
        let jump = Jump::of(&command);
        self.dispatch(command);
        for (name, elements) in declared_arrays {
            self.state.assign_array(&name, elements);
        }
        if let Some(jump) = jump {
            self.jump_out(jump);
        }
    }

    fn expand_item(&mut self, item: &CommandPrefixOrSuffixItem, command: &mut SimpleCommand) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                let redirect = self.expand_redirect(redirect);
                command.invocation.redirects.push(redirect);
            }
            // An argument may look like an assignment, for example an argument of `env` or `export`.
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                self.expand_word(&word.value, &mut command.invocation.words);
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                let word = self.walk_process_substitution(subshell, kind);
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

/// Returns the name of the variable, if a command does nothing but set a variable to the output of one substitution:
/// `x=$(…)`.
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

/// True if the command starts with `--`, which belongs to `time`: `time -- ls`. False if an assignment follows, because
/// bash may read the assignment as a program.
fn starts_with_dashes(node: &SimpleCommandNode) -> bool {
    let first = node.suffix.iter().flat_map(|suffix| &suffix.0).next();
    let is_dashes = node.word_or_name.as_ref().is_some_and(|word| word.value == "--");
    is_dashes && node.prefix.is_none() && matches!(first, Some(CommandPrefixOrSuffixItem::Word(_)))
}
