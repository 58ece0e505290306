//! Simple commands as they are written: assignments, words and redirections, with what is known in the place of
//! expansions.

use brush_parser::ast::{AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand as SimpleCommandNode};

use super::Walker;
use super::control_flow::Leaving;
use crate::interpret::printed::MAX_WAYS;
use crate::interpret::state::{MAX_TOGETHER, State, Value};
use crate::model::{SimpleCommand, Word};
use crate::syntax::word_scan::{self, Context, Unit};

impl Walker<'_> {
    pub(super) fn simple(&mut self, node: &SimpleCommandNode) {
        if self.state.variables.assumes.is_some() {
            return self.simple_as_known(node);
        }
        let text = if self.state.has_possible() { node.to_string() } else { String::new() };
        let decided = self.state.decided_in(&text, MAX_TOGETHER / self.alternatives.ways);
        if !decided.is_empty() {
            return self.simple_in_each(node, decided);
        }
        let around = std::mem::take(&mut self.alternatives.possible_texts);
        let mut count = self.state.possible_in(&text);
        // `X=${X:-default}` changes what it looks at.
        let before = if count > 0 || node.prefix.is_some() { Some(self.kept_state()) } else { None };
        self.alternatives.decided_texts = None;
        self.simple_as_known(node);
        let decided = self.alternatives.decided_texts.take();
        count = count.max(std::mem::replace(&mut self.alternatives.possible_texts, around)).min(MAX_WAYS);
        // What may run is there as well, beside what nobody knows.
        for number in 0..count {
            if !self.goes_on() {
                return;
            }
            let state = self.kept_state();
            self.state.clone_from(before.as_ref().unwrap_or(&state));
            self.state.variables.assumes = Some(number);
            self.beside(|walker| walker.simple_as_known(node));
            let assumed = std::mem::replace(&mut self.state, state);
            self.state.may_be_as(&assumed);
        }
        if let Some((name, values)) = set_by_substitution(node).zip(decided) {
            self.state.is_one_of(&name, &values);
        }
    }

    /// In each of the states that the shell may be in: it is surely in one of them.
    fn simple_in_each(&mut self, node: &SimpleCommandNode, states: Vec<State>) {
        let (found, is_timed) = (std::mem::take(&mut self.streams.found), self.is_timed);
        let mut ended: Option<State> = None;
        let around = self.alternatives.ways;
        self.alternatives.ways *= states.len();
        for state in states {
            if !self.spend(state.size()) {
                break;
            }
            self.state = state;
            let visit = |walker: &mut Self| {
                (walker.streams.found, walker.is_timed) = (found.clone(), is_timed);
                walker.simple(node);
            };
            match ended.take() {
                None => visit(self),
                Some(before) => {
                    self.or_else(visit);
                    self.join(&before);
                }
            }
            ended = Some(self.kept_state());
        }
        self.alternatives.ways = around;
    }

    fn simple_as_known(&mut self, node: &SimpleCommandNode) {
        let mut command = SimpleCommand::default();
        let first = self.script.commands.len();
        let has_dashes = std::mem::take(&mut self.is_timed) && is_behind_dashes(node);
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
        let is_declaration = node.word_or_name.as_ref().is_some_and(|word| is_declaring(&word.value));
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
        let leaving = Leaving::of(&command);
        self.emit(command);
        for (name, elements) in declared {
            self.state.assign_array(&name, elements);
        }
        if let Some(leaving) = leaving {
            self.leave(leaving);
        }
    }

    fn item(&mut self, item: &CommandPrefixOrSuffixItem, command: &mut SimpleCommand) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                let redirect = self.redirect(redirect);
                command.invocation.redirects.push(redirect);
            }
            // An argument may look like an assignment, as of `env` or `export`.
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                self.words(&word.value, &mut command.invocation.words);
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                let word = self.process(subshell, kind);
                // `--flag=<(…)` comes as two words.
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

/// The variable that a command sets to what one substitution prints, doing nothing else: `x=$(…)`.
fn set_by_substitution(node: &SimpleCommandNode) -> Option<String> {
    let prefix = node.prefix.as_ref().filter(|_| node.word_or_name.is_none())?;
    let [CommandPrefixOrSuffixItem::AssignmentWord(assignment, _)] = prefix.0.as_slice() else { return None };
    let AssignmentValue::Scalar(word) = &assignment.value else { return None };
    let units = word_scan::scan(&word.value, Context::Word).units;
    let is_one = matches!(units.as_slice(), [Unit::Expansion(expansion)] if expansion.script.is_some());
    (is_one && !assignment.append).then(|| assignment.name.to_string())
}

/// Whether what looks like an assignment behind it is one: `declare -A x=([a]=b)`.
fn is_declaring(program: &str) -> bool {
    matches!(program, "declare" | "typeset" | "local" | "readonly" | "export")
}

/// `time -- ls`: the dashes are for `time`. Behind them, what sets a variable may be read otherwise.
fn is_behind_dashes(node: &SimpleCommandNode) -> bool {
    let first = node.suffix.iter().flat_map(|suffix| &suffix.0).next();
    let is_dashes = node.word_or_name.as_ref().is_some_and(|word| word.value == "--");
    is_dashes && node.prefix.is_none() && matches!(first, Some(CommandPrefixOrSuffixItem::Word(_)))
}
