//! Over the syntax tree, in the order of the text, to every simple command in it.
//!
//! INVARIANT: recursion is bounded. `door` lets no tree through whose nesting, together with what is around it, exceeds
//! the limit, and everything that nests passes it: a substitution is parsed one level deeper than its word.

mod giving;
mod redirects;
mod rounds;
mod running;
mod traps;
mod ways;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use brush_parser::SourceSpan;
use brush_parser::ast::{
    AssignmentValue, CaseClauseCommand, CaseItemPostAction, Command, CommandPrefixOrSuffixItem, CompoundCommand,
    CompoundList, ExtendedTestExpr, FunctionDefinition, IfClauseCommand, Pipeline, ProcessSubstitutionKind,
    SeparatorOperator, SimpleCommand as SimpleCommandNode, SourceLocation, SubshellCommand, UnexpandedArithmeticExpr,
};

use super::budget::{self, Budget};
use super::command::{SimpleCommand, Word};
use super::container::Container;
use super::hidden::Hidden;
use super::printed::{MAX_WAYS, Printed};
use super::state::{Array, Function, MAX_TOGETHER, Name, State, Value};
use super::word::{self, Context, Unit};
use super::written::{Earlier, Files};
use super::{Gap, MAX_NESTING, Script, door, doubtful};
use ways::{Leaving, Left};
use words::process_word;

/// Words that brace expansion may add, over the whole text.
const MAX_EXPANDED_WORDS: usize = 4096;
/// Loops and functions make many of few.
pub(super) const MAX_COMMANDS: usize = 2000;
/// Text that is parsed, over all that is found in it and parsed again.
const MAX_PARSED: usize = 4 * door::MAX_BYTES;
/// What known values may add to words. One can hold another twice, and so on.
const MAX_EXPANDED_TEXT: usize = 256 * 1024;

pub(super) fn walk(text: &str, earlier: Earlier) -> Script {
    let mut walker = Walker {
        script: Script { complete: true, scopes: vec![None], ..Script::default() },
        depth: 0,
        scope: 0,
        piped_from: 0..0,
        expanded_words: 0,
        expanded_text: 0,
        parsed: 0,
        holds_patterns: false,
        fills_words: false,
        commands: 0,
        budget: Budget::default(),
        hidden: Rc::default(),
        around: Around::default(),
        state: State::default(),
        input: None,
        output: Printed::default(),
        possible_texts: 0,
        decided_texts: None,
        ways: 1,
        listeners: 0,
        is_timed: false,
        meaning: None,
        uncalled: BTreeMap::new(),
        found: Vec::new(),
        piped_paths: Vec::new(),
        fed_paths: Rc::default(),
        git_settings: Arc::default(),
        files: Files::new(earlier),
        running: Vec::new(),
        left: Left::default(),
    };
    walker.text(text);
    walker.run_traps();
    walker.uncalled_functions();
    walker.run_traps();
    walker.script
}

struct Walker<'a> {
    script: Script,
    /// How many compound commands and substitutions are around.
    depth: usize,
    scope: usize,
    piped_from: Range<usize>,
    expanded_words: usize,
    expanded_text: usize,
    parsed: usize,
    /// Whether patterns stand in it for what was found, between quotes too: `find -name '*.x' -exec sh -c 'cat "{}"' \;`.
    holds_patterns: bool,
    /// Whether words of it are what the program around it reads: `xargs`.
    fills_words: bool,
    /// How many have been met, calls of functions among them.
    commands: usize,
    /// What is left of the work that all of it may be.
    budget: Budget,
    /// Of the text that is being walked.
    hidden: Rc<Hidden>,
    state: State,
    /// What the command that is walked reads, where that is known.
    input: Option<Arc<str>>,
    /// What the last command prints, as far as that is known.
    output: Printed,
    /// How many texts the substitutions of the command that is walked may print, none of them for sure.
    possible_texts: usize,
    /// All that the last substitution may have printed, where it is surely one of these.
    decided_texts: Option<Vec<Value>>,
    /// In how many ways the commands around are walked.
    ways: usize,
    /// How many take what is printed: substitutions and other commands.
    listeners: usize,
    /// Whether `time` stands right before the command that is walked next.
    is_timed: bool,
    /// What stands for it, where only its kind is known.
    meaning: Option<String>,
    /// Functions that nothing has called so far.
    uncalled: BTreeMap<String, Rc<Function>>,
    /// The paths that the next command reads, and afterwards those that it prints, where they are all that it prints.
    found: Vec<Word>,
    /// What goes through the pipe.
    piped_paths: Vec<Word>,
    /// What a redirection of a loop or group around gives it to read.
    fed_paths: Rc<[Word]>,
    /// Of git, made by the script: names in lower case, and values.
    git_settings: Arc<[Arc<(String, String)>]>,
    files: Files<'a>,
    /// The scripts around what is walked, by their texts: one that runs itself does nothing new.
    running: Vec<String>,
    around: Around,
    left: Left,
}

/// What is around what is walked.
#[derive(Default, Clone)]
struct Around {
    /// The programs through which what is walked would be run, outermost first.
    via: Vec<String>,
    /// Those of them that are no commands of the script.
    wrappers: Vec<Arc<SimpleCommand>>,
    is_remote: bool,
    container: Option<Arc<Container>>,
    /// Whether more words are put behind what is walked.
    is_beginning: bool,
    /// Whether something around gives it what to read.
    has_input: bool,
}

impl Around {
    /// To another machine, or into a container of this one.
    fn go_elsewhere(&mut self, container: Option<Container>) {
        // One on another machine is out of sight as that is.
        let is_here = !self.is_remote || self.container.is_some();
        self.container = container.filter(|_| is_here).map(Arc::new);
        self.is_remote = true;
    }
}

impl Walker<'_> {
    fn gap(&mut self, gap: Gap) {
        self.script.complete = false;
        if !self.script.gaps.contains(&gap) {
            self.script.gaps.push(gap);
        }
    }

    /// To be asked before anything that may be much. Once it says no, what was found is not all.
    fn spend(&mut self, steps: usize) -> bool {
        let goes_on = self.budget.spend(steps);
        if !goes_on && !self.script.gaps.contains(&Gap::TooManyCommands) {
            self.gap(Gap::TooMuch);
        }
        goes_on
    }

    fn goes_on(&mut self) -> bool {
        self.spend(0)
    }

    /// Changes the state. To set a variable that nobody knows is to look at all of them, and at what is known of each.
    fn change_state<T>(&mut self, change: impl FnOnce(&mut State) -> T) -> T {
        let known = self.state.set_blindly;
        let changed = change(&mut self.state);
        if self.state.set_blindly > known {
            self.spend(4 * self.state.size());
        }
        changed
    }

    /// As it is now, to come back to.
    fn kept_state(&mut self) -> State {
        self.spend(self.state.size());
        self.state.clone()
    }

    fn join(&mut self, other: &State) {
        if self.spend(other.size()) {
            self.state.join(other);
        }
    }

    fn text(&mut self, text: &str) {
        self.parsed += text.len();
        if self.parsed > MAX_PARSED {
            self.gap(Gap::TooManyCommands);
            return;
        }
        if !self.spend(text.len()) {
            return;
        }
        if let Some(doubt) = doubtful::in_text(text) {
            self.gap(Gap::Doubtful(doubt));
        }
        let hidden = Rc::new(Hidden::hide(text));
        let around = std::mem::replace(&mut self.hidden, Rc::clone(&hidden));
        self.output = Printed::default();
        match door::parse(hidden.shown(), self.depth) {
            Ok(program) => {
                let mut printed = Printed::nothing();
                for list in &program.complete_commands {
                    self.list(list);
                    printed.then(&std::mem::take(&mut self.output));
                }
                self.output = printed;
                if program.complete_commands.len() != 1 {
                    self.forget_kind();
                }
            }
            Err(gap) => self.gap(gap),
        }
        self.hidden = around;
    }

    /// What is printed is not known in kind, or not by one command alone.
    fn forget_kind(&mut self) {
        self.meaning = None;
        self.found.clear();
    }

    fn deeper(&mut self, visit: impl FnOnce(&mut Self)) {
        // The door has checked it; this only keeps a mistake there from becoming an overflow.
        if self.depth > MAX_NESTING {
            self.gap(Gap::TooDeep);
            return;
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    fn in_new_scope(&mut self, visit: impl FnOnce(&mut Self)) {
        let parent = self.scope;
        self.script.scopes.push(Some(parent));
        self.scope = self.script.scopes.len() - 1;
        let state = self.kept_state();
        self.state.drop_traps();
        let left = std::mem::take(&mut self.left);
        visit(self);
        self.run_traps();
        self.state.branches.settle();
        let mut branches = std::mem::take(&mut self.state.branches);
        for exited in std::mem::replace(&mut self.left, left).exited {
            branches.or(&exited);
        }
        self.state = state;
        self.state.branches = branches;
        self.scope = parent;
    }

    fn list(&mut self, list: &CompoundList) {
        let mut printed = Printed::nothing();
        for item in &list.0 {
            if !self.goes_on() {
                return;
            }
            match item.1 {
                SeparatorOperator::Sequence => self.and_or(&item.0),
                SeparatorOperator::Async => self.in_new_scope(|walker| walker.and_or(&item.0)),
            }
            printed.then(&std::mem::take(&mut self.output));
        }
        self.output = printed;
        if list.0.len() != 1 {
            self.forget_kind();
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        self.is_timed = pipeline.timed.is_some() && matches!(pipeline.seq.first(), Some(Command::Simple(_)));
        if let [command] = pipeline.seq.as_slice() {
            return self.command(command);
        }
        let (piped_from, input) = (self.piped_from.clone(), self.input.take());
        let mut possible: Vec<Arc<str>> = Vec::new();
        let listeners = self.listeners;
        for (number, command) in pipeline.seq.iter().enumerate() {
            self.listeners = listeners + usize::from(number + 1 < pipeline.seq.len());
            let first = self.script.commands.len();
            let found = std::mem::take(&mut self.piped_paths);
            self.found.clone_from(&found);
            if self.state.options.lastpipe && number + 1 == pipeline.seq.len() {
                self.command(command);
            } else {
                self.in_new_scope(|walker| walker.command(command));
            }
            // What may come through the pipe is there as well.
            for text in std::mem::take(&mut possible) {
                if !self.spend(text.len()) {
                    break;
                }
                self.input = Some(text);
                self.beside(|walker| {
                    walker.found.clone_from(&found);
                    walker.in_new_scope(|walker| walker.command(command));
                });
            }
            possible = self.output.possible().map(Arc::from).collect();
            self.piped_paths = std::mem::take(&mut self.found);
            self.piped_from = first..self.script.commands.len();
            self.input = self.output.sure().map(Arc::from);
        }
        self.found = std::mem::take(&mut self.piped_paths);
        (self.piped_from, self.input) = (piped_from, input);
    }

    fn command(&mut self, command: &Command) {
        if !self.spend(budget::NODE) {
            return;
        }
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                let around = (Rc::clone(&self.fed_paths), self.input.clone());
                if let Some(fed) = self.redirects_of_compound(redirects.as_ref()) {
                    (self.fed_paths, self.input) = (fed.paths, fed.text);
                }
                self.deeper(|walker| walker.compound(compound));
                (self.fed_paths, self.input) = around;
                if redirects.is_some() {
                    self.output = Printed::default();
                }
            }
            Command::Function(definition) => self.define(definition),
            Command::ExtendedTest(test, redirects) => {
                self.redirects_of_compound(redirects.as_ref());
                self.deeper(|walker| walker.test(&test.expr));
                self.output = Printed::nothing();
            }
        }
    }

    fn define(&mut self, definition: &FunctionDefinition) {
        // A tree is many times its text.
        let length = definition.location().map_or(door::MAX_BYTES, |place| place.length());
        if !self.spend(4 * length + self.state.size()) {
            return;
        }
        let name = definition.fname.value.clone();
        let function = Rc::new(Function { body: definition.body.clone(), hidden: Rc::clone(&self.hidden) });
        self.state.define(&name, Rc::clone(&function));
        self.uncalled.insert(name.clone(), function);
        self.script.functions.push(name);
    }

    /// What this part of the text may change is not known when it begins once more.
    fn forget_changed_in(&mut self, place: &SourceSpan) {
        let hidden = Rc::clone(&self.hidden);
        let text = hidden.at(place);
        if self.spend(text.len()) {
            self.state.forget_changed_in(&text.replace("\\\n", ""));
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                if !self.spend(budget::NODE + arithmetic.expr.value.len()) {
                    return;
                }
                self.arithmetic(&arithmetic.expr);
                // It may be `PATH` that is set.
                self.script.loose.push(arithmetic.expr.value.clone());
                let sets = ["=", "++", "--"].iter().any(|sign| arithmetic.expr.value.contains(sign));
                if self.change_state(|state| state.count(&arithmetic.expr.value)).is_none() && sets {
                    self.state.forget_changed_in(&arithmetic.expr.value);
                }
                self.output = Printed::nothing();
            }
            CompoundCommand::BraceGroup(group) => return self.list(&group.list),
            CompoundCommand::Subshell(subshell) => return self.in_new_scope(|walker| walker.list(&subshell.list)),
            CompoundCommand::ArithmeticForClause(clause) => self.arithmetic_for(clause),
            CompoundCommand::ForClause(clause) => self.for_clause(clause),
            CompoundCommand::CaseClause(clause) => self.case(clause),
            CompoundCommand::IfClause(clause) => self.if_clause(clause),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                let is_while = matches!(compound, CompoundCommand::WhileClause(_));
                if !is_while || !self.lines(clause) && !self.shifting(clause) {
                    self.forget_changed_in(&clause.2);
                    self.some_rounds(|walker| {
                        walker.condition(&clause.0);
                        let before = walker.kept_state();
                        walker.list(&clause.1.list);
                        walker.join(&before);
                    });
                }
            }
            CompoundCommand::Coprocess(coprocess) => {
                // It reads what is written to it, and not what the text around it is given.
                let around = (self.around.has_input, self.around.is_beginning);
                (self.around.has_input, self.around.is_beginning) = (false, false);
                let (input, piped_from) = (self.input.take(), std::mem::take(&mut self.piped_from));
                self.in_new_scope(|walker| walker.command(&coprocess.body));
                (self.input, self.piped_from) = (input, piped_from);
                (self.around.has_input, self.around.is_beginning) = around;
                // The descriptors to read from and write to.
                let name = coprocess.name.as_ref().map(|name| self.single_word(&name.value));
                match name.map_or(Some("COPROC".to_owned()), |name| name.value) {
                    Some(name) => {
                        let both = vec![Value::some_number(), Value::some_number()];
                        self.state.assign_array(&name, Array::List(both));
                    }
                    None => self.state.assign_named(Name::BeginsWith(""), None),
                }
            }
        }
        // Nobody knows which of it runs, or how often.
        self.output.doubt();
        self.forget_kind();
    }

    fn if_clause(&mut self, clause: &IfClauseCommand) {
        self.condition(&clause.condition);
        let before = self.kept_state();
        self.list(&clause.then);
        let mut printed = std::mem::take(&mut self.output);
        let mut ends = vec![std::mem::replace(&mut self.state, before)];
        let mut is_exhaustive = false;
        for branch in clause.elses.iter().flatten() {
            if let Some(condition) = &branch.condition {
                self.condition(condition);
            }
            is_exhaustive |= branch.condition.is_none();
            let before = self.kept_state();
            self.list(&branch.body);
            printed.or(std::mem::take(&mut self.output));
            ends.push(std::mem::replace(&mut self.state, before));
        }
        self.output = printed;
        self.join_ends(ends, is_exhaustive);
    }

    /// Goes on from what the branches led to, or from where none of them was taken.
    fn join_ends(&mut self, mut ends: Vec<State>, is_exhaustive: bool) {
        if let Some(last) = ends.pop_if(|_| is_exhaustive) {
            self.state = last;
        }
        for end in &ends {
            self.join(end);
        }
    }

    fn case(&mut self, clause: &CaseClauseCommand) {
        self.substitutions_of(&clause.value.value, Context::Word);
        let mut ends = Vec::new();
        let mut printed = Printed::nothing();
        for item in &clause.cases {
            for pattern in &item.patterns {
                self.substitutions_of(&pattern.value, Context::Word);
            }
            if !self.spend(budget::NODE) {
                return;
            }
            let before = self.kept_state();
            if let Some(list) = &item.cmd {
                self.list(list);
                printed.or(std::mem::take(&mut self.output));
            }
            let end = std::mem::replace(&mut self.state, before);
            // What follows may be entered from here.
            if !matches!(item.post_action, CaseItemPostAction::ExitCase) {
                self.join(&end);
            }
            ends.push(end);
        }
        self.output = printed;
        // The last pattern that takes all the rest.
        let takes_all = clause.cases.iter().any(|item| item.patterns.iter().any(|pattern| pattern.value == "*"));
        self.join_ends(ends, takes_all);
    }

    fn arithmetic(&mut self, expression: &UnexpandedArithmeticExpr) {
        self.substitutions_of(&expression.value, Context::Text);
    }

    /// Iterative: a chain of `&&` or `!` is as deep as it is long.
    fn test(&mut self, test: &ExtendedTestExpr) {
        let mut pending = vec![test];
        while let Some(test) = pending.pop() {
            if !self.spend(budget::NODE) {
                return;
            }
            match test {
                ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                    pending.extend([&**right, left]);
                }
                ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => pending.push(inner),
                ExtendedTestExpr::UnaryTest(_, word) => self.test_operand(&word.value),
                ExtendedTestExpr::BinaryTest(_, left, right) => {
                    self.test_operand(&left.value);
                    self.test_operand(&right.value);
                }
            }
        }
    }

    fn test_operand(&mut self, raw: &str) {
        if doubtful::has_quoted_index(raw) {
            self.gap(Gap::Doubtful("a command in an array index"));
        }
        self.substitutions_of(raw, Context::Word);
    }

    fn simple(&mut self, node: &SimpleCommandNode) {
        if self.state.assumes.is_some() {
            return self.simple_as_known(node);
        }
        let text = if self.state.has_possible() { node.to_string() } else { String::new() };
        let decided = self.state.decided_in(&text, MAX_TOGETHER / self.ways);
        if !decided.is_empty() {
            return self.simple_in_each(node, decided);
        }
        let around = std::mem::take(&mut self.possible_texts);
        let mut count = self.state.possible_in(&text);
        // `X=${X:-default}` changes what it looks at.
        let before = if count > 0 || node.prefix.is_some() { Some(self.kept_state()) } else { None };
        self.decided_texts = None;
        self.simple_as_known(node);
        let decided = self.decided_texts.take();
        count = count.max(std::mem::replace(&mut self.possible_texts, around)).min(MAX_WAYS);
        // What may run is there as well, beside what nobody knows.
        for number in 0..count {
            if !self.goes_on() {
                return;
            }
            let state = self.kept_state();
            self.state.clone_from(before.as_ref().unwrap_or(&state));
            self.state.assumes = Some(number);
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
        let (found, is_timed) = (std::mem::take(&mut self.found), self.is_timed);
        let mut ended: Option<State> = None;
        let around = self.ways;
        self.ways *= states.len();
        for state in states {
            if !self.spend(state.size()) {
                break;
            }
            self.state = state;
            let visit = |walker: &mut Self| {
                (walker.found, walker.is_timed) = (found.clone(), is_timed);
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
        self.ways = around;
    }

    /// Walks what may run as well: what it prints may be printed beside what is known.
    fn beside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.or_else(visit);
        self.output.doubt();
    }

    /// Walks what may run in the place of what was walked.
    fn or_else(&mut self, visit: impl FnOnce(&mut Self)) {
        let printed = std::mem::take(&mut self.output);
        let (found, meaning) = (std::mem::take(&mut self.found), self.meaning.take());
        visit(self);
        self.output.or(printed);
        self.meaning = meaning;
        self.found.retain(|path| !found.contains(path));
        self.found.splice(..0, found);
    }

    /// Looks at a text as it is known, and then once for each thing that its variables and substitutions may be.
    fn each_possible<T: PartialEq>(&mut self, text: &str, mut look: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let around = std::mem::take(&mut self.possible_texts);
        let decided = self.state.decided_in(text, MAX_TOGETHER / self.ways);
        if !decided.is_empty() && self.state.assumes.is_none() {
            return self.each_decided(decided, look);
        }
        let mut looks = vec![look(self)];
        let printed = std::mem::replace(&mut self.possible_texts, around);
        if self.state.assumes.is_some() {
            return looks;
        }
        for number in 0..self.state.possible_in(text).max(printed).min(MAX_WAYS) {
            if !self.goes_on() {
                break;
            }
            self.state.assumes = Some(number);
            let assumed = look(self);
            self.state.assumes = None;
            if !looks.contains(&assumed) {
                looks.push(assumed);
            }
        }
        looks
    }

    /// Looks at it in each of the states that the shell may be in, and leaves the one that it is in as it was.
    fn each_decided<T: PartialEq>(&mut self, states: Vec<State>, mut look: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let before = self.kept_state();
        let mut looks = Vec::new();
        for state in states {
            if !self.spend(state.size()) {
                break;
            }
            self.state = state;
            let seen = look(self);
            if !looks.contains(&seen) {
                looks.push(seen);
            }
        }
        self.state = before;
        looks
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
                    command.assignments.push(assignment);
                }
                other => self.item(other, &mut command),
            }
        }
        if let Some(program) = node.word_or_name.as_ref().filter(|_| !has_dashes) {
            self.words(&program.value, &mut command.words);
        }
        let is_declaration = node.word_or_name.as_ref().is_some_and(|word| is_declaring(&word.value));
        for item in node.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word)
                    if is_declaration && matches!(assignment.value, AssignmentValue::Array(_)) =>
                {
                    let (assignment, elements) = self.assignment(assignment);
                    declared.extend(elements.map(|elements| (assignment.name, elements)));
                    command.words.push(Word::known(&word.value));
                }
                other => self.item(other, &mut command),
            }
        }
        if node.word_or_name.is_none() {
            for assignment in &command.assignments {
                self.state.note_path(&assignment.name, &assignment.value);
                self.state.assign(&assignment.name, Value::of(&assignment.value));
            }
            for (name, elements) in arrays {
                self.state.assign_array(&name, elements);
            }
        }
        command.substituted = first..self.script.commands.len();
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
                command.redirects.push(redirect);
            }
            // An argument may look like an assignment, as of `env` or `export`.
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                self.words(&word.value, &mut command.words);
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                let word = self.process(subshell, kind);
                // `--flag=<(…)` comes as two words.
                if let Some(flag) = command.words.last_mut().and_then(|word| word.value.as_mut())
                    && flag.starts_with("--")
                    && flag.ends_with('=')
                {
                    flag.pop();
                }
                command.words.push(word);
            }
        }
    }

    /// The word that stands for it, with what it prints, where that is known.
    fn process(&mut self, subshell: &SubshellCommand, kind: &ProcessSubstitutionKind) -> Word {
        let (input, output) = (self.input.take(), std::mem::take(&mut self.output));
        let (found, meaning) = (std::mem::take(&mut self.found), self.meaning.take());
        self.listeners += 1;
        self.in_new_scope(|walker| walker.deeper(|walker| walker.list(&subshell.list)));
        self.listeners -= 1;
        (self.input, self.meaning) = (input, meaning);
        let given_paths = std::mem::replace(&mut self.found, found);
        let printed = std::mem::replace(&mut self.output, output);
        let possible: Vec<&str> = printed.possible().collect();
        let assumed = self.state.assumes.and_then(|number| possible.get(number).or(possible.last()).copied());
        self.possible_texts = self.possible_texts.max(possible.len());
        Word { given: printed.sure().or(assumed).map(str::to_owned), given_paths, ..process_word(kind) }
    }

    /// Walks the text of a command substitution, and returns what it prints, where that is known.
    fn substitution(&mut self, script: &str) -> Option<Value> {
        let (input, output) = (self.input.take(), std::mem::take(&mut self.output));
        let (found, meaning) = (std::mem::take(&mut self.found), self.meaning.take());
        // `$(< file)` prints it.
        let file = script.trim().strip_prefix('<').map(str::trim);
        let shown =
            file.filter(|file| !file.contains(|letter: char| letter.is_whitespace() || "<>&;|(".contains(letter)));
        let shown = shown.map(|file| format!("cat {file}"));
        let script = shown.as_deref().unwrap_or(script);
        self.listeners += 1;
        self.in_new_scope(|walker| walker.deeper(|walker| walker.text(script)));
        self.listeners -= 1;
        let meaning = std::mem::replace(&mut self.meaning, meaning);
        let printed = std::mem::replace(&mut self.output, output);
        let found = std::mem::replace(&mut self.found, found);
        self.input = input;
        // Shells leave NULs out.
        let value = |text: &str| Value::plain(text.replace('\0', "").trim_end_matches('\n'));
        self.decided_texts = printed.one_of().map(|texts| texts.map(value).collect());
        if let Some(text) = printed.sure() {
            return Some(value(text));
        }
        let paths = || found.iter().filter_map(Value::of).map(Value::one_of);
        let several = paths().take(MAX_WAYS).filter(|_| found.len() > 1);
        let possible: Vec<Value> = printed.possible().map(value).chain(several).collect();
        if let Some(number) = self.state.assumes
            && let Some(value) = possible.get(number).or(possible.last())
        {
            return Some(value.clone());
        }
        self.possible_texts = self.possible_texts.max(possible.len());
        // One of the paths that it prints, or all.
        meaning.map(Value::in_kind).or_else(|| paths().next().filter(|_| found.len() == 1))
    }
}

/// The variable that a command sets to what one substitution prints, doing nothing else: `x=$(…)`.
fn set_by_substitution(node: &SimpleCommandNode) -> Option<String> {
    let prefix = node.prefix.as_ref().filter(|_| node.word_or_name.is_none())?;
    let [CommandPrefixOrSuffixItem::AssignmentWord(assignment, _)] = prefix.0.as_slice() else { return None };
    let AssignmentValue::Scalar(word) = &assignment.value else { return None };
    let units = word::scan(&word.value, Context::Word).units;
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
