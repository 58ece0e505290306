//! Over the syntax tree, in the order of the text, to every simple command in it.
//!
//! INVARIANT: recursion is bounded. `bounded_parse` lets no tree through whose nesting, together with what is around
//! it, exceeds the limit, and everything that nests passes it: a substitution is parsed one level deeper than its word.

mod alternatives;
mod compound;
mod control_flow;
mod delegating;
mod file_texts;
mod functions;
mod git;
mod loops;
mod redirects;
mod running;
mod simple;
mod sources;
mod substitution;
mod traps;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use brush_parser::SourceSpan;
use brush_parser::ast::{Command, CompoundList, FunctionDefinition, Pipeline, SeparatorOperator, SourceLocation};

use crate::interpret::printed::Printed;
use crate::interpret::state::{Function, State, Value};
use crate::limits::budget::{self, Budget};
use crate::limits::{Gap, MAX_BYTES, MAX_NESTING};
use crate::model::{Container, Earlier, Script, SimpleCommand, Word};
use crate::syntax::hidden::Hidden;
use crate::syntax::{bash_differences, bounded_parse};
use crate::written_files::files::Files;
use control_flow::Left;

/// Words that brace expansion may add, over the whole text.
const MAX_EXPANDED_WORDS: usize = 4096;
/// Text that is parsed, over all that is found in it and parsed again.
const MAX_PARSED: usize = 4 * MAX_BYTES;
/// What known values may add to words. One can hold another twice, and so on.
const MAX_EXPANDED_TEXT: usize = 256 * 1024;

pub(crate) fn walk(text: &str, earlier: Earlier) -> Script {
    let mut walker = Walker {
        script: Script { complete: true, scopes: vec![None], ..Script::default() },
        effort: Effort::default(),
        depth: 0,
        scope: 0,
        hidden: Rc::default(),
        around: Around::default(),
        running: Vec::new(),
        state: State::default(),
        streams: Streams::default(),
        alternatives: Alternatives::default(),
        is_timed: false,
        uncalled: BTreeMap::new(),
        git_settings: Arc::default(),
        files: Files::new(earlier),
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
    effort: Effort,
    /// How many compound commands and substitutions are around.
    depth: usize,
    scope: usize,
    /// Of the text that is being walked.
    hidden: Rc<Hidden>,
    around: Around,
    /// The scripts around what is walked, by their texts: one that runs itself does nothing new.
    running: Vec<String>,
    state: State,
    streams: Streams,
    alternatives: Alternatives,
    /// Whether `time` stands right before the command that is walked next.
    is_timed: bool,
    /// Functions that nothing has called so far.
    uncalled: BTreeMap<String, Rc<Function>>,
    /// Settings of git that the script has made: names in lower case, and values.
    git_settings: Arc<[Arc<(String, String)>]>,
    files: Files<'a>,
    left: Left,
}

/// The work that was done so far, of what all of it may be.
#[derive(Default)]
struct Effort {
    /// The work that is left.
    budget: Budget,
    /// Commands that have been met, calls of functions among them.
    commands: usize,
    /// Bytes that were parsed.
    parsed: usize,
    /// Words that brace expansion has added.
    expanded_words: usize,
    /// Bytes that known values have added to words.
    expanded_text: usize,
}

/// What flows between commands: the stdin of the command that is walked, and the stdout of the last one.
#[derive(Default)]
struct Streams {
    /// The text of stdin, where that is known.
    input: Option<Arc<str>>,
    /// The commands at the other end of the pipe.
    piped_from: Range<usize>,
    /// The paths that go through the pipe.
    piped_paths: Vec<Word>,
    /// The paths that a redirection of a loop or group around gives to read.
    fed_paths: Rc<[Word]>,
    /// The paths that the next command reads, and afterwards those that it prints, where they are all that it prints.
    found: Vec<Word>,
    /// The text that the last command prints, as far as that is known.
    output: Printed,
    /// What stands for that text, where only its kind is known.
    meaning: Option<String>,
    /// How many take what is printed: substitutions and other commands.
    listeners: usize,
}

/// The several things that a command may turn out to be.
struct Alternatives {
    /// How many texts the substitutions of the command that is walked may print, none of them for sure.
    possible_texts: usize,
    /// All that the last substitution may have printed, where it is surely one of these.
    decided_texts: Option<Vec<Value>>,
    /// In how many ways the commands around are walked.
    ways: usize,
}

impl Default for Alternatives {
    fn default() -> Self {
        Self { possible_texts: 0, decided_texts: None, ways: 1 }
    }
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
    filled: Filled,
}

/// How words of what is walked were filled in by the program around it.
#[derive(Default, Clone, Copy)]
struct Filled {
    /// Whether patterns stand in it for what was found, between quotes too:
    /// `find -name '*.x' -exec sh -c 'cat "{}"' \;`.
    holds_patterns: bool,
    /// Whether words of it are what the program around it reads: `xargs`.
    fills_words: bool,
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
        let goes_on = self.effort.budget.spend(steps);
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
        let known = self.state.variables.set_blindly;
        let changed = change(&mut self.state);
        if self.state.variables.set_blindly > known {
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
        self.effort.parsed += text.len();
        if self.effort.parsed > MAX_PARSED {
            self.gap(Gap::TooManyCommands);
            return;
        }
        if !self.spend(text.len()) {
            return;
        }
        if let Some(doubt) = bash_differences::in_text(text) {
            self.gap(Gap::Doubtful(doubt));
        }
        let hidden = Rc::new(Hidden::hide(text));
        let around = std::mem::replace(&mut self.hidden, Rc::clone(&hidden));
        self.streams.output = Printed::default();
        match bounded_parse::parse(hidden.shown(), self.depth) {
            Ok(program) => {
                let mut printed = Printed::nothing();
                for list in &program.complete_commands {
                    self.list(list);
                    printed.then(&std::mem::take(&mut self.streams.output));
                }
                self.streams.output = printed;
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
        self.streams.meaning = None;
        self.streams.found.clear();
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
            printed.then(&std::mem::take(&mut self.streams.output));
        }
        self.streams.output = printed;
        if list.0.len() != 1 {
            self.forget_kind();
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        self.is_timed = pipeline.timed.is_some() && matches!(pipeline.seq.first(), Some(Command::Simple(_)));
        if let [command] = pipeline.seq.as_slice() {
            return self.command(command);
        }
        let (piped_from, input) = (self.streams.piped_from.clone(), self.streams.input.take());
        let mut possible: Vec<Arc<str>> = Vec::new();
        let listeners = self.streams.listeners;
        for (number, command) in pipeline.seq.iter().enumerate() {
            self.streams.listeners = listeners + usize::from(number + 1 < pipeline.seq.len());
            let first = self.script.commands.len();
            let found = std::mem::take(&mut self.streams.piped_paths);
            self.streams.found.clone_from(&found);
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
                self.streams.input = Some(text);
                self.beside(|walker| {
                    walker.streams.found.clone_from(&found);
                    walker.in_new_scope(|walker| walker.command(command));
                });
            }
            possible = self.streams.output.possible().map(Arc::from).collect();
            self.streams.piped_paths = std::mem::take(&mut self.streams.found);
            self.streams.piped_from = first..self.script.commands.len();
            self.streams.input = self.streams.output.sure().map(Arc::from);
        }
        self.streams.found = std::mem::take(&mut self.streams.piped_paths);
        (self.streams.piped_from, self.streams.input) = (piped_from, input);
    }

    fn command(&mut self, command: &Command) {
        if !self.spend(budget::NODE) {
            return;
        }
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                let around = (Rc::clone(&self.streams.fed_paths), self.streams.input.clone());
                if let Some(fed) = self.redirects_of_compound(redirects.as_ref()) {
                    (self.streams.fed_paths, self.streams.input) = (fed.paths, fed.text);
                }
                self.deeper(|walker| walker.compound(compound));
                (self.streams.fed_paths, self.streams.input) = around;
                if redirects.is_some() {
                    self.streams.output = Printed::default();
                }
            }
            Command::Function(definition) => self.define(definition),
            Command::ExtendedTest(test, redirects) => {
                self.redirects_of_compound(redirects.as_ref());
                self.deeper(|walker| walker.test(&test.expr));
                self.streams.output = Printed::nothing();
            }
        }
    }

    fn define(&mut self, definition: &FunctionDefinition) {
        // A tree is many times its text.
        let length = definition.location().map_or(MAX_BYTES, |place| place.length());
        if !self.spend(4 * length + self.state.size()) {
            return;
        }
        let name = definition.fname.value.clone();
        let function = Rc::new(Function { body: definition.body.clone(), hidden: Rc::clone(&self.hidden) });
        self.state.commands.define(&name, Rc::clone(&function));
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
}
