//! A command that runs: step by step, what is known of it, of what it prints, and of the shell behind it.

use std::sync::Arc;

use super::{Walker, traps};
use crate::interpret::delegation::{Delegation, delegation};
use crate::interpret::doubtful_command;
use crate::interpret::printed::Printed;
use crate::interpret::state::{Array, Value};
use crate::limits::{Gap, MAX_COMMANDS, budget};
use crate::model::{Redirect, SimpleCommand, Word};
use crate::programs::{Role, is_known_program};
use crate::special_programs::known_output::{MAX_OUTPUT, output};
use crate::special_programs::language::is_readable;
use crate::special_programs::one_liner::{self, given};
use crate::special_programs::output_kind::{meaning, passed_on};
use crate::special_programs::{copied, ex, git_format, listed_paths, named_files, query};

fn unquote_patterns(command: &mut SimpleCommand) {
    let targets = command.invocation.redirects.iter_mut().map(|redirect| &mut redirect.target);
    for word in command.invocation.words.iter_mut().skip(1).chain(targets) {
        word.glob |= word.meaning().is_some_and(|text| text.contains(['*', '?', '[']));
    }
}

/// What it takes to read a program text in another language, and to follow what is copied where.
fn cost_of_deeds(command: &SimpleCommand) -> usize {
    let (Some(program), Some(arguments)) = (command.program(), command.arguments()) else { return 0 };
    if is_readable(program) {
        let codes = arguments.list.iter().filter(|argument| argument.role == Role::Code);
        let codes = codes.filter_map(|code| command.meaning_from(code.word, code.from));
        return budget::CODE * codes.chain(command.given_text()).map(str::len).sum::<usize>();
    }
    copied::cost(command, program, arguments)
}

/// What a program text in another language may print.
fn printed_by_code(command: &SimpleCommand) -> Option<String> {
    let (program, arguments) = command.program().zip(command.arguments())?;
    let code = arguments.list.iter().find(|argument| argument.role == Role::Code)?;
    let prints = one_liner::read(program, command.meaning_from(code.word, code.from)?, &given(command))?.prints;
    Some(prints.join("\n")).filter(|text| !text.is_empty())
}

impl Walker<'_> {
    /// Every command that the shell itself starts passes here: its functions and aliases go before programs. Only where
    /// it is certain that one does, the program of that name is not meant.
    pub(super) fn emit(&mut self, command: SimpleCommand) {
        let function = self.called(&command);
        let alias = if function.is_none() { self.by_alias(&command) } else { None };
        let Some(name) = command.words().first().and_then(|word| word.value.clone()) else { return self.run(command) };
        let is_certain = match (function, alias) {
            (None, None) => return self.run(command),
            _ if !self.has_room() => return,
            (Some(defined), _) => {
                self.call(&name, &defined.function, command.clone());
                defined.is_certain
            }
            (None, Some(runs)) => {
                let delegation =
                    Delegation { name: name.clone(), is_transparent: true, runs: vec![runs], ..Delegation::default() };
                self.delegate(delegation, command.clone());
                // A shell without a person at it expands none.
                false
            }
        };
        let program = name.rsplit('/').next().unwrap_or(&name);
        if !is_certain && is_known_program(program) {
            self.run(command);
        }
    }

    /// Whether one more command may be looked at.
    fn has_room(&mut self) -> bool {
        self.effort.commands += 1;
        if self.effort.commands > MAX_COMMANDS {
            self.gap(Gap::TooManyCommands);
            self.effort.budget.spend_all();
        }
        self.effort.commands <= MAX_COMMANDS
    }

    /// Every command passes here. Those that it runs come in its place, or behind it. Each step says whether there is
    /// anything left of the budget for the next.
    pub(super) fn run(&mut self, mut command: SimpleCommand) {
        let goes_on = self.has_room()
            && self.give_environment(&mut command)
            && self.read_words(&mut command)
            && self.note_files(&mut command)
            && self.note_script(&mut command);
        if goes_on {
            self.note_doubts(&mut command);
            self.change_shell(&mut command);
            self.run_others(command);
        }
    }

    fn give_environment(&mut self, command: &mut SimpleCommand) -> bool {
        command.context.exported = self.state.variables.exported();
        command.context.removed = self.state.variables.removed.clone();
        self.spend(self.cost_of(command))
    }

    /// Finds out which program it is, where it runs, and what its words are to that program.
    fn read_words(&mut self, command: &mut SimpleCommand) -> bool {
        self.open_descriptor(command);
        self.find_program(command);
        command.context.folders = self.state.directory.folders.clone();
        // One of those that the script has written, or who knows which.
        let is_pattern = command.words().first().is_some_and(|word| word.glob);
        let named = || command.words().first().and_then(Word::meaning).and_then(|path| self.files.get(command, path));
        if !is_pattern || named().is_none() {
            doubtful_command::forget_pattern(command);
        }
        if self.around.filled.holds_patterns {
            unquote_patterns(command);
        }
        self.give_context(command);
        command.read_arguments();
        if !self.spend(cost_of_deeds(command)) {
            return false;
        }
        let is_given = self.around.is_beginning || self.around.has_input;
        command.evidence.is_session = command.waits_for_input() && !is_given || ex::opens_shell(command);
        true
    }

    /// The program that is meant by a name that stands for it.
    fn find_program(&self, command: &mut SimpleCommand) {
        let Some(program) = command.invocation.words.first_mut() else { return };
        if program.value.is_none() && !program.glob {
            // `$(which x)`: wherever it is found, it is that program.
            program.value = program.means.clone().filter(|path| path.starts_with("/usr/"));
        }
        // Behind a wrapper as well. A name without a folder is looked for elsewhere.
        let path = program.value.as_deref().filter(|name| name.contains('/'));
        let real = path.and_then(|name| self.state.commands.real_name(name));
        program.value = real.map(Into::into).or_else(|| program.value.take());
    }

    /// Where it runs, and what is around it.
    fn give_context(&self, command: &mut SimpleCommand) {
        let SimpleCommand { context, evidence, wrappers, .. } = command;
        context.scope = self.scope;
        context.is_remote = self.around.is_remote;
        context.container.clone_from(&self.around.container);
        context.branches = self.state.branches.list();
        context.git_settings = Arc::clone(&self.git_settings);
        evidence.piped_from = self.streams.piped_from.clone();
        evidence.input.clone_from(&self.streams.input);
        evidence.via.clone_from(&self.around.via);
        wrappers.clone_from(&self.around.wrappers);
    }

    /// The files that it reads and writes, and the text that it prints.
    fn note_files(&mut self, command: &mut SimpleCommand) -> bool {
        self.give_texts(command);
        let printed = output(command, self.streams.input.as_deref()).filter(|text| text.len() <= MAX_OUTPUT);
        command.evidence.patches = self.files.patches(command);
        if !self.spend(command.evidence.patches.iter().map(|text| text.len()).sum()) {
            return false;
        }
        self.files.note(command, printed.as_deref());
        self.note_unpacked(command);
        self.streams.meaning = self.meaning_of(command);
        let is_taken = |redirect: &Redirect| redirect.takes_output() || redirect.drops_output();
        // To set variables prints nothing.
        let is_silent = command.words().is_empty() || command.redirects().iter().any(is_taken);
        self.streams.output = match printed.filter(|_| !is_silent) {
            Some(text) => Printed::text(text),
            None if is_silent => Printed::nothing(),
            None => self.maybe_printed(command).map_or_else(Printed::default, Printed::maybe),
        };
        true
    }

    /// The file that it runs.
    fn note_script(&mut self, command: &mut SimpleCommand) -> bool {
        self.note_scripts(command);
        let is_code = command.program().is_some_and(is_readable);
        let code = command.script_text().filter(|_| is_code);
        if !self.spend(budget::CODE * code.map_or(0, str::len)) {
            return false;
        }
        self.files.note_script(command);
        true
    }

    /// What about it is not known, or may be read otherwise by bash.
    fn note_doubts(&mut self, command: &mut SimpleCommand) {
        if let Some(doubt) = doubtful_command::in_command(command) {
            self.gap(Gap::Doubtful(doubt));
        }
        if command.words().first().is_some_and(Word::is_substitution) {
            self.note_sources(command, false);
        }
        // Among queries, they take commands that run others.
        if command.program().is_some_and(query::is_client) && !command.redirects().iter().any(Redirect::is_input) {
            self.note_sources(command, true);
        }
        if let Some(text) = command.is_anything() {
            self.gap(Gap::Unknown(text));
        }
    }

    /// What it does to the shell that runs it, and to the settings of git.
    fn change_shell(&mut self, command: &mut SimpleCommand) {
        self.note_git_environment(command);
        self.change_state(|state| state.run(command));
        self.note_git_setting(command);
    }

    /// The commands that it runs, with the paths that it reads.
    fn run_others(&mut self, mut command: SimpleCommand) {
        let mut found = std::mem::take(&mut self.streams.found);
        if command.piped_from().is_empty() {
            found.clear();
        }
        if !self.spend(budget::WORD * found.len()) {
            return;
        }
        if named_files::takes_names(&command) {
            command.evidence.told.clone_from(&found);
        }
        self.streams.found = listed_paths::printed(&command, &found);
        self.read_paths(&command, &found);
        match delegation(&command, self.streams.input.as_deref(), &found) {
            None => self.script.commands.push(command),
            Some(delegation) if traps::is_for_the_end(&command) => {
                self.script.commands.push(command);
                self.set_traps(delegation.runs);
            }
            Some(delegation) => self.delegate(delegation, command),
        }
    }

    /// What a command may print, if nobody knows better.
    fn maybe_printed(&self, command: &SimpleCommand) -> Option<String> {
        let of_code = || git_format::maybe(command).or_else(|| printed_by_code(command));
        listed_paths::maybe(command).or_else(|| if self.streams.listeners > 0 { of_code() } else { None })
    }

    /// What it takes to look at a command: at all that is written in it, that it is given, and that it gets to see.
    fn cost_of(&self, command: &SimpleCommand) -> usize {
        let of = |word: &Word| budget::WORD + word.raw.len().max(word.value.as_ref().map_or(0, String::len));
        let words: usize = command.words().iter().map(of).sum();
        let assignments: usize = command.assignments().iter().map(|set| set.name.len() + of(&set.value)).sum();
        let redirects: usize = command.redirects().iter().map(|redirect| of(&redirect.target)).sum();
        let via: usize = self.around.via.iter().map(String::len).sum();
        let input = self.streams.input.as_ref().map_or(0, |input| input.len());
        words + assignments + redirects + via + input + command.exported().len()
    }

    /// `exec {fd}>file`: the shell opens it, and the variable is its number.
    fn open_descriptor(&mut self, command: &mut SimpleCommand) {
        if let [exec, variable] = command.words()
            && exec.value.as_deref() == Some("exec")
            && let Some(name) =
                doubtful_command::descriptor_variable(variable).filter(|_| !command.redirects().is_empty())
        {
            self.state.assign(name, Some(Value::some_number()));
            command.invocation.words.pop();
        }
    }

    /// `find … | while read name`: the name is one of what was found. `mapfile names < <(find …)`: they are all of it.
    fn read_paths(&mut self, command: &SimpleCommand, piped: &[Word]) {
        let redirected = command.redirects().iter().map(Redirect::paths).find(|paths| !paths.is_empty());
        let found = redirected.or(Some(piped).filter(|piped| !piped.is_empty())).unwrap_or(&self.streams.fed_paths);
        let Some(name) = command.words().last().and_then(|word| word.value.as_deref()) else { return };
        if !matches!(command.program(), Some("read" | "mapfile" | "readarray"))
            || !self.effort.budget.spend(found.len())
        {
            return;
        }
        let paths: Option<Vec<Value>> = found.iter().map(Value::of).collect();
        match (command.program(), paths.unwrap_or_default().as_slice()) {
            (Some("read"), [path]) => {
                self.state.assign(name, Some(Value::one_of(path.clone())));
            }
            (Some("read"), paths) => {
                let any = listed_paths::any_of(paths.iter().map(|path| &*path.text));
                let any = any.map(|any| Value::one_of(Value::plain(any)));
                if any.is_some() {
                    self.state.assign(name, any);
                }
                let each: Vec<Value> = paths.iter().cloned().map(Value::one_of).collect();
                self.state.variables.may_be(name, &each);
            }
            (Some("mapfile" | "readarray"), paths) if !paths.is_empty() => {
                self.state.assign_array(name, Array::List(paths.to_vec()));
            }
            _ => {}
        }
    }

    /// What it prints, in kind, of itself or of what it reads.
    fn meaning_of(&mut self, command: &SimpleCommand) -> Option<String> {
        let read = self.streams.meaning.take().filter(|_| !command.piped_from().is_empty());
        let source = command.piped_from().last().and_then(|place| self.script.commands.get(place));
        meaning(command).or_else(|| passed_on(command, source, read))
    }
}
