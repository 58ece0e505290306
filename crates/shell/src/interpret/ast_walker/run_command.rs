//! Simulates one command: finds its program, its output, and the state of the shell after the command.

use std::sync::Arc;

use super::{Walker, traps};
use crate::interpret::delegation::{Delegation, delegation};
use crate::interpret::doubtful_command;
use crate::interpret::possible_output::PossibleOutput;
use crate::interpret::state::{Array, Value};
use crate::limits::{Gap, MAX_COMMANDS, budget};
use crate::model::{Redirect, SimpleCommand, Word};
use crate::programs::{Role, is_known_program};
use crate::special_programs::code_analysis::{self, program_inputs};
use crate::special_programs::known_output::{MAX_OUTPUT, output};
use crate::special_programs::language::is_readable;
use crate::special_programs::output_placeholder::{self, placeholder_of_number};
use crate::special_programs::{database_client, ex, file_copies, file_lists, git_format, listed_paths};

/// Makes the globs in the command's words active even in quotes, because these globs stand for the paths that a wrapper
/// such as `find` has found.
fn unquote_globs(command: &mut SimpleCommand) {
    let targets = command.invocation.redirects.iter_mut().map(|redirect| &mut redirect.target);
    for word in command.invocation.words.iter_mut().skip(1).chain(targets) {
        word.glob |= word.value_or_placeholder().is_some_and(|text| text.contains(['*', '?', '[']));
    }
}

/// The cost of reading code in a language other than shell, or of following copies of files.
fn cost_of_effects(command: &SimpleCommand) -> usize {
    let (Some(program), Some(arguments)) = (command.program(), command.arguments()) else { return 0 };
    if is_readable(program) {
        let codes = arguments.with_roles.iter().filter(|argument| argument.role == Role::Code);
        let codes = codes.filter_map(|code| command.value_or_placeholder_from(code.word, code.from));
        return budget::CODE * codes.chain(command.stdin_text()).map(str::len).sum::<usize>();
    }
    file_copies::cost(command, program, arguments)
}

/// Returns the likely output of a one-liner in a language other than shell.
fn printed_by_code(command: &SimpleCommand) -> Option<String> {
    let (program, arguments) = command.program().zip(command.arguments())?;
    let code = arguments.with_roles.iter().find(|argument| argument.role == Role::Code)?;
    let prints = code_analysis::analyze(
        program,
        command.value_or_placeholder_from(code.word, code.from)?,
        &program_inputs(command),
    )?
    .printed_strings;
    Some(prints.join("\n")).filter(|text| !text.is_empty())
}

impl Walker<'_> {
    /// Simulates a command that the shell itself starts: a function, an alias or a program. If it is not certain that
    /// the name stands for the function or alias, the program of this name is simulated too, if Linchpin knows such a
    /// program.
    pub(super) fn dispatch(&mut self, command: SimpleCommand) {
        let function = self.called_function(&command);
        let alias = if function.is_none() { self.script_of_alias(&command) } else { None };
        let Some(name) = command.words().first().and_then(|word| word.value.clone()) else {
            return self.run_command(command);
        };
        let is_certain = match (function, alias) {
            (None, None) => return self.run_command(command),
            _ if !self.count_command() => return,
            (Some(defined), _) => {
                self.call_function(&name, &defined.function, command.clone());
                defined.is_certain
            }
            (None, Some(script)) => {
                let delegation = Delegation {
                    name: name.clone(),
                    is_transparent: true,
                    commands: vec![script],
                    ..Delegation::default()
                };
                self.delegate(delegation, command.clone());
                // A non-interactive shell does not expand aliases.
                false
            }
        };
        let program = name.rsplit('/').next().unwrap_or(&name);
        if !is_certain && is_known_program(program) {
            self.run_command(command);
        }
    }

    /// Counts one more command. Returns false if there are too many commands.
    fn count_command(&mut self) -> bool {
        self.effort.commands += 1;
        if self.effort.commands > MAX_COMMANDS {
            self.add_gap(Gap::TooManyCommands);
            self.effort.budget.spend_all();
        }
        self.effort.commands <= MAX_COMMANDS
    }

    /// Simulates one command, and the commands that it delegates to. Each step returns false if the budget is spent.
    pub(super) fn run_command(&mut self, mut command: SimpleCommand) {
        let has_budget = self.count_command()
            && self.set_environment(&mut command)
            && self.resolve_words(&mut command)
            && self.note_files(&mut command)
            && self.note_script(&mut command);
        if has_budget {
            self.note_gaps(&mut command);
            self.apply_to_shell(&mut command);
            self.run_delegated_commands(command);
        }
    }

    /// Copies the current environment into the command.
    fn set_environment(&mut self, command: &mut SimpleCommand) -> bool {
        command.context.exported = self.state.variables.exported();
        command.context.removed = self.state.variables.removed.clone();
        self.spend(self.cost_of(command))
    }

    /// Finds the program, the directories that it runs in, and the roles of its arguments.
    fn resolve_words(&mut self, command: &mut SimpleCommand) -> bool {
        self.open_descriptor(command);
        self.find_program(command);
        command.context.directories = self.state.directory.possible.clone();
        // A glob as program name is kept if it matches a file that the script has written. Otherwise the program is
        // unknown.
        let is_glob = command.words().first().is_some_and(|word| word.glob);
        let written_file = || {
            command
                .words()
                .first()
                .and_then(Word::value_or_placeholder)
                .and_then(|path| self.files.contents_of(command, path))
        };
        if !is_glob || written_file().is_none() {
            doubtful_command::forget_glob(command);
        }
        if self.enclosing.filled.has_globs {
            unquote_globs(command);
        }
        self.set_context(command);
        command.read_arguments();
        if !self.spend(cost_of_effects(command)) {
            return false;
        }
        let gets_input = self.enclosing.gets_more_arguments || self.enclosing.has_input;
        command.provenance.is_interactive = command.runs_typed_commands() && !gets_input || ex::opens_shell(command);
        true
    }

    /// Replaces the value of the program word by the program that the word stands for, if the word is an expansion such
    /// as `$(which x)`, or the path of a copy or symlink of a program.
    fn find_program(&self, command: &mut SimpleCommand) {
        let Some(program) = command.invocation.words.first_mut() else { return };
        if program.value.is_none() && !program.glob {
            // The placeholder of `$(which x)` is a path in `/usr`. It stands for the program `x`, wherever `x` is
            // installed.
            program.value = program.placeholder.clone().filter(|path| path.starts_with("/usr/"));
        }
        // This lookup also resolves the path of a program that a wrapper runs. `script_of_alias` resolves names without
        // a slash, but only in commands that the shell itself starts.
        let path = program.value.as_deref().filter(|name| name.contains('/'));
        let real = path.and_then(|name| self.state.commands.real_name(name));
        program.value = real.map(Into::into).or_else(|| program.value.take());
    }

    /// Copies the current context into the command: its shell, machine, container, wrappers and stdin.
    fn set_context(&self, command: &mut SimpleCommand) {
        let SimpleCommand { context, provenance, wrappers, .. } = command;
        context.shell = self.shell;
        context.is_remote = self.enclosing.is_remote;
        context.container.clone_from(&self.enclosing.container);
        context.branches = self.state.branches.list();
        context.git_settings = Arc::clone(&self.git_settings);
        provenance.piped_from = self.streams.piped_from.clone();
        provenance.input.clone_from(&self.streams.input);
        provenance.via.clone_from(&self.enclosing.via);
        provenance.script_wrappers = self.enclosing.script_wrappers;
        provenance.is_assumed = self.enclosing.assumed_words > 0;
        wrappers.clone_from(&self.enclosing.wrappers);
    }

    /// Finds the files that the command reads and writes, and its output.
    fn note_files(&mut self, command: &mut SimpleCommand) -> bool {
        self.attach_file_contents(command);
        let printed = output(command, self.streams.input.as_deref()).filter(|text| text.len() <= MAX_OUTPUT);
        command.provenance.patches = self.files.patches(command);
        if !self.spend(command.provenance.patches.iter().map(|text| text.len()).sum()) {
            return false;
        }
        if !command.provenance.is_assumed {
            self.files.note_writes(command, printed.as_deref());
            self.note_unpacked(command);
        }
        self.streams.output_placeholder = self.output_placeholder(command);
        let is_redirected = |redirect: &Redirect| redirect.redirects_stdout() || redirect.discards_stdout();
        // An assignment without a command prints nothing.
        let is_silent = command.words().is_empty() || command.redirects().iter().any(is_redirected);
        self.streams.output = match printed.filter(|_| !is_silent) {
            Some(text) => PossibleOutput::text(text),
            None if is_silent => PossibleOutput::empty(),
            None => self.likely_output(command).map_or_else(PossibleOutput::default, PossibleOutput::likely),
        };
        true
    }

    /// Finds the contents of the script that the command runs.
    fn note_script(&mut self, command: &mut SimpleCommand) -> bool {
        self.note_script_contents(command);
        let is_code = command.program().is_some_and(is_readable);
        let code = command.script_text().filter(|_| is_code);
        if !self.spend(budget::CODE * code.map_or(0, str::len)) {
            return false;
        }
        self.files.note_script(command);
        true
    }

    /// Adds gaps for anything that is unknown about the command, or that bash may read differently than Linchpin.
    fn note_gaps(&mut self, command: &mut SimpleCommand) {
        if let Some(doubt) = doubtful_command::doubtful_construct(command) {
            self.add_gap(Gap::Doubtful(doubt));
        }
        if command.words().first().is_some_and(Word::is_command_substitution) {
            self.note_sources(command, false);
        }
        // Database clients accept shell commands among the queries on stdin.
        if command.program().is_some_and(database_client::is_client)
            && !command.redirects().iter().any(Redirect::replaces_stdin)
        {
            self.note_sources(command, true);
        }
        if let Some(text) = command.text_if_unknown() {
            self.add_gap(Gap::Unknown(text));
        }
    }

    /// Applies the changes that the command makes to the state of the shell and to git's settings.
    fn apply_to_shell(&mut self, command: &mut SimpleCommand) {
        self.note_git_environment(command);
        self.change_state(|state| state.apply_command(command));
        self.note_git_setting(command);
    }

    /// Simulates the commands that the command delegates to. Also finds the paths that the command reads and prints.
    fn run_delegated_commands(&mut self, mut command: SimpleCommand) {
        let mut piped_paths = std::mem::take(&mut self.streams.input_paths);
        if command.piped_from().is_empty() {
            piped_paths.clear();
        }
        if !self.spend(budget::WORD * piped_paths.len()) {
            return;
        }
        if file_lists::reads_file_names(&command) {
            command.provenance.piped_names.clone_from(&piped_paths);
        }
        self.streams.printed_paths = listed_paths::printed_paths(&command, &piped_paths);
        self.read_paths(&command, &piped_paths);
        match delegation(&command, self.streams.input.as_deref(), &piped_paths) {
            None if command.program().is_none() && !command.words().is_empty() => {
                self.script.commands.push(command.clone());
                self.walk_assumed_commands(&command, &piped_paths);
            }
            None => self.script.commands.push(command),
            Some(delegation) if traps::runs_at_exit(&command) => {
                self.script.commands.push(command);
                self.set_traps(delegation.commands);
            }
            Some(delegation) => self.delegate(delegation, command),
        }
    }

    /// Returns the output that a command probably has. The probable output is used if the certain output is not known.
    fn likely_output(&self, command: &SimpleCommand) -> Option<String> {
        let of_code = || git_format::likely_output(command).or_else(|| printed_by_code(command));
        listed_paths::likely_output(command).or_else(|| if self.streams.output_readers > 0 { of_code() } else { None })
    }

    /// The cost of a command: its words, its stdin and its environment.
    fn cost_of(&self, command: &SimpleCommand) -> usize {
        let cost_of_word = |word: &Word| budget::WORD + word.raw.len().max(word.value.as_ref().map_or(0, String::len));
        let words: usize = command.words().iter().map(cost_of_word).sum();
        let assignments: usize =
            command.assignments().iter().map(|set| set.name.len() + cost_of_word(&set.value)).sum();
        let redirects: usize = command.redirects().iter().map(|redirect| cost_of_word(&redirect.target)).sum();
        let via: usize = self.enclosing.via.iter().map(String::len).sum();
        let input = self.streams.input.as_ref().map_or(0, |input| input.len());
        words + assignments + redirects + via + input + command.exported().len()
    }

    /// Applies `exec {fd}>file`: the shell opens a file descriptor, and sets the variable `fd` to the descriptor's
    /// number.
    fn open_descriptor(&mut self, command: &mut SimpleCommand) {
        if let [exec, variable] = command.words()
            && exec.value.as_deref() == Some("exec")
            && let Some(name) =
                doubtful_command::descriptor_variable(variable).filter(|_| !command.redirects().is_empty())
        {
            self.state.assign(name, Some(Value::unknown_number()));
            command.invocation.words.pop();
        }
    }

    /// Sets the variables that a command reads paths into. In `find … | while read name`, the variable is one of the
    /// found paths. In `mapfile names < <(find …)`, the array contains all found paths.
    fn read_paths(&mut self, command: &SimpleCommand, piped: &[Word]) {
        let redirected = command.redirects().iter().map(Redirect::paths).find(|paths| !paths.is_empty());
        let piped_paths =
            redirected.or(Some(piped).filter(|piped| !piped.is_empty())).unwrap_or(&self.streams.compound_input_paths);
        let Some(name) = command.words().last().and_then(|word| word.value.as_deref()) else { return };
        if !matches!(command.program(), Some("read" | "mapfile" | "readarray"))
            || !self.effort.budget.spend(piped_paths.len())
        {
            return;
        }
        let paths: Option<Vec<Value>> = piped_paths.iter().map(Value::of).collect();
        match (command.program(), paths.unwrap_or_default().as_slice()) {
            (Some("read"), [path]) => {
                self.state.assign(name, Some(Value::any_match_of(path.clone())));
            }
            (Some("read"), paths) => {
                let any = listed_paths::any_of(paths.iter().map(|path| &*path.text));
                let any = any.map(|any| Value::any_match_of(Value::literal(any)));
                if any.is_some() {
                    self.state.assign(name, any);
                }
                let each: Vec<Value> = paths.iter().cloned().map(Value::any_match_of).collect();
                self.state.variables.add_possible_values(name, &each);
            }
            (Some("mapfile" | "readarray"), paths) if !paths.is_empty() => {
                self.state.assign_array(name, Array::List(paths.to_vec()));
            }
            _ => {}
        }
    }

    /// Returns a placeholder for the command's output. The placeholder may depend on the command's input.
    fn output_placeholder(&mut self, command: &SimpleCommand) -> Option<String> {
        let input = self.streams.output_placeholder.take().filter(|_| !command.piped_from().is_empty());
        let source = command.piped_from().last().and_then(|index| self.script.commands.get(index));
        output_placeholder::output_placeholder(command).or_else(|| placeholder_of_number(command, source, input))
    }
}
