//! The ways that a script may go: by `&&`, `||` and `!`, and by what leaves a loop, a function or the shell before its
//! end.

use brush_parser::ast::{
    AndOr, AndOrList, Command, CommandPrefixOrSuffixItem, CompoundList, IoFileRedirectTarget, IoRedirect, Pipeline,
    SimpleCommand as SimpleCommandNode,
};

use crate::interpret::printed::Printed;
use crate::interpret::state::State;
use crate::interpret::walk::Walker;
use crate::model::SimpleCommand;
use crate::special_programs::git_branches::Branches;

/// A way that does not lead through all of a list.
struct Other {
    state: State,
    /// Whether the last pipeline on it worked.
    worked: bool,
    by: Turn,
}

/// Why a way leads elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// A `cd` failed: what it was to lead to is not there.
    NotGone,
    /// A `cd` worked: what it was to lead to is there.
    Gone,
    /// A `mkdir -p` failed, which nobody goes on with.
    NotMade,
    /// Something else, which says nothing of folders.
    Else,
}

/// What leaves what it stands in.
#[derive(Clone, Copy)]
pub(super) enum Leaving {
    Shell,
    Function,
    /// So many of those around.
    Loops(usize),
}

impl Leaving {
    pub(super) fn of(command: &SimpleCommand) -> Option<Self> {
        let word = |place: usize| command.words().get(place).and_then(|word| word.value.as_deref());
        match word(0)? {
            "exit" => Some(Self::Shell),
            "return" => Some(Self::Function),
            "break" | "continue" => {
                Some(Self::Loops(word(1).and_then(|count| count.parse().ok()).filter(|count| *count > 0).unwrap_or(1)))
            }
            _ => None,
        }
    }
}

/// What was left in the shell that is walked.
#[derive(Default)]
pub(super) struct Left {
    /// The loops and functions around, outermost first.
    around: Vec<Frame>,
    /// What was checked out when the shell ended: it stays so.
    pub(super) exited: Vec<Branches>,
}

/// A loop, or a function.
struct Frame {
    is_loop: bool,
    /// How the shell was where it was left.
    states: Vec<State>,
}

impl Walker<'_> {
    pub(super) fn and_or(&mut self, list: &AndOrList) {
        let mut others: Vec<Other> = Vec::new();
        let mut before = &list.first;
        self.step(before, list.additional.is_empty());
        if list.additional.is_empty() {
            return self.state.settle();
        }
        self.streams.output.ends(surely(before));
        let mut printed = std::mem::take(&mut self.streams.output);
        for (number, item) in list.additional.iter().enumerate() {
            if !self.spend(self.state.size()) {
                return;
            }
            let is_last = number + 1 == list.additional.len();
            let outcome = surely(before);
            let (AndOr::And(next) | AndOr::Or(next)) = item;
            let goes_on_if = matches!(item, AndOr::And(_));
            let is_made = goes_on_if && !before.bang && makes_folders(before);
            let moved = self.state.directory.may_have_moved().then_some(goes_on_if == before.bang);
            before = next;
            let failed = self.state.if_failed();
            self.state.assume_success();
            // What was passed over before may come back in here: `a || b && c`.
            let back: Vec<State> =
                others.extract_if(.., |other| other.worked == goes_on_if).map(|other| other.state).collect();
            // The other way leads nowhere.
            if outcome == Some(goes_on_if) {
                for state in &back {
                    self.join(state);
                }
                self.step(next, is_last);
                self.add_printed(&mut printed, goes_on_if, next);
                continue;
            }
            let state = if goes_on_if { failed } else { std::mem::replace(&mut self.state, failed) };
            let by = match moved {
                Some(false) => Turn::NotGone,
                Some(true) if back.is_empty() => Turn::Gone,
                None if is_made => Turn::NotMade,
                _ => Turn::Else,
            };
            for state in &back {
                self.join(state);
            }
            self.step(next, is_last);
            self.add_printed(&mut printed, goes_on_if, next);
            if !others.last().is_some_and(|last| last.by == by && last.state.is_like(&state)) {
                others.push(Other { state, worked: !goes_on_if, by });
            }
        }
        self.state.settle();
        self.join_others(&others);
        self.streams.output = printed;
        if !is_last_to_print(list) {
            self.forget_kind();
        }
    }

    /// What the last pipeline prints comes behind what was printed, if it runs.
    fn add_printed(&mut self, printed: &mut Printed, if_worked: bool, last: &Pipeline) {
        self.streams.output.ends(surely(last));
        printed.then_if(if_worked, &std::mem::take(&mut self.streams.output));
    }

    /// Where it is only a `cd` that may have failed, the first folder that is there tells which way was taken.
    fn join_others(&mut self, others: &[Other]) {
        for other in others.iter().filter(|other| other.by == Turn::Else) {
            self.join(&other.state);
        }
        for other in others.iter().filter(|other| other.by == Turn::NotMade) {
            let mut state = other.state.clone();
            state.directory.folders.clone_from(&self.state.directory.folders);
            self.join(&state);
        }
        for other in others.iter().rev().filter(|other| matches!(other.by, Turn::Gone | Turn::NotGone)) {
            if !self.spend(other.state.size()) {
                return;
            }
            if other.by == Turn::Gone {
                let failed = std::mem::replace(&mut self.state, other.state.clone());
                self.state.join_failed(&failed);
            } else {
                self.state.join_failed(&other.state);
            }
        }
    }

    /// `is_last`: under `set -e`, only the last pipeline of a list ends the script by failing.
    fn step(&mut self, pipeline: &Pipeline, is_last: bool) {
        let around = self.state.failing.is_tested;
        self.state.failing.is_tested |= !is_last || pipeline.bang;
        self.pipeline(pipeline);
        self.state.failing.is_tested = around;
        self.state.failing.is_negated = pipeline.bang;
    }

    pub(super) fn condition(&mut self, list: &CompoundList) {
        let around = std::mem::replace(&mut self.state.failing.is_tested, true);
        self.list(list);
        self.state.failing.is_tested = around;
    }

    pub(super) fn in_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        self.within(true, visit);
    }

    /// In a function, or in a script that is read as one.
    pub(super) fn until_return(&mut self, visit: impl FnOnce(&mut Self)) {
        self.within(false, visit);
    }

    fn within(&mut self, is_loop: bool, visit: impl FnOnce(&mut Self)) {
        self.left.around.push(Frame { is_loop, states: Vec::new() });
        visit(self);
        for state in self.left.around.pop().into_iter().flat_map(|frame| frame.states) {
            self.join(&state);
        }
    }

    /// Nothing behind it is run. Where there is nothing to leave, the shell only complains.
    pub(super) fn leave(&mut self, leaving: Leaving) {
        let name = match leaving {
            Leaving::Shell => "exit",
            Leaving::Function => "return",
            Leaving::Loops(_) => "break",
        };
        if self.state.is_over || self.state.commands.function(name).is_some() || !self.spend(self.state.size()) {
            return;
        }
        let around = &mut self.left.around;
        let frame = match leaving {
            Leaving::Shell => {
                self.left.exited.push(self.state.branches.clone());
                self.state.is_over = true;
                return;
            }
            Leaving::Function => around.iter_mut().rfind(|frame| !frame.is_loop),
            Leaving::Loops(count) => around.iter_mut().rev().take_while(|frame| frame.is_loop).take(count).last(),
        };
        let Some(frame) = frame else { return };
        if !frame.states.last().is_some_and(|last| last.is_like(&self.state)) {
            frame.states.push(self.state.clone());
        }
        self.state.is_over = true;
    }
}

/// `cd x && pwd`: whether all but the last only go somewhere.
fn is_last_to_print(list: &AndOrList) -> bool {
    let goes = |pipeline: &Pipeline| match pipeline.seq.as_slice() {
        [Command::Simple(simple)] => simple.word_or_name.as_ref().is_some_and(|word| word.value == "cd"),
        _ => false,
    };
    let is_and = |item: &AndOr| matches!(item, AndOr::And(_));
    let before_last = list.additional.iter().rev().skip(1);
    let middle_goes = |item: &AndOr| matches!(item, AndOr::And(pipeline) if goes(pipeline));
    goes(&list.first) && list.additional.iter().all(is_and) && before_last.into_iter().all(middle_goes)
}

/// How a pipeline ends, where that is sure.
fn surely(pipeline: &Pipeline) -> Option<bool> {
    let [Command::Simple(simple)] = pipeline.seq.as_slice() else { return None };
    let program = simple.word_or_name.as_ref().map(|word| word.value.as_str());
    match program {
        Some("false") => Some(pipeline.bang),
        _ if opens_files(simple) => None,
        Some("true" | ":" | "echo") => Some(!pipeline.bang),
        Some("printf") if words_of(simple).next().is_some_and(is_sure_format) => Some(!pipeline.bang),
        _ => None,
    }
}

/// `mkdir -p`: nobody minds that it is there.
fn makes_folders(pipeline: &Pipeline) -> bool {
    let [Command::Simple(simple)] = pipeline.seq.as_slice() else { return false };
    let makes = simple.word_or_name.as_ref().is_some_and(|word| word.value == "mkdir");
    makes && words_of(simple).any(|word| matches!(word, "-p" | "--parents"))
}

/// Whether `printf` takes any words with it: a number may be none, and a flag not be there.
fn is_sure_format(raw: &str) -> bool {
    let text = raw.replace("\\n", "");
    let is_plain = !text.trim_start_matches(['"', '\'']).starts_with('-') && !text.contains(['$', '`', '\\']);
    is_plain && text.split('%').skip(1).all(|rest| rest.starts_with('s'))
}

/// Those behind the program, as they are written.
fn words_of(simple: &SimpleCommandNode) -> impl Iterator<Item = &str> {
    simple.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(|item| match item {
        CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
            Some(word.value.as_str())
        }
        _ => None,
    })
}

/// Whether a file is opened for it, which may fail.
fn opens_files(simple: &SimpleCommandNode) -> bool {
    let before = simple.prefix.iter().flat_map(|prefix| &prefix.0);
    let mut items = before.chain(simple.suffix.iter().flat_map(|suffix| &suffix.0));
    items.any(|item| match item {
        CommandPrefixOrSuffixItem::IoRedirect(IoRedirect::File(_, _, target)) => match target {
            IoFileRedirectTarget::Filename(word) => word.value != "/dev/null",
            IoFileRedirectTarget::Duplicate(word) => !matches!(word.value.as_str(), "0" | "1" | "2"),
            IoFileRedirectTarget::Fd(number) => !(0..=2).contains(number),
            IoFileRedirectTarget::ProcessSubstitution(..) => false,
        },
        CommandPrefixOrSuffixItem::IoRedirect(IoRedirect::OutputAndError(word, _)) => word.value != "/dev/null",
        _ => false,
    })
}
