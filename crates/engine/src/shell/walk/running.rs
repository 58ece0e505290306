//! A command, met: what becomes of the shell by it, which function it calls, and which commands it runs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::super::budget;
use super::super::command::{Assignment, Folders, Redirect, RedirectKind, SimpleCommand, Word};
use super::super::container::Container;
use super::super::fetched::fetches;
use super::super::given::given;
use super::super::meaning::{meaning, passed_on};
use super::super::output::{MAX_OUTPUT, output};
use super::super::printed::Printed;
use super::super::setup::is_setup;
use super::super::state::{Array, Defined, Function, Positional, Value};
use super::super::through::{
    Reads, Runs, Through, given_script, is_fetched, runs_what_it_reads, script_file, script_files, through,
};
use super::super::written::Written;
use super::super::{Gap, copied, doubtful, ex, git_format, git_settings, listing, naming, own_file, parallel, query};
use super::{MAX_COMMANDS, Walker, traps};
use crate::one_liner::{self, Language};
use crate::programs::{Argument, Flag, Role, is_known_program};

/// What a wrapper itself reads and writes, beside what it runs: `strace -o FILE`, `xargs -a FILE`.
fn own_paths(command: &SimpleCommand) -> Vec<Redirect> {
    let arguments = command.arguments.iter().flat_map(|arguments| &arguments.list);
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
    let listed = parallel::files(&command.words).filter(|_| is_parallel).cloned();
    let read = |target| Redirect { descriptor: Some(OWN_DESCRIPTOR), kind: RedirectKind::Read, target };
    arguments.filter_map(redirect).chain(listed.map(read)).collect()
}

/// The one file that `cat` prints, and nothing else.
fn only_file(command: &SimpleCommand) -> Option<&str> {
    // On another machine, it is another file.
    let prints_one = command.program() == Some("cat") && !command.is_remote;
    let arguments = command.arguments.as_ref().filter(|_| prints_one)?;
    let [file] = arguments.list.as_slice() else { return None };
    let is_input = command.words.get(file.word).is_some_and(Word::is_input);
    command
        .meaning_from(file.word, file.from)
        .filter(|_| !is_input && !command.redirects.iter().any(Redirect::is_input))
}

/// Whether what it runs is the output of commands and nothing else: `eval "$(a)"`, but not `eval "x; $(a)"`.
fn runs_one_output(command: &SimpleCommand) -> bool {
    let mut unknown = command.words.iter().filter(|word| word.value.is_none());
    let is_all = |word: &Word| word.is_process() || word.is_substitution();
    let is_joined = command.program() == Some("eval") && command.words.len() > 2;
    unknown.next().is_none_or(is_all) && unknown.next().is_none() && !is_joined
}

/// Whether what was found was put into a text that it runs.
fn runs_pattern(command: &SimpleCommand) -> bool {
    let arguments = command.arguments.iter().flat_map(|arguments| &arguments.list);
    let mut texts = arguments.filter(|argument| argument.role == Role::Shell);
    texts.any(|text| command.words.get(text.word).is_some_and(|word| word.glob))
}

fn unquote_patterns(command: &mut SimpleCommand) {
    let targets = command.redirects.iter_mut().map(|redirect| &mut redirect.target);
    for word in command.words.iter_mut().skip(1).chain(targets) {
        word.glob |= word.meaning().is_some_and(|text| text.contains(['*', '?', '[']));
    }
}

/// What it takes to read a program text in another language, and to follow what is copied where.
fn cost_of_deeds(command: &SimpleCommand) -> usize {
    let (Some(program), Some(arguments)) = (command.program(), &command.arguments) else { return 0 };
    if Language::of(program).is_some() {
        let codes = arguments.list.iter().filter(|argument| argument.role == Role::Code);
        let codes = codes.filter_map(|code| command.meaning_from(code.word, code.from));
        return budget::CODE * codes.chain(command.given_text()).map(str::len).sum::<usize>();
    }
    copied::cost(command, program, arguments)
}

/// What a program text in another language may print.
fn printed_by_code(command: &SimpleCommand) -> Option<String> {
    let (program, arguments) = command.program().zip(command.arguments.as_ref())?;
    Language::of(program)?;
    let code = arguments.list.iter().find(|argument| argument.role == Role::Code)?;
    let prints = one_liner::read(program, command.meaning_from(code.word, code.from)?, &given(command))?.prints;
    Some(prints.join("\n")).filter(|text| !text.is_empty())
}

/// Folders of a `PATH` that are looked into.
const MAX_FOLDERS: usize = 16;

/// None that a command reads from or prints to.
const OWN_DESCRIPTOR: i32 = 9;

/// Rounds of a function that calls itself. Behind them nothing is known any more.
const MAX_ROUNDS: usize = 3;

impl Walker<'_> {
    /// Every command that the shell itself starts passes here: its functions and aliases go before programs. Only where
    /// it is certain that one does, the program of that name is not meant.
    pub(super) fn emit(&mut self, command: SimpleCommand) {
        let function = self.called(&command);
        let alias = if function.is_none() { self.by_alias(&command) } else { None };
        let Some(name) = command.words.first().and_then(|word| word.value.clone()) else { return self.run(command) };
        let is_certain = match (function, alias) {
            (None, None) => return self.run(command),
            _ if !self.has_room() => return,
            (Some(defined), _) => {
                self.call(&name, &defined.function, command.clone());
                defined.is_certain
            }
            (None, Some(runs)) => {
                let through =
                    Through { name: name.clone(), is_transparent: true, runs: vec![runs], ..Through::default() };
                self.see_through(through, command.clone());
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
        self.commands += 1;
        if self.commands > MAX_COMMANDS {
            self.gap(Gap::TooManyCommands);
            self.budget.spend_all();
        }
        self.commands <= MAX_COMMANDS
    }

    /// Every command passes here. Those that it runs come in its place, or behind it.
    fn run(&mut self, mut command: SimpleCommand) {
        if !self.has_room() {
            return;
        }
        command.exported = self.state.exported();
        command.removed = self.state.removed.clone();
        if !self.spend(self.cost_of(&command)) {
            return;
        }
        self.open_descriptor(&mut command);
        if let Some(program) = command.words.first_mut().filter(|word| word.value.is_none() && !word.glob) {
            // `$(which x)`: wherever it is found, it is that program.
            program.value = program.means.clone().filter(|path| path.starts_with("/usr/"));
        }
        if let Some(program) = command.words.first_mut() {
            // Behind a wrapper as well. A name without a folder is looked for elsewhere.
            let path = program.value.as_deref().filter(|name| name.contains('/'));
            let real = path.and_then(|name| self.state.real_name(name));
            program.value = real.map(Into::into).or_else(|| program.value.take());
        }
        command.folders = self.state.folders.clone();
        // One of those that the script has written, or who knows which.
        let is_pattern = command.words.first().is_some_and(|word| word.glob);
        let named = || command.words.first().and_then(Word::meaning).and_then(|path| self.files.get(&command, path));
        if !is_pattern || named().is_none() {
            doubtful::forget_pattern(&mut command);
        }
        if self.holds_patterns {
            unquote_patterns(&mut command);
        }
        command.scope = self.scope;
        command.piped_from = self.piped_from.clone();
        command.via.clone_from(&self.around.via);
        command.wrappers.clone_from(&self.around.wrappers);
        command.is_remote = self.around.is_remote;
        command.container.clone_from(&self.around.container);
        command.input.clone_from(&self.input);
        command.branches = self.state.branches.list();
        command.git_settings = Arc::clone(&self.git_settings);
        command.read_arguments();
        if !self.spend(cost_of_deeds(&command)) {
            return;
        }
        command.is_session = command.waits_for_input() && !self.around.is_beginning && !self.around.has_input
            || ex::opens_shell(&command);
        self.give_texts(&mut command);
        let printed = output(&command, self.input.as_deref());
        let printed = printed.filter(|text| text.len() <= MAX_OUTPUT);
        command.patches = self.files.patches(&command);
        if !self.spend(command.patches.iter().map(|text| text.len()).sum()) {
            return;
        }
        self.files.note(&command, printed.as_deref());
        self.note_unpacked(&command);
        self.meaning = self.meaning_of(&command);
        let is_taken = |redirect: &Redirect| redirect.takes_output() || redirect.drops_output();
        // To set variables prints nothing.
        let is_silent = command.words.is_empty() || command.redirects.iter().any(is_taken);
        self.output = match printed.filter(|_| !is_silent) {
            Some(text) => Printed::text(text),
            None if is_silent => Printed::nothing(),
            None => self.maybe_printed(&command).map_or_else(Printed::default, Printed::maybe),
        };
        self.note_scripts(&mut command);
        let is_code = command.program().is_some_and(|program| Language::of(program).is_some());
        let code = command.script_text().filter(|_| is_code);
        if !self.spend(budget::CODE * code.map_or(0, str::len)) {
            return;
        }
        self.files.note_script(&command);
        if let Some(doubt) = doubtful::in_command(&command) {
            self.gap(Gap::Doubtful(doubt));
        }
        if command.words.first().is_some_and(Word::is_substitution) {
            self.note_sources(&mut command, false);
        }
        // Among queries, they take commands that run others.
        if command.program().is_some_and(query::is_client) && !command.redirects.iter().any(Redirect::is_input) {
            self.note_sources(&mut command, true);
        }
        if let Some(text) = command.is_anything() {
            self.gap(Gap::Unknown(text));
        }
        self.note_git_environment(&mut command);
        self.change_state(|state| state.run(&command));
        self.note_git_setting(&command);
        let mut found = std::mem::take(&mut self.found);
        if command.piped_from.is_empty() {
            found.clear();
        }
        if !self.spend(budget::WORD * found.len()) {
            return;
        }
        if naming::takes_names(&command) {
            command.told.clone_from(&found);
        }
        self.found = listing::printed(&command, &found);
        self.read_paths(&command, &found);
        match through(&command, self.input.as_deref(), &found) {
            None => self.script.commands.push(command),
            Some(through) if traps::is_for_the_end(&command) => {
                self.script.commands.push(command);
                self.set_traps(through.runs);
            }
            Some(through) => self.see_through(through, command),
        }
    }

    /// What a command may print, if nobody knows better.
    fn maybe_printed(&self, command: &SimpleCommand) -> Option<String> {
        let of_code = || git_format::maybe(command).or_else(|| printed_by_code(command));
        listing::maybe(command).or_else(|| if self.listeners > 0 { of_code() } else { None })
    }

    /// What is in the files that it runs, as far as those were written in the session.
    fn note_scripts(&self, command: &mut SimpleCommand) {
        let named = script_files(command);
        let script = named.iter().find_map(|path| self.files.get(command, path));
        let script = script.or_else(|| named.iter().find_map(|path| self.files.unpacked(command, path)));
        command.script = script.or_else(|| given_script(command)).or_else(|| self.piped_file(command));
        command.own_texts = own_file::texts(command, &self.files);
        command.own_texts.extend(self.on_path(command).map(|path| Some(format!("'{path}'"))));
    }

    fn note_git_environment(&mut self, command: &mut SimpleCommand) {
        if command.program() == Some("git") {
            match git_settings::by_environment(command, &self.files) {
                Some(settings) => command.git_environment = settings,
                None => self.gap(Gap::Unknown("git".to_owned())),
            }
        }
    }

    /// What it takes to look at a command: at all that is written in it, that it is given, and that it gets to see.
    fn cost_of(&self, command: &SimpleCommand) -> usize {
        let of = |word: &Word| budget::WORD + word.raw.len().max(word.value.as_ref().map_or(0, String::len));
        let words: usize = command.words.iter().map(of).sum();
        let assignments: usize = command.assignments.iter().map(|set| set.name.len() + of(&set.value)).sum();
        let redirects: usize = command.redirects.iter().map(|redirect| of(&redirect.target)).sum();
        let via: usize = self.around.via.iter().map(String::len).sum();
        let input = self.input.as_ref().map_or(0, |input| input.len());
        words + assignments + redirects + via + input + command.exported.len()
    }

    /// `exec {fd}>file`: the shell opens it, and the variable is its number.
    fn open_descriptor(&mut self, command: &mut SimpleCommand) {
        if let [exec, variable] = command.words.as_slice()
            && exec.value.as_deref() == Some("exec")
            && let Some(name) = doubtful::descriptor_variable(variable).filter(|_| !command.redirects.is_empty())
        {
            self.state.assign(name, Some(Value::some_number()));
            command.words.pop();
        }
    }

    /// The commands whose output becomes what a command runs: those in its words, and those that it reads from.
    fn sources_of(&self, command: &SimpleCommand, reads_input: bool) -> Vec<usize> {
        let mut places: Vec<usize> = command.substituted.clone().collect();
        let mut is_known = vec![false; self.script.commands.len()];
        let mut next = places.len();
        places.extend(command.piped_from.clone().filter(|_| reads_input || self.fills_words));
        for place in &places {
            if let Some(is_known) = is_known.get_mut(*place) {
                *is_known = true;
            }
        }
        // What the first of them read comes through the others.
        while let Some(source) = places.get(next).and_then(|place| self.script.commands.get(*place)) {
            for place in source.piped_from.clone() {
                if let Some(is_known @ false) = is_known.get_mut(place) {
                    *is_known = true;
                    places.push(place);
                }
            }
            next += 1;
        }
        places
    }

    /// What comes out of an archive that was just fetched is nothing that anybody has seen.
    fn note_unpacked(&mut self, command: &SimpleCommand) {
        let Some(arguments) = &command.arguments else { return };
        let unpacks = match command.program() {
            Some("tar" | "bsdtar" | "gtar") => arguments.has_flag(&["-x", "--extract", "--get"]),
            Some("unzip") => !arguments.has_flag(&["-l", "-t", "-Z", "-v", "-p", "-c"]),
            _ => false,
        };
        if !unpacks {
            return;
        }
        let archives = arguments.list.iter().filter(|argument| argument.role == Role::Read);
        let archives = archives.filter_map(|argument| command.meaning_from(argument.word, argument.from));
        let is_unseen = |path: &str| self.files.of_script(command, path) == Some(Written::Unknown);
        let sources = self.sources_of(command, true);
        let sources = sources.iter().filter_map(|place| self.script.commands.get(*place)?.program());
        let is_fetched = archives.into_iter().any(is_unseen) || sources.into_iter().any(fetches);
        let folders =
            arguments.flags.iter().filter(|flag| flag.is("-C") || flag.is("-d")).filter_map(|flag| flag.value);
        let folder =
            folders.filter_map(|value| command.meaning_from(value.word, value.from)).next_back().unwrap_or(".");
        if is_fetched {
            self.files.note_unpacked(command, folder);
        }
    }

    /// A program that the script wrote, in a folder which it looks in first: `PATH=bin:$PATH x`.
    fn on_path(&self, command: &SimpleCommand) -> Option<String> {
        let name = command.words.first()?.value.as_deref().filter(|name| !name.contains('/'))?;
        // A form of git that is a program of its own.
        let form = command.arguments.as_ref().and_then(|arguments| arguments.subcommands.first());
        let form = form.filter(|_| name == "git").map(|form| format!("git-{form}"));
        let name = form.as_deref().unwrap_or(name);
        let set = command.assignments.iter().rfind(|set| set.name == "PATH").map(|set| &set.value);
        let set = set.map(|value| value.value.as_deref().unwrap_or(&value.shown).to_owned());
        let folders = set.or_else(|| self.state.path.clone())?;
        let folders = folders.replace("${PWD}", ".").replace("$PWD", ".").replace("$(pwd)", ".");
        let folders = folders.split(':').filter(|folder| !folder.is_empty() && !folder.contains('$'));
        let mut paths = folders.take(MAX_FOLDERS).map(|folder| format!("{folder}/{name}"));
        paths.find(|path| !path.contains('\'') && self.files.of_script(command, path).is_some())
    }

    /// To run what `cat FILE` prints is to run the file.
    fn prints_what_people_wrote(&self, command: &SimpleCommand) -> bool {
        only_file(command).is_some_and(|file| self.files.get(command, file).is_none())
    }

    /// What is in the file of `cat FILE | bash`. One that people wrote is theirs, and nothing to judge.
    fn piped_file(&self, command: &SimpleCommand) -> Option<Written> {
        let [source] = self.script.commands.get(command.piped_from.clone())? else { return None };
        let path = only_file(source).filter(|_| runs_what_it_reads(command))?;
        Some(self.files.get(source, path).unwrap_or(Written::Text(Arc::default())))
    }

    /// `find … | while read name`: the name is one of what was found. `mapfile names < <(find …)`: they are all of it.
    fn read_paths(&mut self, command: &SimpleCommand, piped: &[Word]) {
        let redirected = command.redirects.iter().map(Redirect::paths).find(|paths| !paths.is_empty());
        let found = redirected.or(Some(piped).filter(|piped| !piped.is_empty())).unwrap_or(&self.fed_paths);
        let Some(name) = command.words.last().and_then(|word| word.value.as_deref()) else { return };
        if !matches!(command.program(), Some("read" | "mapfile" | "readarray")) || !self.budget.spend(found.len()) {
            return;
        }
        let paths: Option<Vec<Value>> = found.iter().map(Value::of).collect();
        match (command.program(), paths.unwrap_or_default().as_slice()) {
            (Some("read"), [path]) => {
                self.state.assign(name, Some(Value::one_of(path.clone())));
            }
            (Some("read"), paths) => {
                let any = listing::any_of(paths.iter().map(|path| &*path.text));
                let any = any.map(|any| Value::one_of(Value::plain(any)));
                if any.is_some() {
                    self.state.assign(name, any);
                }
                let each: Vec<Value> = paths.iter().cloned().map(Value::one_of).collect();
                self.state.may_be(name, &each);
            }
            (Some("mapfile" | "readarray"), paths) if !paths.is_empty() => {
                self.state.assign_array(name, Array::List(paths.to_vec()));
            }
            _ => {}
        }
    }

    /// `git config alias.x …` counts for what follows, and so does `git remote add --mirror …`.
    fn note_git_setting(&mut self, command: &SimpleCommand) {
        let arguments = command.arguments.as_ref().filter(|_| command.program() == Some("git"));
        let Some(arguments) = arguments else { return };
        let form = arguments.subcommands.first().map(String::as_str);
        let operands = arguments.operands.iter().filter_map(|place| command.text_from(*place, 0));
        let operands: Vec<&str> = operands.filter(|operand| *operand != "set").collect();
        match (form, operands.as_slice()) {
            (Some("config"), [value]) => {
                let flag = arguments.flags.iter().find(|flag| flag.name == "--add").and_then(|flag| flag.value);
                let name = flag.and_then(|name| command.text_from(name.word, name.from));
                if let Some(name) = name {
                    self.add_git_setting((name.to_ascii_lowercase(), (*value).to_owned()));
                }
            }
            (Some("config"), [name, value]) => {
                self.add_git_setting((name.to_ascii_lowercase(), (*value).to_owned()));
            }
            (Some("remote"), ["add", name, ..]) => {
                let mirror = arguments.flags.iter().find(|flag| flag.name == "--mirror");
                let kind = |flag: &Flag| flag.value.and_then(|value| command.text_from(value.word, value.from));
                let setting = |flag| {
                    (format!("remote.{name}.mirror").to_ascii_lowercase(), kind(flag).unwrap_or("true").to_owned())
                };
                if let Some(setting) = mirror.map(setting) {
                    self.add_git_setting(setting);
                }
            }
            _ => {}
        }
    }

    fn add_git_setting(&mut self, setting: (String, String)) {
        self.git_settings = self.git_settings.iter().cloned().chain([Arc::new(setting)]).collect();
    }

    /// What it prints, in kind, of itself or of what it reads.
    fn meaning_of(&mut self, command: &SimpleCommand) -> Option<String> {
        let read = self.meaning.take().filter(|_| !command.piped_from.is_empty());
        let source = command.piped_from.clone().last().and_then(|place| self.script.commands.get(place));
        meaning(command).or_else(|| passed_on(command, source, read))
    }

    /// What stands behind an alias of the shell. One that names itself is not followed twice.
    fn by_alias(&self, command: &SimpleCommand) -> Option<Runs> {
        let name = command.words.first()?.value.as_deref()?;
        let alias = self.state.aliases.get(name).map(|text| &**text).or_else(|| self.state.real_name(name));
        let text = alias.filter(|_| !self.around.via.iter().any(|via| via == name))?;
        let (text, arguments) = (Some(format!("{text} \"$@\"")), command.words.get(1..)?.to_vec());
        Some(Runs::Text { text, in_own_shell: true, is_beginning: false, name: None, arguments })
    }

    /// The function that a command calls.
    fn called(&self, command: &SimpleCommand) -> Option<Defined> {
        self.state.function(command.words.first()?.value.as_deref()?)
    }

    fn call(&mut self, name: &str, function: &Function, command: SimpleCommand) {
        self.uncalled.remove(name);
        let rounds = self.around.via.iter().filter(|via| *via == name).count();
        let arguments: Positional = command.words.iter().skip(1).map(Value::of).collect();
        let has_same = self.state.is_given(&arguments);
        // A round with nothing known, or with nothing but the same arguments, was walked: this one does no other things.
        let is_walked = rounds > MAX_ROUNDS + 1 || rounds > MAX_ROUNDS && has_same;
        let before = self.script.commands.len();
        if is_walked {
            self.output = Printed::default();
        } else {
            let around = self.state.enter_function(arguments.clone());
            if rounds >= MAX_ROUNDS {
                self.state.forget_by_functions();
            }
            if rounds == MAX_ROUNDS && has_same {
                self.state.give(arguments);
            }
            self.around.via.push(name.to_owned());
            let input = self.input.clone();
            if let Some(fed) = self.fed_by(&command.redirects) {
                self.input = fed.text;
            }
            self.until_return(|walker| walker.function_body(function));
            self.input = input;
            self.around.via.pop();
            self.state.leave_function(around);
        }
        // It does nothing but call itself, as in `:(){ :|:& };:`.
        let mut ran = self.script.commands.iter().skip(before);
        if rounds == 0 && ran.all(|ran| ran.program() == Some(name)) && function.body.0.to_string().contains(name) {
            self.gap(Gap::TooDeep);
        }
        if !command.redirects.is_empty() || !command.assignments.is_empty() {
            self.run(SimpleCommand { words: Vec::new(), ..command });
            self.output = Printed::default();
        }
    }

    fn function_body(&mut self, function: &Function) {
        let around = std::mem::replace(&mut self.hidden, Rc::clone(&function.hidden));
        let input = self.input.clone();
        if let Some(fed) = self.redirects_of_compound(function.body.1.as_ref()) {
            self.input = fed.text;
        }
        self.deeper(|walker| walker.compound(&function.body.0));
        self.input = input;
        self.hidden = around;
    }

    /// Functions that are only defined may be called by what is not seen here.
    pub(super) fn uncalled_functions(&mut self) {
        while let Some((name, function)) = self.uncalled.pop_first().filter(|_| self.goes_on()) {
            self.state.forget();
            self.state.is_over = false;
            self.around.via.push(name);
            self.function_body(&function);
            self.around.via.pop();
        }
    }

    /// Notes whose output a command runs, and tells whether that is nothing to worry about.
    fn note_sources(&self, command: &mut SimpleCommand, reads_input: bool) -> bool {
        // What comes out of a `<(…)` is no pipe's.
        let reads_pipe = reads_input && !command.words.iter().any(Word::is_process);
        let sources = self.sources_of(command, reads_pipe);
        let sources = || sources.iter().filter_map(|place| self.script.commands.get(*place));
        let programs: BTreeSet<&str> = sources().filter_map(SimpleCommand::program).collect();
        command.runs_output_of = programs.into_iter().map(str::to_owned).collect();
        // What fetches it is the program itself: `deno run https://…`.
        if script_file(command).is_some_and(|script| is_fetched(&script)) {
            command.runs_output_of.push("fetch".to_owned());
        }
        let is_harmless = |source: &SimpleCommand| is_setup(source) || self.prints_what_people_wrote(source);
        runs_one_output(command) && sources().next().is_some() && sources().all(is_harmless)
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
            self.state.folders = folder.value.map_or_else(Folders::unknown, |folder| self.state.folders.then(&folder));
        }
        if let Some(container) = container {
            self.state.folders = container.folders();
        }
    }

    fn see_through(&mut self, through: Through, command: SimpleCommand) {
        let Through { name, mut is_transparent, is_remote, container, reads, folder, removes, runs } = through;
        let mut command = command;
        let mut sets_up = false;
        let reads_input = reads == Reads::Commands;
        let own_paths = own_paths(&command);
        let holds_patterns = runs_pattern(&command);
        let script = command.script.as_ref().and_then(|_| script_file(&command)).map(Cow::into_owned);
        let fed = command.redirects.iter().rev().find(|redirect| redirect.is_input());
        let fed = fed.map(|redirect| redirect.text().map(str::to_owned));
        let substituted = command.substituted.clone();
        let set = command.assignments.clone();
        if runs.iter().any(|runs| matches!(runs, Runs::Text { text: None, .. })) {
            // What it runs cannot be shown in its place.
            is_transparent = false;
            sets_up = self.note_sources(&mut command, reads_input);
        }
        let removed = self.state.remove_variables(&removes);
        let folders = self.state.folders.clone();
        let has_folder = folder.is_some() || container.is_some();
        self.enter_folder(folder, container.as_ref());
        let around = self.around.clone();
        let (mut redirects, mut assignments) = (Vec::new(), Vec::new());
        if is_transparent {
            self.around.wrappers.push(Arc::new(command.own_words()));
            (redirects, assignments) = (command.redirects, command.assignments);
            redirects.extend(own_paths);
        } else {
            self.script.commands.push(command);
        }
        if is_remote {
            self.around.go_elsewhere(container);
        }
        self.around.via.push(name.clone());
        self.around.has_input |= fed.is_some();
        let held_patterns = self.holds_patterns;
        self.holds_patterns |= holds_patterns;
        let filled_words = self.fills_words;
        let runs_words = runs.iter().all(|runs| matches!(runs, Runs::Command { .. }));
        self.fills_words = reads == Reads::Words || filled_words && runs_words;
        // All that it runs gets to see what is set for it, unless that is elsewhere.
        let given = match (is_transparent, is_remote) {
            (true, _) => assignments.clone(),
            (false, true) => Vec::new(),
            (false, false) => set,
        };
        // What a shell reads its commands from is not there for them.
        let input = self.input.clone();
        let piped_from = self.piped_from.clone();
        if reads_input || fed.is_some() {
            // `ssh host bash <<E`: what it is given goes on to what it runs.
            (self.input, self.piped_from) = (fed.flatten().filter(|_| !reads_input).map(Arc::from), 0..0);
        }
        let mut printed = Printed::nothing();
        for runs in runs {
            self.output = Printed::default();
            self.deeper(|walker| match runs {
                Runs::Command { words, assignments: more } => {
                    assignments.extend(given.iter().filter(|_| !is_transparent).cloned().chain(more));
                    let (assignments, redirects) = (std::mem::take(&mut assignments), std::mem::take(&mut redirects));
                    let substituted = substituted.clone();
                    walker.run(SimpleCommand {
                        words,
                        assignments,
                        redirects,
                        substituted,
                        ..SimpleCommand::default()
                    });
                }
                Runs::Text { text: None, in_own_shell, .. } => {
                    if !sets_up {
                        walker.gap(Gap::Unknown(name.clone()));
                    }
                    match (in_own_shell, sets_up) {
                        (true, _) => {}
                        // It goes nowhere else.
                        (false, true) => walker.state.forget_settings(),
                        (false, false) => walker.state.forget(),
                    }
                }
                Runs::Text { text: Some(text), .. } if walker.running.contains(&text) => {}
                Runs::Text { text: Some(text), in_own_shell: true, arguments, is_beginning, name } => {
                    walker.around.is_beginning = is_beginning;
                    let arguments = arguments.iter().map(Value::of).collect();
                    let own = (name.as_ref().and_then(Value::of), arguments);
                    walker.in_own_shell(&text, &given, script.as_deref(), own);
                }
                Runs::Text { text: Some(text), in_own_shell: false, .. } => walker.in_same_shell(&name, &text, &given),
            });
            printed.then(&std::mem::take(&mut self.output));
        }
        (self.around, self.piped_from) = (around, piped_from);
        (self.holds_patterns, self.fills_words) = (held_patterns, filled_words);
        self.input = input;
        if has_folder {
            self.state.folders = folders;
        }
        self.state.removed = removed.unwrap_or_else(|| self.state.removed.clone());
        self.output = printed;
        if !is_transparent {
            self.output.doubt();
        }
        if !redirects.is_empty() || !assignments.is_empty() {
            self.run(SimpleCommand { assignments, redirects, ..SimpleCommand::default() });
            self.output = Printed::default();
        }
    }
}
