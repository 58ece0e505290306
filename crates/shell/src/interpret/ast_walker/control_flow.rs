//! Control flow by `&&`, `||` and `!`, and by commands that leave a loop, a function or the shell early.

use brush_parser::ast::{
    AndOr, AndOrList, Command, CommandPrefixOrSuffixItem, CompoundList, IoFileRedirectTarget, IoRedirect, Pipeline,
    SimpleCommand as SimpleCommandNode,
};

use crate::interpret::ast_walker::Walker;
use crate::interpret::possible_output::PossibleOutput;
use crate::interpret::state::{CheckedOutBranches, State};
use crate::model::SimpleCommand;

/// A control-flow path that skips the rest of an and-or list.
struct ShortCircuit {
    state: State,
    /// True if the last pipeline on the path succeeded.
    succeeded: bool,
    cause: ShortCircuitCause,
}

/// The reason why the rest of the list was skipped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShortCircuitCause {
    /// A `cd` failed: its target does not exist.
    CdFailed,
    /// A `cd` succeeded: its target exists.
    CdSucceeded,
    /// A `mkdir -p` failed, which scripts do not expect.
    MkdirFailed,
    /// Another reason, which does not depend on directories.
    Other,
}

/// A command that leaves the enclosing loop, function or shell.
#[derive(Clone, Copy)]
pub(super) enum Jump {
    Exit,
    Return,
    /// `break` and `continue`, with the number of enclosing loops that they apply to.
    Break(usize),
}

impl Jump {
    pub(super) fn of(command: &SimpleCommand) -> Option<Self> {
        let word = |index: usize| command.words().get(index).and_then(|word| word.value.as_deref());
        match word(0)? {
            "exit" => Some(Self::Exit),
            "return" => Some(Self::Return),
            "break" | "continue" => {
                Some(Self::Break(word(1).and_then(|count| count.parse().ok()).filter(|count| *count > 0).unwrap_or(1)))
            }
            _ => None,
        }
    }
}

/// The states at early exits (`break`, `return`, `exit`) in the shell that is being walked.
#[derive(Default)]
pub(super) struct EarlyExits {
    /// The enclosing loops and functions, outermost first.
    frames: Vec<Frame>,
    /// The branches that were checked out when the shell exited. These branches stay checked out after the exit.
    pub(super) exited: Vec<CheckedOutBranches>,
}

/// A loop or a function.
struct Frame {
    is_loop: bool,
    /// The states at the early exits from this loop or function.
    states: Vec<State>,
}

impl Walker<'_> {
    /// Walks pipelines that are joined by `&&` and `||`.
    pub(super) fn walk_and_or(&mut self, list: &AndOrList) {
        let mut short_circuits: Vec<ShortCircuit> = Vec::new();
        let mut before = &list.first;
        self.walk_list_item(before, list.additional.is_empty());
        if list.additional.is_empty() {
            return self.state.leave_success_unknown();
        }
        self.streams.output.set_succeeded(certain_outcome(before));
        let mut printed = std::mem::take(&mut self.streams.output);
        for (index, item) in list.additional.iter().enumerate() {
            if !self.spend(self.state.size()) {
                return;
            }
            let is_last = index + 1 == list.additional.len();
            let outcome = certain_outcome(before);
            let (AndOr::And(next) | AndOr::Or(next)) = item;
            let runs_if = matches!(item, AndOr::And(_));
            let after_mkdir = runs_if && !before.bang && is_mkdir_p(before);
            let cd_outcome = self.state.directory.may_have_changed().then_some(runs_if == before.bang);
            before = next;
            let failed = self.state.if_failed();
            self.state.assume_success();
            // A path that skipped earlier items may resume at this item: if `a` succeeds in `a || b && c`, `c` runs.
            let resuming: Vec<State> =
                short_circuits.extract_if(.., |other| other.succeeded == runs_if).map(|other| other.state).collect();
            // The previous pipeline certainly has the outcome on which the next pipeline runs, so no path skips the
            // next pipeline.
            if outcome == Some(runs_if) {
                for state in &resuming {
                    self.join(state);
                }
                self.walk_list_item(next, is_last);
                self.append_output(&mut printed, runs_if, next);
                continue;
            }
            let state = if runs_if { failed } else { std::mem::replace(&mut self.state, failed) };
            let cause = match cd_outcome {
                Some(false) => ShortCircuitCause::CdFailed,
                Some(true) if resuming.is_empty() => ShortCircuitCause::CdSucceeded,
                None if after_mkdir => ShortCircuitCause::MkdirFailed,
                _ => ShortCircuitCause::Other,
            };
            for state in &resuming {
                self.join(state);
            }
            self.walk_list_item(next, is_last);
            self.append_output(&mut printed, runs_if, next);
            if !short_circuits.last().is_some_and(|last| last.cause == cause && last.state.is_equivalent(&state)) {
                short_circuits.push(ShortCircuit { state, succeeded: !runs_if, cause });
            }
        }
        self.state.leave_success_unknown();
        self.join_short_circuits(&short_circuits);
        self.streams.output = printed;
        if !only_last_prints(list) {
            self.forget_kind_of_output();
        }
    }

    /// Appends the output of the pipeline `last` to `printed`, on the control-flow paths on which `last` runs.
    /// `if_succeeded`: true if `last` runs after a success of the previous pipeline, false if after a failure.
    fn append_output(&mut self, printed: &mut PossibleOutput, if_succeeded: bool, last: &Pipeline) {
        self.streams.output.set_succeeded(certain_outcome(last));
        printed.append_if(if_succeeded, &std::mem::take(&mut self.streams.output));
    }

    /// Joins the states of the paths that skipped the rest of the list. The directories of a path on which a `cd`
    /// failed are used only if the directories of the path on which the `cd` succeeded do not exist.
    fn join_short_circuits(&mut self, short_circuits: &[ShortCircuit]) {
        for other in short_circuits.iter().filter(|other| other.cause == ShortCircuitCause::Other) {
            self.join(&other.state);
        }
        for other in short_circuits.iter().filter(|other| other.cause == ShortCircuitCause::MkdirFailed) {
            let mut state = other.state.clone();
            state.directory.possible.clone_from(&self.state.directory.possible);
            self.join(&state);
        }
        for other in short_circuits
            .iter()
            .rev()
            .filter(|other| matches!(other.cause, ShortCircuitCause::CdSucceeded | ShortCircuitCause::CdFailed))
        {
            if !self.spend(other.state.size()) {
                return;
            }
            if other.cause == ShortCircuitCause::CdSucceeded {
                let failed = std::mem::replace(&mut self.state, other.state.clone());
                self.state.join_as_fallback(&failed);
            } else {
                self.state.join_as_fallback(&other.state);
            }
        }
    }

    /// Walks one pipeline of an and-or list. `is_last`: true for the last pipeline of the list. Under `set -e`, only a
    /// failure of the last pipeline ends the script.
    fn walk_list_item(&mut self, pipeline: &Pipeline, is_last: bool) {
        let outer = self.state.failure.in_condition;
        self.state.failure.in_condition |= !is_last || pipeline.bang;
        self.walk_pipeline(pipeline);
        self.state.failure.in_condition = outer;
        self.state.failure.is_negated = pipeline.bang;
    }

    /// Walks a condition, in which `set -e` does not apply.
    pub(super) fn walk_condition(&mut self, list: &CompoundList) {
        let outer = std::mem::replace(&mut self.state.failure.in_condition, true);
        self.walk_list(list);
        self.state.failure.in_condition = outer;
    }

    /// Walks an iteration of a loop. `break` and `continue` end the iteration.
    pub(super) fn in_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        self.in_frame(true, visit);
    }

    /// Walks a function or a sourced script. `return` ends the function or the script.
    pub(super) fn until_return(&mut self, visit: impl FnOnce(&mut Self)) {
        self.in_frame(false, visit);
    }

    /// Walks a loop, a function or a sourced script, and joins the states at the early exits into the state at the end
    /// of the loop, function or script.
    fn in_frame(&mut self, is_loop: bool, visit: impl FnOnce(&mut Self)) {
        self.early_exits.frames.push(Frame { is_loop, states: Vec::new() });
        visit(self);
        for state in self.early_exits.frames.pop().into_iter().flat_map(|frame| frame.states) {
            self.join(&state);
        }
    }

    /// Marks the commands that follow as unreachable. If there is no loop or function to leave, the shell only prints
    /// an error, and the commands stay reachable.
    pub(super) fn jump_out(&mut self, jump: Jump) {
        let name = match jump {
            Jump::Exit => "exit",
            Jump::Return => "return",
            Jump::Break(_) => "break",
        };
        if self.state.is_unreachable || self.state.commands.function(name).is_some() || !self.spend(self.state.size()) {
            return;
        }
        let frames = &mut self.early_exits.frames;
        let frame = match jump {
            Jump::Exit => {
                self.early_exits.exited.push(self.state.branches.clone());
                self.state.is_unreachable = true;
                return;
            }
            Jump::Return => frames.iter_mut().rfind(|frame| !frame.is_loop),
            Jump::Break(count) => frames.iter_mut().rev().take_while(|frame| frame.is_loop).take(count).last(),
        };
        let Some(frame) = frame else { return };
        if !frame.states.last().is_some_and(|last| last.is_equivalent(&self.state)) {
            frame.states.push(self.state.clone());
        }
        self.state.is_unreachable = true;
    }
}

/// True for a list in which only the last pipeline prints something: `cd x && pwd`.
fn only_last_prints(list: &AndOrList) -> bool {
    let is_cd = |pipeline: &Pipeline| match pipeline.seq.as_slice() {
        [Command::Simple(simple)] => simple.word_or_name.as_ref().is_some_and(|word| word.value == "cd"),
        _ => false,
    };
    let is_and = |item: &AndOr| matches!(item, AndOr::And(_));
    let before_last = list.additional.iter().rev().skip(1);
    let is_and_cd = |item: &AndOr| matches!(item, AndOr::And(pipeline) if is_cd(pipeline));
    is_cd(&list.first) && list.additional.iter().all(is_and) && before_last.into_iter().all(is_and_cd)
}

/// Returns `Some(true)` if the pipeline certainly succeeds, `Some(false)` if it certainly fails, and `None` otherwise.
fn certain_outcome(pipeline: &Pipeline) -> Option<bool> {
    let [Command::Simple(simple)] = pipeline.seq.as_slice() else { return None };
    let program = simple.word_or_name.as_ref().map(|word| word.value.as_str());
    match program {
        Some("false") => Some(pipeline.bang),
        _ if opens_files(simple) => None,
        Some("true" | ":" | "echo") => Some(!pipeline.bang),
        Some("printf") if words_of(simple).next().is_some_and(accepts_any_arguments) => Some(!pipeline.bang),
        _ => None,
    }
}

/// True for `mkdir -p`, which also succeeds if the directory already exists.
fn is_mkdir_p(pipeline: &Pipeline) -> bool {
    let [Command::Simple(simple)] = pipeline.seq.as_slice() else { return false };
    let is_mkdir = simple.word_or_name.as_ref().is_some_and(|word| word.value == "mkdir");
    is_mkdir && words_of(simple).any(|word| matches!(word, "-p" | "--parents"))
}

/// True if `printf` accepts any arguments for this format. `%d` fails for words that are not numbers, and some shells
/// do not support `-v`.
fn accepts_any_arguments(raw: &str) -> bool {
    let text = raw.replace("\\n", "");
    let is_plain = !text.trim_start_matches(['"', '\'']).starts_with('-') && !text.contains(['$', '`', '\\']);
    is_plain && text.split('%').skip(1).all(|rest| rest.starts_with('s'))
}

/// The words after the program, as they are written.
fn words_of(simple: &SimpleCommandNode) -> impl Iterator<Item = &str> {
    simple.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(|item| match item {
        CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
            Some(word.value.as_str())
        }
        _ => None,
    })
}

/// True if a redirection opens a file. Opening a file may fail.
fn opens_files(simple: &SimpleCommandNode) -> bool {
    let before = simple.prefix.iter().flat_map(|prefix| &prefix.0);
    let mut items = before.chain(simple.suffix.iter().flat_map(|suffix| &suffix.0));
    items.any(|item| match item {
        CommandPrefixOrSuffixItem::IoRedirect(IoRedirect::File(_, _, target)) => match target {
            IoFileRedirectTarget::Filename(word) => word.value != "/dev/null",
            IoFileRedirectTarget::Duplicate(word) => !matches!(word.value.as_str(), "0" | "1" | "2"),
            IoFileRedirectTarget::Fd(index) => !(0..=2).contains(index),
            IoFileRedirectTarget::ProcessSubstitution(..) => false,
        },
        CommandPrefixOrSuffixItem::IoRedirect(IoRedirect::OutputAndError(word, _)) => word.value != "/dev/null",
        _ => false,
    })
}
