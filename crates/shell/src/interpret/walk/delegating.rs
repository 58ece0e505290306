//! Commands that run others: what they hand on to those, and where those run.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::{Around, Walker};
use crate::interpret::delegation::{Delegation, Reads, Runs};
use crate::interpret::printed::Printed;
use crate::interpret::state::{Positional, Value};
use crate::limits::Gap;
use crate::model::{
    Assignment, Container, Evidence, Folders, Invocation, Redirect, RedirectKind, RemovedVariables, SimpleCommand, Word,
};
use crate::programs::{Argument, Role};
use crate::special_programs::interpreter::script_file;
use crate::special_programs::parallel;

/// None that a command reads from or prints to.
const OWN_DESCRIPTOR: i32 = 9;

/// What a wrapper itself reads and writes, beside what it runs: `strace -o FILE`, `xargs -a FILE`.
fn own_paths(command: &SimpleCommand) -> Vec<Redirect> {
    let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.list);
    let redirect = |argument: &Argument| {
        let kind = match argument.role {
            Role::Read => RedirectKind::Read,
            Role::Write => RedirectKind::Append,
            _ => return None,
        };
        let target = Word::known(command.meaning_from(argument.word, argument.from)?);
        Some(Redirect { descriptor: Some(OWN_DESCRIPTOR), kind, target })
    };
    let is_parallel = matches!(command.program(), Some("parallel" | "sem"));
    let listed = parallel::files(command.words()).filter(|_| is_parallel).cloned();
    let read = |target| Redirect { descriptor: Some(OWN_DESCRIPTOR), kind: RedirectKind::Read, target };
    arguments.filter_map(redirect).chain(listed.map(read)).collect()
}

/// Whether what was found was put into a text that it runs.
fn runs_pattern(command: &SimpleCommand) -> bool {
    let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.list);
    let mut texts = arguments.filter(|argument| argument.role == Role::Shell);
    texts.any(|text| command.words().get(text.word).is_some_and(|word| word.glob))
}

/// What a command hands on to those that it runs.
struct Handover {
    /// How people call it.
    name: String,
    /// Whether those that it runs stand in its place.
    is_transparent: bool,
    /// Whether what it runs is printed by programs that only set up a shell.
    sets_up: bool,
    /// The script that it runs, by its name.
    script: Option<String>,
    /// The commands in its words.
    substituted: Range<usize>,
    /// Its own, for the first command that it runs.
    redirects: Vec<Redirect>,
    assignments: Vec<Assignment>,
    /// What all that it runs gets to see.
    given: Vec<Assignment>,
}

impl Handover {
    /// Takes what one that does nothing else leaves to those that it runs.
    fn of(delegation: &Delegation, command: &mut SimpleCommand, sets_up: bool) -> Self {
        let script = command.evidence.script.as_ref().and_then(|_| script_file(command)).map(Cow::into_owned);
        // All that it runs gets to see what is set for it, unless that is elsewhere.
        let is_seen = delegation.is_transparent || !delegation.is_remote;
        let given = if is_seen { command.assignments().to_vec() } else { Vec::new() };
        let (mut redirects, mut assignments) = (Vec::new(), Vec::new());
        if delegation.is_transparent {
            redirects = std::mem::take(&mut command.invocation.redirects);
            redirects.extend(own_paths(command));
            assignments = std::mem::take(&mut command.invocation.assignments);
        }
        Self {
            name: delegation.name.clone(),
            is_transparent: delegation.is_transparent,
            sets_up,
            script,
            substituted: command.evidence.substituted.clone(),
            redirects,
            assignments,
            given,
        }
    }

    fn command(&mut self, words: Vec<Word>, more: Vec<Assignment>) -> SimpleCommand {
        let given = self.given.iter().filter(|_| !self.is_transparent).cloned();
        self.assignments.extend(given.chain(more));
        let (assignments, redirects) = (std::mem::take(&mut self.assignments), std::mem::take(&mut self.redirects));
        let invocation = Invocation { words, assignments, redirects, arguments: None };
        let evidence = Evidence { substituted: self.substituted.clone(), ..Evidence::default() };
        SimpleCommand { invocation, evidence, ..SimpleCommand::default() }
    }

    /// What none of them took.
    fn rest(self) -> Option<SimpleCommand> {
        let Self { redirects, assignments, .. } = self;
        let is_rest = !redirects.is_empty() || !assignments.is_empty();
        is_rest.then(|| Invocation { assignments, redirects, ..Invocation::default() }.into())
    }
}

/// The walk as it was before what a command runs.
struct Before {
    around: Around,
    input: Option<Arc<str>>,
    piped_from: Range<usize>,
    /// `None` where it takes no variables away.
    removed: Option<RemovedVariables>,
    /// `None` where it stays where it is.
    folders: Option<Folders>,
}

impl Walker<'_> {
    pub(super) fn delegate(&mut self, mut delegation: Delegation, mut command: SimpleCommand) {
        let runs = std::mem::take(&mut delegation.runs);
        let is_unknown = runs.iter().any(|runs| matches!(runs, Runs::Text { text: None, .. }));
        // What it runs cannot be shown in its place.
        delegation.is_transparent &= !is_unknown;
        let sets_up = is_unknown && self.note_sources(&mut command, delegation.reads == Reads::Commands);
        let before = self.enter_delegation(&mut delegation, &runs, &command);
        let mut handover = Handover::of(&delegation, &mut command, sets_up);
        self.place_delegator(delegation.is_transparent, command);
        let mut printed = Printed::nothing();
        for runs in runs {
            self.streams.output = Printed::default();
            self.deeper(|walker| walker.run_delegated(runs, &mut handover));
            printed.then(&std::mem::take(&mut self.streams.output));
        }
        self.leave_delegation(before);
        self.streams.output = printed;
        if !delegation.is_transparent {
            self.streams.output.doubt();
        }
        if let Some(rest) = handover.rest() {
            self.run(rest);
            self.streams.output = Printed::default();
        }
    }

    /// Goes where what it runs is run, with what that reads.
    fn enter_delegation(&mut self, delegation: &mut Delegation, runs: &[Runs], command: &SimpleCommand) -> Before {
        let goes_elsewhere = delegation.folder.is_some() || delegation.container.is_some();
        let before = Before {
            around: self.around.clone(),
            input: self.streams.input.clone(),
            piped_from: self.streams.piped_from.clone(),
            removed: self.state.variables.remove_variables(&delegation.removes),
            folders: goes_elsewhere.then(|| self.state.directory.folders.clone()),
        };
        self.enter_folder(delegation.folder.take(), delegation.container.as_ref());
        if delegation.is_remote {
            self.around.go_elsewhere(delegation.container.take());
        }
        let fed = command.redirects().iter().rev().find(|redirect| redirect.is_input());
        self.around.via.push(delegation.name.clone());
        self.around.has_input |= fed.is_some();
        let filled = &mut self.around.filled;
        let runs_words = runs.iter().all(|runs| matches!(runs, Runs::Command { .. }));
        filled.holds_patterns |= runs_pattern(command);
        filled.fills_words = delegation.reads == Reads::Words || filled.fills_words && runs_words;
        // What a shell reads its commands from is not there for them.
        let reads_input = delegation.reads == Reads::Commands;
        if reads_input || fed.is_some() {
            // `ssh host bash <<E`: what it is given goes on to what it runs.
            self.streams.input = fed.filter(|_| !reads_input).and_then(Redirect::text).map(Arc::from);
            self.streams.piped_from = 0..0;
        }
        before
    }

    fn leave_delegation(&mut self, before: Before) {
        self.around = before.around;
        (self.streams.input, self.streams.piped_from) = (before.input, before.piped_from);
        if let Some(folders) = before.folders {
            self.state.directory.folders = folders;
        }
        if let Some(removed) = before.removed {
            self.state.variables.removed = removed;
        }
    }

    /// One that does nothing else is no command of the script, but around those that it runs.
    fn place_delegator(&mut self, is_transparent: bool, command: SimpleCommand) {
        if is_transparent {
            self.around.wrappers.push(Arc::new(command.own_words()));
        } else {
            self.script.commands.push(command);
        }
    }

    fn run_delegated(&mut self, runs: Runs, handover: &mut Handover) {
        match runs {
            Runs::Command { words, assignments } => self.run(handover.command(words, assignments)),
            Runs::Text { text: None, in_own_shell, .. } => self.run_unknown(in_own_shell, handover),
            Runs::Text { text: Some(text), .. } if self.running.contains(&text) => {}
            Runs::Text { text: Some(text), in_own_shell: true, arguments, is_beginning, name } => {
                self.around.is_beginning = is_beginning;
                let arguments = arguments.iter().map(Value::of).collect();
                let own = (name.as_ref().and_then(Value::of), arguments);
                self.in_own_shell(&text, &handover.given, handover.script.as_deref(), own);
            }
            Runs::Text { text: Some(text), in_own_shell: false, .. } => {
                self.in_same_shell(&handover.name, &text, &handover.given);
            }
        }
    }

    fn run_unknown(&mut self, in_own_shell: bool, handover: &Handover) {
        if !handover.sets_up {
            self.gap(Gap::Unknown(handover.name.clone()));
        }
        match (in_own_shell, handover.sets_up) {
            (true, _) => {}
            // It goes nowhere else.
            (false, true) => self.state.forget_settings(),
            (false, false) => self.state.forget(),
        }
    }

    /// `eval`; or `source`, which `return` leaves. `given`: what is set as long as it runs.
    fn in_same_shell(&mut self, program: &str, text: &str, given: &[Assignment]) {
        let around = self.state.enter_assignments(given);
        self.in_this_shell(program, text);
        self.state.leave_assignments(around);
    }

    fn in_this_shell(&mut self, program: &str, text: &str) {
        match program {
            "source" | "." => self.until_return(|walker| walker.text(text)),
            _ => self.text(text),
        }
    }

    /// As a program of its own, which has a name and arguments. `given`: what it gets to see beside what is exported.
    fn in_own_shell(
        &mut self,
        text: &str,
        given: &[Assignment],
        script: Option<&str>,
        (name, arguments): (Option<Value>, Positional),
    ) {
        // What it sets to run at its end is part of it.
        self.running.push(text.to_owned());
        self.in_new_scope(|walker| {
            walker.state.enter_program(name, arguments);
            for assignment in given {
                walker.state.export(assignment);
            }
            if let Some(script) = script {
                walker.state.enter_script(script);
            }
            walker.text(text);
        });
        self.running.pop();
    }

    /// Where a command has begun what it runs.
    fn enter_folder(&mut self, folder: Option<Word>, container: Option<&Container>) {
        if let Some(folder) = folder {
            self.state.directory.folders =
                folder.value.map_or_else(Folders::unknown, |folder| self.state.directory.folders.then(&folder));
        }
        if let Some(container) = container {
            self.state.directory.folders = container.folders();
        }
    }
}
