//! Simulates the commands that a command delegates to, with the environment and redirections that they inherit from the
//! delegating command.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::{Enclosing, Walker};
use crate::interpret::delegation::{DelegatedCommand, Delegation, InputUse};
use crate::interpret::possible_output::PossibleOutput;
use crate::interpret::state::{ParameterList, Value};
use crate::limits::Gap;
use crate::model::{
    Assignment, Container, Invocation, PossibleDirectories, Provenance, Redirect, RedirectKind, RemovedVariables,
    SimpleCommand, Word,
};
use crate::programs::{Argument, Role};
use crate::special_programs::interpreter::script_file;
use crate::special_programs::parallel;

/// The file descriptor of the redirections that stand for files that a wrapper itself reads or writes. These
/// redirections change neither stdin nor stdout of the wrapped command.
const UNUSED_DESCRIPTOR: i32 = 9;

/// Returns redirections that stand for the files that a wrapper reads and writes itself: `strace -o FILE`,
/// `xargs -a FILE`.
fn redirects_for_files_of_wrapper(command: &SimpleCommand) -> Vec<Redirect> {
    let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
    let redirect = |argument: &Argument| {
        let kind = match argument.role {
            Role::Read => RedirectKind::Read,
            Role::Write => RedirectKind::Append,
            _ => return None,
        };
        let target = Word::known(command.value_or_placeholder_from(argument.word, argument.from)?);
        Some(Redirect { descriptor: Some(UNUSED_DESCRIPTOR), kind, target })
    };
    let is_parallel = matches!(command.program(), Some("parallel" | "sem"));
    let listed = parallel::files(command.words()).filter(|_| is_parallel).cloned();
    let read = |target| Redirect { descriptor: Some(UNUSED_DESCRIPTOR), kind: RedirectKind::Read, target };
    arguments.filter_map(redirect).chain(listed.map(read)).collect()
}

/// True if found paths were inserted into a script that the command runs.
fn inserts_found_paths(command: &SimpleCommand) -> bool {
    let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
    let mut texts = arguments.filter(|argument| argument.role == Role::Shell);
    texts.any(|text| command.words().get(text.word).is_some_and(|word| word.glob))
}

/// Properties of a delegating command that apply to the commands that it runs.
struct Forwarded {
    /// The name of the delegating command, for messages.
    name: String,
    /// True if the commands replace the delegating command in the list of commands.
    is_transparent: bool,
    /// True if the scripts are the output of programs that only print shell setup.
    is_shell_setup: bool,
    /// The path of the script file that the delegating command runs.
    script: Option<String>,
    /// The commands in substitutions in the words of the delegating command.
    substituted: Range<usize>,
    /// Redirections of a transparent wrapper, for the first command that the wrapper runs.
    redirects: Vec<Redirect>,
    /// Assignments of a transparent wrapper, for the first command that the wrapper runs.
    assignments: Vec<Assignment>,
    /// Variables that the delegated scripts inherit. Unless the delegating command is a transparent wrapper, the other
    /// delegated commands inherit them too.
    inherited: Vec<Assignment>,
}

impl Forwarded {
    /// Collects the properties. If the command is a transparent wrapper, moves its redirections and assignments into
    /// the result.
    fn of(delegation: &Delegation, command: &mut SimpleCommand, is_shell_setup: bool) -> Self {
        let script = command.provenance.script.as_ref().and_then(|_| script_file(command)).map(Cow::into_owned);
        // Delegated commands inherit the variables that are set for the delegating command, unless the delegated
        // commands run on another machine or in a container. A transparent wrapper always passes the variables on.
        let is_inherited = delegation.is_transparent || !delegation.is_remote;
        let inherited = if is_inherited { command.assignments().to_vec() } else { Vec::new() };
        let (mut redirects, mut assignments) = (Vec::new(), Vec::new());
        if delegation.is_transparent {
            redirects = std::mem::take(&mut command.invocation.redirects);
            redirects.extend(redirects_for_files_of_wrapper(command));
            assignments = std::mem::take(&mut command.invocation.assignments);
        }
        Self {
            name: delegation.name.clone(),
            is_transparent: delegation.is_transparent,
            is_shell_setup,
            script,
            substituted: command.provenance.substituted.clone(),
            redirects,
            assignments,
            inherited,
        }
    }

    /// Makes a delegated command of words and assignments. The first command that is made also gets the redirections
    /// and assignments of a transparent wrapper.
    fn make_command(&mut self, words: Vec<Word>, more: Vec<Assignment>) -> SimpleCommand {
        let inherited = self.inherited.iter().filter(|_| !self.is_transparent).cloned();
        self.assignments.extend(inherited.chain(more));
        let (assignments, redirects) = (std::mem::take(&mut self.assignments), std::mem::take(&mut self.redirects));
        let invocation = Invocation { words, assignments, redirects, arguments: None };
        let provenance = Provenance { substituted: self.substituted.clone(), ..Provenance::default() };
        SimpleCommand { invocation, provenance, ..SimpleCommand::default() }
    }

    /// If no delegated command got the redirections and assignments of the wrapper, returns a command without words
    /// that has these redirections and assignments.
    fn into_rest(self) -> Option<SimpleCommand> {
        let Self { redirects, assignments, .. } = self;
        let is_rest = !redirects.is_empty() || !assignments.is_empty();
        is_rest.then(|| Invocation { assignments, redirects, ..Invocation::default() }.into())
    }
}

/// The state of the walk before a delegation.
struct SavedContext {
    enclosing: Enclosing,
    input: Option<Arc<str>>,
    piped_from: Range<usize>,
    /// The variables that were removed before the delegation; `None` if the delegation removes none.
    removed: Option<RemovedVariables>,
    /// The directories before the delegation; `None` if the delegation does not change the directories.
    directories: Option<PossibleDirectories>,
}

impl Walker<'_> {
    /// Simulates the commands that a command delegates to.
    pub(super) fn delegate(&mut self, mut delegation: Delegation, mut command: SimpleCommand) {
        let delegated = std::mem::take(&mut delegation.commands);
        let is_unknown = delegated.iter().any(|one| matches!(one, DelegatedCommand::Script { text: None, .. }));
        // If a script is unknown, the command that runs it stays in the list of commands.
        delegation.is_transparent &= !is_unknown;
        let is_shell_setup = is_unknown && self.note_sources(&mut command, delegation.input_use == InputUse::Commands);
        let saved = self.enter_delegation(&mut delegation, &delegated, &command);
        let mut forwarded = Forwarded::of(&delegation, &mut command, is_shell_setup);
        self.record_delegator(delegation.is_transparent, command);
        let mut printed = PossibleOutput::empty();
        for one in delegated {
            self.streams.output = PossibleOutput::default();
            self.one_level_deeper(|walker| walker.run_delegated(one, &mut forwarded));
            printed.append(&std::mem::take(&mut self.streams.output));
        }
        self.leave_delegation(saved);
        self.streams.output = printed;
        if !delegation.is_transparent {
            self.streams.output.mark_incomplete();
        }
        if let Some(rest) = forwarded.into_rest() {
            self.run_command(rest);
            self.streams.output = PossibleOutput::default();
        }
    }

    /// Sets the context in which the delegated commands run: directory, machine, container, environment and stdin.
    /// Returns the previous context.
    fn enter_delegation(
        &mut self,
        delegation: &mut Delegation,
        delegated: &[DelegatedCommand],
        command: &SimpleCommand,
    ) -> SavedContext {
        let changes_directory = delegation.directory.is_some() || delegation.container.is_some();
        let saved = SavedContext {
            enclosing: self.enclosing.clone(),
            input: self.streams.input.clone(),
            piped_from: self.streams.piped_from.clone(),
            removed: self.state.variables.remove_variables(&delegation.removed_variables),
            directories: changes_directory.then(|| self.state.directory.possible.clone()),
        };
        self.enter_directory(delegation.directory.take(), delegation.container.as_ref());
        if delegation.is_remote {
            self.enclosing.enter_remote(delegation.container.take());
        }
        let redirect = command.redirects().iter().rev().find(|redirect| redirect.replaces_stdin());
        self.enclosing.via.push(delegation.name.clone());
        self.enclosing.has_input |= redirect.is_some();
        let filled = &mut self.enclosing.filled;
        let runs_no_script = delegated.iter().all(|one| matches!(one, DelegatedCommand::Words { .. }));
        filled.has_globs |= inserts_found_paths(command);
        filled.has_words_from_input =
            delegation.input_use == InputUse::Arguments || filled.has_words_from_input && runs_no_script;
        // If a shell reads its commands from stdin, these commands get no input from the same stdin.
        let reads_input = delegation.input_use == InputUse::Commands;
        if reads_input || redirect.is_some() {
            // `ssh host bash <<E`: the wrapped command inherits stdin.
            self.streams.input = redirect.filter(|_| !reads_input).and_then(Redirect::text).map(Arc::from);
            self.streams.piped_from = 0..0;
        }
        saved
    }

    /// Restores the context before the delegation.
    fn leave_delegation(&mut self, saved: SavedContext) {
        self.enclosing = saved.enclosing;
        (self.streams.input, self.streams.piped_from) = (saved.input, saved.piped_from);
        if let Some(directories) = saved.directories {
            self.state.directory.possible = directories;
        }
        if let Some(removed) = saved.removed {
            self.state.variables.removed = removed;
        }
    }

    /// Records the delegating command: a transparent wrapper only as a part of the commands that it runs, any other
    /// program as a command of the script.
    fn record_delegator(&mut self, is_transparent: bool, command: SimpleCommand) {
        if is_transparent {
            self.enclosing.wrappers.push(Arc::new(command.without_delegated_words()));
        } else {
            self.script.commands.push(command);
        }
    }

    fn run_delegated(&mut self, delegated: DelegatedCommand, forwarded: &mut Forwarded) {
        if matches!(delegated, DelegatedCommand::Script { .. }) {
            self.enclosing.script_wrappers = self.enclosing.wrappers.len();
        }
        match delegated {
            DelegatedCommand::Words { words, assignments } => {
                self.run_command(forwarded.make_command(words, assignments));
            }
            DelegatedCommand::Script { text: None, in_new_shell, .. } => {
                self.run_unknown_script(in_new_shell, forwarded);
            }
            DelegatedCommand::Script { text: Some(text), .. } if self.enclosing_scripts.contains(&text) => {}
            DelegatedCommand::Script { text: Some(text), in_new_shell: true, arguments, gets_more_arguments, name } => {
                self.enclosing.gets_more_arguments = gets_more_arguments;
                let arguments = arguments.iter().map(Value::of).collect();
                let parameters = (name.as_ref().and_then(Value::of), arguments);
                self.walk_in_new_shell(&text, &forwarded.inherited, forwarded.script.as_deref(), parameters);
            }
            DelegatedCommand::Script { text: Some(text), in_new_shell: false, .. } => {
                self.walk_sourced_script(&forwarded.name, &text, &forwarded.inherited);
            }
        }
    }

    fn run_unknown_script(&mut self, in_new_shell: bool, forwarded: &Forwarded) {
        if !forwarded.is_shell_setup {
            self.add_gap(Gap::Unknown(forwarded.name.clone()));
        }
        match (in_new_shell, forwarded.is_shell_setup) {
            (true, _) => {}
            // Setup scripts do not change the directory.
            (false, true) => self.state.forget_all_but_directory(),
            (false, false) => self.state.forget(),
        }
    }

    /// Walks a script that `eval` or `source` runs. `inherited`: variables that are set while the script runs.
    fn walk_sourced_script(&mut self, program: &str, text: &str, inherited: &[Assignment]) {
        let outer = self.state.enter_assignments(inherited);
        self.walk_in_current_shell(program, text);
        self.state.leave_assignments(outer);
    }

    /// Walks a script in the current shell. `return` leaves a script of `source`, but not a script of `eval`.
    fn walk_in_current_shell(&mut self, program: &str, text: &str) {
        match program {
            "source" | "." => self.until_return(|walker| walker.walk_script(text)),
            _ => self.walk_script(text),
        }
    }

    /// Walks a script in a new shell. `name` becomes the shell's `$0`, and `arguments` become `$1`, `$2`, ….
    /// `inherited`: variables that the shell inherits in addition to the exported variables; `script`: the path of the
    /// script file.
    fn walk_in_new_shell(
        &mut self,
        text: &str,
        inherited: &[Assignment],
        script: Option<&str>,
        (name, arguments): (Option<Value>, ParameterList),
    ) {
        // The script stays in `enclosing_scripts` until `in_child_shell` returns, because that function also runs the
        // traps that the script has set.
        self.enclosing_scripts.push(text.to_owned());
        self.in_child_shell(|walker| {
            walker.state.enter_shell_process(name, arguments);
            for assignment in inherited {
                walker.state.export(assignment);
            }
            if let Some(script) = script {
                walker.state.enter_script(script);
            }
            walker.walk_script(text);
        });
        self.enclosing_scripts.pop();
    }

    /// Changes to the directory in which the delegated commands run.
    fn enter_directory(&mut self, directory: Option<Word>, container: Option<&Container>) {
        if let Some(directory) = directory {
            self.state.directory.possible = directory.value.map_or_else(PossibleDirectories::unknown, |directory| {
                self.state.directory.possible.after_cd(&directory)
            });
        }
        if let Some(container) = container {
            self.state.directory.possible = container.directories();
        }
    }
}
