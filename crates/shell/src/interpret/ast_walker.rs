//! Walks the syntax tree of a script in execution order, and collects every simple command.
//!
//! INVARIANT: recursion is bounded. `bounded_parse` rejects every tree whose nesting, including the levels around it,
//! exceeds the limit, and every nested script passes through it: a substitution is parsed one level deeper than its
//! word.

mod alternatives;
mod compound;
mod control_flow;
mod functions;
mod git;
mod input_contents;
mod loops;
mod redirects;
mod run_command;
mod run_delegation;
mod script_sources;
mod simple;
mod substitution;
mod traps;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use brush_parser::SourceSpan;
use brush_parser::ast::{Command, CompoundList, FunctionDefinition, Pipeline, SeparatorOperator, SourceLocation};

use crate::interpret::possible_output::PossibleOutput;
use crate::interpret::state::{Function, State, Value};
use crate::limits::budget::{self, Budget};
use crate::limits::{Gap, MAX_BYTES, MAX_NESTING};
use crate::model::{Container, ContentsLookup, Script, SimpleCommand, Word};
use crate::syntax::hidden_expansions::HiddenExpansions;
use crate::syntax::{bash_differences, bounded_parse};
use crate::written_files::file_tracker::FileTracker;
use control_flow::EarlyExits;

/// Words that brace expansion may add in a whole script.
const MAX_EXPANDED_WORDS: usize = 4096;
/// Bytes that may be parsed in all, including nested scripts that are parsed again.
const MAX_PARSED: usize = 4 * MAX_BYTES;
/// Bytes that known values may add to words in all. A value can contain another one twice, and so on.
const MAX_EXPANDED_TEXT: usize = 256 * 1024;

pub(crate) fn interpret(text: &str, written_earlier: ContentsLookup) -> Script {
    let mut walker = Walker {
        script: Script { complete: true, scopes: vec![None], ..Script::default() },
        effort: Effort::default(),
        depth: 0,
        scope: 0,
        hidden: Rc::default(),
        enclosing: Enclosing::default(),
        enclosing_scripts: Vec::new(),
        state: State::default(),
        streams: Streams::default(),
        alternatives: Alternatives::default(),
        is_timed: false,
        uncalled: BTreeMap::new(),
        git_settings: Arc::default(),
        files: FileTracker::new(written_earlier),
        early_exits: EarlyExits::default(),
    };
    walker.walk_script(text);
    walker.run_traps();
    walker.walk_uncalled_functions();
    walker.run_traps();
    walker.script
}

struct Walker<'a> {
    script: Script,
    effort: Effort,
    /// The number of compound commands and substitutions around the current command.
    depth: usize,
    scope: usize,
    /// The hidden parts of the script that is being walked.
    hidden: Rc<HiddenExpansions>,
    enclosing: Enclosing,
    /// The scripts around the current command. A script that runs itself does nothing new.
    enclosing_scripts: Vec<String>,
    state: State,
    streams: Streams,
    alternatives: Alternatives,
    /// True if `time` directly precedes the next command.
    is_timed: bool,
    /// Functions that have not been called yet.
    uncalled: BTreeMap<String, Rc<Function>>,
    /// Git settings that the script has made so far: names in lower case, and values.
    git_settings: Arc<[Arc<(String, String)>]>,
    files: FileTracker<'a>,
    early_exits: EarlyExits,
}

/// The work done so far, which is limited.
#[derive(Default)]
struct Effort {
    /// The remaining budget.
    budget: Budget,
    /// Commands found so far, including calls of functions.
    commands: usize,
    /// Bytes parsed so far.
    parsed: usize,
    /// Words that brace expansion has added.
    expanded_words: usize,
    /// Bytes that known values have added to words.
    expanded_text: usize,
}

/// Data that flows between commands: the stdin of the current command, and the stdout of the previous one.
#[derive(Default)]
struct Streams {
    /// The text of stdin, if it is known.
    input: Option<Arc<str>>,
    /// The commands at the other end of the pipe.
    piped_from: Range<usize>,
    /// The paths that come through the pipe.
    piped_paths: Vec<Word>,
    /// The paths that a redirection of an enclosing loop or group supplies on stdin.
    compound_input_paths: Rc<[Word]>,
    /// Before a command: the paths that it reads from stdin. After it: the paths that it prints, if it prints nothing
    /// else.
    paths: Vec<Word>,
    /// The output of the last command, as far as it is known.
    output: PossibleOutput,
    /// A placeholder for that output, if only its kind is known.
    output_placeholder: Option<String>,
    /// How many substitutions and commands read the output.
    output_readers: usize,
}

/// Alternatives for the values that the current command uses.
struct Alternatives {
    /// How many possible outputs the command's substitutions have, none of which is certain.
    possible_count: usize,
    /// All possible outputs of the last substitution, if it certainly printed one of them.
    substitution_outputs: Option<Vec<Value>>,
    /// How many times the enclosing commands are walked, once for each state.
    state_count: usize,
}

impl Default for Alternatives {
    fn default() -> Self {
        Self { possible_count: 0, substitution_outputs: None, state_count: 1 }
    }
}

/// The wrappers around the current command, and their effects on it.
#[derive(Default, Clone)]
struct Enclosing {
    /// Wrappers that run the current command, outermost first.
    via: Vec<String>,
    /// Transparent wrappers, which are not commands of the script.
    wrappers: Vec<Arc<SimpleCommand>>,
    is_remote: bool,
    container: Option<Arc<Container>>,
    /// True if a wrapper appends more arguments to the command.
    gets_more_arguments: bool,
    /// True if an enclosing command supplies stdin.
    has_input: bool,
    filled: FilledWords,
}

/// How a wrapper has filled in words of the current command.
#[derive(Default, Clone, Copy)]
struct FilledWords {
    /// True if globs in the command stand for found paths, even in quotes:
    /// `find -name '*.x' -exec sh -c 'cat "{}"' \;`.
    has_globs: bool,
    /// True if words of the command come from the wrapper's stdin: `xargs`.
    fills_words: bool,
}

impl Enclosing {
    /// Enters another machine, or a container on this machine.
    fn enter_remote(&mut self, container: Option<Container>) {
        // A container on another machine cannot be inspected either.
        let is_on_this_machine = !self.is_remote || self.container.is_some();
        self.container = container.filter(|_| is_on_this_machine).map(Arc::new);
        self.is_remote = true;
    }
}

impl Walker<'_> {
    fn add_gap(&mut self, gap: Gap) {
        self.script.complete = false;
        if !self.script.gaps.contains(&gap) {
            self.script.gaps.push(gap);
        }
    }

    /// Spends budget. Must be called before work that may be expensive. After it has returned false, the script is
    /// incomplete.
    fn spend(&mut self, steps: usize) -> bool {
        let has_budget = self.effort.budget.spend(steps);
        if !has_budget && !self.script.gaps.contains(&Gap::TooManyCommands) {
            self.add_gap(Gap::TooMuchWork);
        }
        has_budget
    }

    fn has_budget(&mut self) -> bool {
        self.spend(0)
    }

    /// Changes the state. An assignment to an unknown variable costs as much as reading all variables.
    fn change_state<T>(&mut self, change: impl FnOnce(&mut State) -> T) -> T {
        let known = self.state.variables.unknown_name_assignments;
        let changed = change(&mut self.state);
        if self.state.variables.unknown_name_assignments > known {
            self.spend(4 * self.state.size());
        }
        changed
    }

    /// Returns a copy of the state, to be restored later.
    fn saved_state(&mut self) -> State {
        self.spend(self.state.size());
        self.state.clone()
    }

    fn join(&mut self, other: &State) {
        if self.spend(other.size()) {
            self.state.join(other);
        }
    }

    fn walk_script(&mut self, text: &str) {
        self.effort.parsed += text.len();
        if self.effort.parsed > MAX_PARSED {
            self.add_gap(Gap::TooManyCommands);
            return;
        }
        if !self.spend(text.len()) {
            return;
        }
        if let Some(doubt) = bash_differences::doubtful_construct(text) {
            self.add_gap(Gap::Doubtful(doubt));
        }
        let hidden = Rc::new(HiddenExpansions::hide(text));
        let outer = std::mem::replace(&mut self.hidden, Rc::clone(&hidden));
        self.streams.output = PossibleOutput::default();
        match bounded_parse::parse(hidden.masked(), self.depth) {
            Ok(program) => {
                let mut printed = PossibleOutput::empty();
                for list in &program.complete_commands {
                    self.list(list);
                    printed.append(&std::mem::take(&mut self.streams.output));
                }
                self.streams.output = printed;
                if program.complete_commands.len() != 1 {
                    self.forget_output_placeholder();
                }
            }
            Err(gap) => self.add_gap(gap),
        }
        self.hidden = outer;
    }

    /// Forgets the kind of the output, because it is not known or the output comes from several commands.
    fn forget_output_placeholder(&mut self) {
        self.streams.output_placeholder = None;
        self.streams.paths.clear();
    }

    fn deeper(&mut self, visit: impl FnOnce(&mut Self)) {
        // `bounded_parse` has checked the depth. This prevents a stack overflow if that check is wrong.
        if self.depth > MAX_NESTING {
            self.add_gap(Gap::TooDeep);
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
        let state = self.saved_state();
        self.state.clear_traps();
        let early_exits = std::mem::take(&mut self.early_exits);
        visit(self);
        self.run_traps();
        self.state.branches.leave_success_unknown();
        let mut branches = std::mem::take(&mut self.state.branches);
        for exited in std::mem::replace(&mut self.early_exits, early_exits).exited {
            branches.or(&exited);
        }
        self.state = state;
        self.state.branches = branches;
        self.scope = parent;
    }

    fn list(&mut self, list: &CompoundList) {
        let mut printed = PossibleOutput::empty();
        for item in &list.0 {
            if !self.has_budget() {
                return;
            }
            match item.1 {
                SeparatorOperator::Sequence => self.and_or(&item.0),
                SeparatorOperator::Async => self.in_new_scope(|walker| walker.and_or(&item.0)),
            }
            printed.append(&std::mem::take(&mut self.streams.output));
        }
        self.streams.output = printed;
        if list.0.len() != 1 {
            self.forget_output_placeholder();
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        self.is_timed = pipeline.timed.is_some() && matches!(pipeline.seq.first(), Some(Command::Simple(_)));
        if let [command] = pipeline.seq.as_slice() {
            return self.command(command);
        }
        let (piped_from, input) = (self.streams.piped_from.clone(), self.streams.input.take());
        let mut possible: Vec<Arc<str>> = Vec::new();
        let output_readers = self.streams.output_readers;
        for (number, command) in pipeline.seq.iter().enumerate() {
            self.streams.output_readers = output_readers + usize::from(number + 1 < pipeline.seq.len());
            let first = self.script.commands.len();
            let piped_paths = std::mem::take(&mut self.streams.piped_paths);
            self.streams.paths.clone_from(&piped_paths);
            if self.state.options.lastpipe && number + 1 == pipeline.seq.len() {
                self.command(command);
            } else {
                self.in_new_scope(|walker| walker.command(command));
            }
            // Also walks the command with each possible input.
            for text in std::mem::take(&mut possible) {
                if !self.spend(text.len()) {
                    break;
                }
                self.streams.input = Some(text);
                self.in_addition(|walker| {
                    walker.streams.paths.clone_from(&piped_paths);
                    walker.in_new_scope(|walker| walker.command(command));
                });
            }
            possible = self.streams.output.possible().map(Arc::from).collect();
            self.streams.piped_paths = std::mem::take(&mut self.streams.paths);
            self.streams.piped_from = first..self.script.commands.len();
            self.streams.input = self.streams.output.known().map(Arc::from);
        }
        self.streams.paths = std::mem::take(&mut self.streams.piped_paths);
        (self.streams.piped_from, self.streams.input) = (piped_from, input);
    }

    fn command(&mut self, command: &Command) {
        if !self.spend(budget::NODE) {
            return;
        }
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                let outer = (Rc::clone(&self.streams.compound_input_paths), self.streams.input.clone());
                if let Some(input) = self.redirects_of_compound(redirects.as_ref()) {
                    (self.streams.compound_input_paths, self.streams.input) = (input.paths, input.text);
                }
                self.deeper(|walker| walker.compound(compound));
                (self.streams.compound_input_paths, self.streams.input) = outer;
                if redirects.is_some() {
                    self.streams.output = PossibleOutput::default();
                }
            }
            Command::Function(definition) => self.define(definition),
            Command::ExtendedTest(test, redirects) => {
                self.redirects_of_compound(redirects.as_ref());
                self.deeper(|walker| walker.test(&test.expr));
                self.streams.output = PossibleOutput::empty();
            }
        }
    }

    fn define(&mut self, definition: &FunctionDefinition) {
        // A syntax tree takes several times the memory of its script.
        let length = definition.location().map_or(MAX_BYTES, |span| span.length());
        if !self.spend(4 * length + self.state.size()) {
            return;
        }
        let name = definition.fname.value.clone();
        let function = Rc::new(Function { body: definition.body.clone(), hidden: Rc::clone(&self.hidden) });
        self.state.commands.define(&name, Rc::clone(&function));
        self.uncalled.insert(name.clone(), function);
        self.script.functions.push(name);
    }

    /// Forgets everything that this part of the script changes, because it is unknown when the part runs again.
    fn forget_changed_in(&mut self, span: &SourceSpan) {
        let hidden = Rc::clone(&self.hidden);
        let text = hidden.at(span);
        if self.spend(text.len()) {
            self.state.forget_changed_in(&text.replace("\\\n", ""));
        }
    }
}
