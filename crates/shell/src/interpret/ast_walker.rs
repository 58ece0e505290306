//! Walks the syntax tree of a script in execution order, and collects every simple command.
//!
//! INVARIANT: the recursion of the walk is bounded. `bounded_parse` parses the script and every script nested in it,
//! and rejects a syntax tree that is nested deeper than the limit. The levels that enclose the tree count: a
//! substitution is parsed one level deeper than the word that contains it.

mod alternatives;
mod assumed_commands;
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

/// The maximum number of words that brace expansion may add in a whole script.
const MAX_EXPANDED_WORDS: usize = 4096;
/// The maximum number of bytes that are parsed for one script, including nested scripts that are parsed again.
const MAX_PARSED: usize = 4 * MAX_BYTES;
/// The maximum number of bytes that known values may add to all words of a script together. Without a limit, a value
/// could double again and again: `x=$x$x`.
const MAX_EXPANDED_TEXT: usize = 256 * 1024;

/// Simulates a script, and returns the commands that it could run.
pub(crate) fn interpret(text: &str, written_earlier: ContentsLookup) -> Script {
    let mut walker = Walker {
        script: Script { complete: true, shells: vec![None], ..Script::default() },
        effort: Effort::default(),
        depth: 0,
        shell: 0,
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

/// The state of a walk through the syntax tree.
struct Walker<'a> {
    script: Script,
    effort: Effort,
    /// The number of compound commands and substitutions around the current command.
    depth: usize,
    /// The shell that runs the current command: an index in [`Script::shells`].
    shell: usize,
    /// The script that is being walked, with the expansions that markers in its syntax tree stand for.
    hidden: Rc<HiddenExpansions>,
    enclosing: Enclosing,
    /// The scripts around the current command. A script that runs itself is not walked again.
    enclosing_scripts: Vec<String>,
    state: State,
    streams: Streams,
    alternatives: Alternatives,
    /// True if `time` directly precedes the next command.
    is_timed: bool,
    /// Functions that have not been called yet.
    uncalled: BTreeMap<String, Rc<Function>>,
    /// Git settings that the script has set so far: names in lower case, and values.
    git_settings: Arc<[Arc<(String, String)>]>,
    files: FileTracker<'a>,
    early_exits: EarlyExits,
}

/// The work that the simulation has done so far. Each kind of work is limited.
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

/// Data that flows between commands: the stdin of the current command, and the stdout of the previous command.
#[derive(Default)]
struct Streams {
    /// The text of stdin, if it is known.
    input: Option<Arc<str>>,
    /// The commands whose output is piped into the current command: indices in [`Script::commands`].
    piped_from: Range<usize>,
    /// The paths that are piped into the current part of the pipeline. Only the first simple command in that part gets
    /// these paths.
    input_paths: Vec<Word>,
    /// The paths that a redirection of an enclosing loop or group supplies on stdin.
    compound_input_paths: Rc<[Word]>,
    /// The output of the previous command, as far as it is known.
    output: PossibleOutput,
    /// A placeholder for the output of the previous command, if only the kind of the output is known.
    output_placeholder: Option<String>,
    /// The paths that the previous command printed, if it printed nothing else.
    printed_paths: Vec<Word>,
    /// How many of the enclosing substitutions and pipelines read the output of the current command.
    output_readers: usize,
}

/// Alternatives for the values that the current command uses.
struct Alternatives {
    /// The largest number of possible values of one expansion in the command: of a substitution whose output is not
    /// certain, or of `${NAME:-default}`.
    possible_count: usize,
    /// The possible outputs of the last substitution, if the substitution certainly printed one of these outputs.
    substitution_outputs: Option<Vec<Value>>,
    /// How many times the enclosing commands are walked, because they are walked once in each possible state.
    state_count: usize,
}

impl Default for Alternatives {
    fn default() -> Self {
        Self { possible_count: 0, substitution_outputs: None, state_count: 1 }
    }
}

/// The wrappers around the current command (programs that run another command, like `sudo` and `xargs`), and their
/// effect on how the current command runs.
#[derive(Default, Clone)]
struct Enclosing {
    /// Wrappers that run the current command, outermost first.
    via: Vec<String>,
    /// Those wrappers around the current command that do nothing but run this command (transparent wrappers).
    /// Transparent wrappers are not listed as commands of the script.
    wrappers: Vec<Arc<SimpleCommand>>,
    /// How many of [`Self::wrappers`] run the current command as part of a script.
    script_wrappers: usize,
    /// How many unknown words before the current command are assumed to run this command.
    assumed_words: usize,
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
    has_words_from_input: bool,
}

impl Enclosing {
    /// Enters another machine, or a container on this machine.
    fn enter_remote(&mut self, container: Option<Container>) {
        // For a container on another machine, the mounts do not matter, because they contain no files of this machine.
        let is_on_this_machine = !self.is_remote || self.container.is_some();
        self.container = container.filter(|_| is_on_this_machine).map(Arc::new);
        self.is_remote = true;
    }
}

impl Walker<'_> {
    fn add_gap(&mut self, gap: Gap) {
        // A command that is only assumed (see `assumed_commands`) probably does not run, so its gaps do not matter.
        if self.enclosing.assumed_words > 0 && matches!(gap, Gap::Unknown(_) | Gap::Doubtful(_)) {
            return;
        }
        self.script.complete = false;
        if !self.script.gaps.contains(&gap) {
            self.script.gaps.push(gap);
        }
    }

    /// Spends budget. Must be called before work that may be expensive. Returns false if the budget is spent: the work
    /// must then be left out, and the script counts as incomplete.
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

    /// Changes the state. An assignment to a variable whose name is unknown costs as much as reading all variables.
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

    /// Joins the state of another control-flow path into the current state.
    fn join(&mut self, other: &State) {
        if self.spend(other.size()) {
            self.state.join(other);
        }
    }

    /// Parses and walks a script in the current shell.
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
                    self.walk_list(list);
                    printed.append(&std::mem::take(&mut self.streams.output));
                }
                self.streams.output = printed;
                if program.complete_commands.len() != 1 {
                    self.forget_kind_of_output();
                }
            }
            Err(gap) => self.add_gap(gap),
        }
        self.hidden = outer;
    }

    /// Forgets the kind of the output and the paths in the output: the kind and the paths are not known, or several
    /// commands printed parts of the output.
    fn forget_kind_of_output(&mut self) {
        self.streams.output_placeholder = None;
        self.streams.printed_paths.clear();
    }

    /// Walks a part of the script at the next level of nesting.
    fn one_level_deeper(&mut self, visit: impl FnOnce(&mut Self)) {
        // `bounded_parse` has checked the depth. A second check prevents a stack overflow if the first check is wrong.
        if self.depth > MAX_NESTING {
            self.add_gap(Gap::TooDeep);
            return;
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    /// Walks a part of the script in a child shell. Changes that this part makes to the state are lost, except for the
    /// checked-out branch.
    fn in_child_shell(&mut self, visit: impl FnOnce(&mut Self)) {
        let parent = self.shell;
        self.script.shells.push(Some(parent));
        self.shell = self.script.shells.len() - 1;
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
        self.shell = parent;
    }

    /// Walks the items of a list one after another. Background jobs run in child shells.
    fn walk_list(&mut self, list: &CompoundList) {
        let mut printed = PossibleOutput::empty();
        for item in &list.0 {
            if !self.has_budget() {
                return;
            }
            match item.1 {
                SeparatorOperator::Sequence => self.walk_and_or(&item.0),
                SeparatorOperator::Async => self.in_child_shell(|walker| walker.walk_and_or(&item.0)),
            }
            printed.append(&std::mem::take(&mut self.streams.output));
        }
        self.streams.output = printed;
        if list.0.len() != 1 {
            self.forget_kind_of_output();
        }
    }

    fn walk_pipeline(&mut self, pipeline: &Pipeline) {
        self.is_timed = pipeline.timed.is_some() && matches!(pipeline.seq.first(), Some(Command::Simple(_)));
        if let [command] = pipeline.seq.as_slice() {
            return self.walk_command(command);
        }
        let (piped_from, input) = (self.streams.piped_from.clone(), self.streams.input.take());
        let mut possible_inputs: Vec<Arc<str>> = Vec::new();
        let mut piped_paths: Vec<Word> = Vec::new();
        let output_readers = self.streams.output_readers;
        for (number, command) in pipeline.seq.iter().enumerate() {
            self.streams.output_readers = output_readers + usize::from(number + 1 < pipeline.seq.len());
            let first = self.script.commands.len();
            self.streams.input_paths.clone_from(&piped_paths);
            if self.state.options.lastpipe && number + 1 == pipeline.seq.len() {
                self.walk_command(command);
            } else {
                self.in_child_shell(|walker| walker.walk_command(command));
            }
            // If the input is not certain, the command is walked again with each possible input.
            for text in std::mem::take(&mut possible_inputs) {
                if !self.spend(text.len()) {
                    break;
                }
                self.streams.input = Some(text);
                self.in_addition(|walker| {
                    walker.streams.input_paths.clone_from(&piped_paths);
                    walker.in_child_shell(|walker| walker.walk_command(command));
                });
            }
            possible_inputs = self.streams.output.possible().map(Arc::from).collect();
            piped_paths = std::mem::take(&mut self.streams.printed_paths);
            self.streams.piped_from = first..self.script.commands.len();
            self.streams.input = self.streams.output.known().map(Arc::from);
        }
        self.streams.input_paths.clear();
        self.streams.printed_paths = piped_paths;
        (self.streams.piped_from, self.streams.input) = (piped_from, input);
    }

    fn walk_command(&mut self, command: &Command) {
        if !self.spend(budget::NODE) {
            return;
        }
        match command {
            Command::Simple(simple) => self.walk_simple_command(simple),
            Command::Compound(compound, redirects) => {
                let outer = (Rc::clone(&self.streams.compound_input_paths), self.streams.input.clone());
                if let Some(input) = self.add_redirects_of_compound(redirects.as_ref()) {
                    (self.streams.compound_input_paths, self.streams.input) = (input.paths, input.text);
                }
                self.one_level_deeper(|walker| walker.walk_compound(compound));
                (self.streams.compound_input_paths, self.streams.input) = outer;
                if redirects.is_some() {
                    self.streams.output = PossibleOutput::default();
                }
            }
            Command::Function(definition) => self.define_function(definition),
            Command::ExtendedTest(test, redirects) => {
                self.add_redirects_of_compound(redirects.as_ref());
                self.one_level_deeper(|walker| walker.walk_test(&test.expr));
                self.streams.output = PossibleOutput::empty();
            }
        }
    }

    fn define_function(&mut self, definition: &FunctionDefinition) {
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

    /// Forgets the values of all variables that a part of the script changes, because these values are not known when
    /// the part runs again. `span`: the part of the script.
    fn forget_changed_in(&mut self, span: &SourceSpan) {
        let hidden = Rc::clone(&self.hidden);
        let text = hidden.at(span);
        if self.spend(text.len()) {
            self.state.forget_changed_in(&text.replace("\\\n", ""));
        }
    }
}
