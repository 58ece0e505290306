//! A program of the table, argument by argument: which of them are commands, or texts for a shell.

use std::borrow::Cow;

use code::Language;

use super::code::{commands_in, fed, in_code};
use super::git::{by_alias, by_git, is_form};
use super::{Delegation, Reads, Runs};
use crate::model::{Assignment, Container, Input, RemovedVariables, SimpleCommand, Word, Written};
use crate::programs::{Argument, Arguments, Role, is_known_program};
use crate::special_programs::command_settings::{
    code_of_setting, command_of_properties, command_of_setting, git_alias,
};
use crate::special_programs::ex::{self, is_editor};
use crate::special_programs::interpreter::{
    interpreter_of, is_fed, is_fetched, is_interpreter, is_shell, names_its_input, required_files, runs_code,
    runs_its_input, startup_files,
};
use crate::special_programs::language::language_of;
use crate::special_programs::{container, find, git_settings, listed_paths, parallel, query, sed, xargs};

/// Of `systemd-run`: the setting that says where.
const WORKING_FOLDER: &str = "WorkingDirectory=";

pub(super) struct Wrapper<'c> {
    program: &'c str,
    command: &'c SimpleCommand,
    arguments: &'c Arguments,
    input: Input<'c>,
    delegation: Delegation,
    /// Operands that follow each other and are one text, with the place of the last.
    texts: Vec<(usize, Vec<&'c Word>)>,
    /// For the command behind them.
    assignments: Vec<Assignment>,
}

impl<'c> Wrapper<'c> {
    pub(super) fn read(
        program: &'c str,
        command: &'c SimpleCommand,
        arguments: &'c Arguments,
        input: Input<'c>,
    ) -> Delegation {
        let delegation = Delegation { name: program.to_owned(), ..Delegation::default() };
        let (texts, assignments) = (Vec::new(), Vec::new());
        let mut wrapper = Self { program, command, arguments, input, delegation, texts, assignments };
        for argument in &arguments.list {
            if let Some(word) = command.words().get(argument.word) {
                wrapper.argument(argument, word);
            }
        }
        wrapper.finish_texts();
        wrapper.delegation.removes = removed(program, command, arguments);
        if wrapper.delegation.is_remote && container::is_engine(program) {
            wrapper.enter_container();
        }
        if wrapper.delegation.is_transparent && arguments.has_flag(&["-c"]) {
            wrapper.delegation.name = format!("{program} -c");
        }
        wrapper.script_or_input();
        let before = required_files(command, arguments).into_iter();
        wrapper.delegation.runs.extend(before.map(|file| Runs::words(vec![Word::known(program), file])));
        wrapper.editor_commands();
        wrapper.debugger_commands();
        if matches!(program, "mvn" | "mvnw" | "mvnd") {
            let properties = arguments.list.iter().filter(|argument| argument.role == Role::Setting);
            let properties = properties.filter_map(|argument| command.text_from(argument.word, argument.from));
            wrapper.delegation.runs.extend(command_of_properties(properties).map(|text| Runs::text(Some(text))));
        }
        wrapper.delegation.runs.extend(installed_program(command, arguments).map(Runs::words));
        wrapper.delegation.runs.extend(module_program(command, arguments).map(Runs::words));
        wrapper.delegation.runs.extend(ruby_file_command(command, arguments).map(Runs::words));
        wrapper.query_commands();
        if is_shell(program) {
            let run = |file| Runs::words(vec![Word::known(program), file]);
            wrapper.delegation.runs.extend(startup_files(command, arguments).into_iter().map(run));
        }
        if let Some(form) = arguments.subcommands.first().filter(|_| program == "git") {
            wrapper.delegation.runs.extend(by_git(command, arguments, form));
        }
        wrapper.delegation
    }

    fn argument(&mut self, argument: &Argument, word: &'c Word) {
        let text = || word.value.as_deref().and_then(|value| value.get(argument.from..));
        match argument.role {
            Role::Assignment => self.assignments.extend(assignment(word)),
            Role::Command => self.run_command(self.behind(argument)),
            // `rails runner` takes either.
            Role::Code
                if self.program == "rails" && text().is_some_and(|text| interpreter_of(text) == Some("ruby")) =>
            {
                self.run_script(argument);
            }
            Role::Code => {
                let text = self.command.meaning_from(argument.word, argument.from);
                self.delegation.runs.extend(in_code(self.command, text));
            }
            Role::Data if sed::is_sed(self.program) => {
                self.delegation.runs.extend(text().map(sed::read).unwrap_or_default().runs.into_iter().map(Runs::text));
            }
            Role::Script if !is_interpreter(self.program) => self.run_script(argument),
            Role::Setting if is_editor(self.program) => {}
            Role::Folder => self.delegation.folder = Some(part(word, argument.from)),
            // `systemd-run -p WorkingDirectory=/x`
            Role::Setting if text().is_some_and(|text| text.starts_with(WORKING_FOLDER)) => {
                self.delegation.folder = Some(part(word, argument.from + WORKING_FOLDER.len()));
            }
            Role::Setting if self.program == "git" => {
                match git_settings::given(self.command, self.arguments, *argument) {
                    Some(setting) => self.setting(&setting),
                    // What nobody knows may be a command as well.
                    None => self.unknown_setting(text().unwrap_or_default()),
                }
            }
            Role::Setting => self.setting(text().unwrap_or_default()),
            Role::Host => self.delegation.is_remote = true,
            Role::Words if self.delegation.is_remote && container::is_engine(self.program) => {
                self.delegation.runs.push(Runs::words(self.behind(argument)));
            }
            Role::Words if self.delegation.is_remote => {
                let words = self.behind(argument);
                self.delegation.is_transparent = self.program != "kubectl";
                let runs =
                    if self.delegation.is_transparent { Runs::text(joined(words.iter())) } else { Runs::words(words) };
                self.delegation.runs.push(runs);
            }
            // What it makes of its words is told at the end.
            Role::Shell if self.is_parallel() => self.delegation.is_transparent = true,
            // What a container starts is told at the end.
            Role::Hook if container::is_engine(self.program) => {}
            Role::Shell | Role::Hook => {
                self.delegation.is_transparent |= argument.role == Role::Shell;
                self.add_text(argument, word);
            }
            _ => {}
        }
    }

    /// A file that another program runs for it, by what it is called. Some read it themselves.
    fn run_script(&mut self, argument: &Argument) {
        let reads_itself = is_editor(self.program) || sed::is_sed(self.program) || query::is_client(self.program);
        let file = self.command.meaning_from(argument.word, argument.from).filter(|_| !reads_itself);
        let in_shell = matches!(self.program, "at" | "batch").then_some("sh");
        let program = file.and_then(|file| interpreter_of(file).or(in_shell));
        if let Some((file, program)) = file.zip(program) {
            let own = self.command.words().get(argument.word + 1..).unwrap_or_default();
            let words = [Word::known(program), Word::known(file)].into_iter().chain(own.iter().cloned());
            self.delegation.runs.push(Runs::words(words.collect()));
        }
    }

    fn enter_container(&mut self) {
        self.delegation.container = Some(Container::of(self.command, self.arguments));
        if let Some(program) = container::entrypoint(self.command, self.arguments) {
            let words = match self.delegation.runs.pop() {
                Some(Runs::Command { words, .. }) => words,
                _ => Vec::new(),
            };
            self.delegation.runs.push(Runs::words(std::iter::once(program).chain(words).collect()));
        }
    }

    /// All words from an argument on.
    fn behind(&self, argument: &Argument) -> Vec<Word> {
        behind_dashes(self.program, self.command.words().get(argument.word..).unwrap_or_default())
    }

    fn is_parallel(&self) -> bool {
        matches!(self.program, "parallel" | "sem")
    }

    fn run_command(&mut self, words: Vec<Word>) {
        self.delegation.is_transparent = true;
        let values: Vec<Option<&str>> = words.iter().map(|word| word.value.as_deref()).collect();
        match (self.program, values.as_slice()) {
            ("xargs" | "gxargs", _) => {
                self.delegation.reads = Reads::Words;
                let commands = xargs::commands(words, self.arguments, self.command.words(), self.input);
                self.delegation.runs.extend(commands.into_iter().map(Runs::words));
            }
            ("sudo" | "doas" | "pwsh" | "powershell" | "yarn" | "pnpm" | "lerna" | "meta" | "repo", [Some(text)])
                if text.contains(char::is_whitespace) =>
            {
                self.delegation.runs.push(Runs::text(Some((*text).to_owned())));
            }
            ("nix", [Some(package), ..]) if is_form(self.arguments, "run") => {
                self.delegation.is_transparent = false;
                self.delegation.runs.extend(nix_command(package, &words).map(Runs::words));
            }
            ("fd" | "fdfind", _) => {
                let found = listed_paths::printed(self.command, &[]);
                self.delegation.runs.push(Runs::words(filled_with(&words, found)));
            }
            ("env", [Some("-"), ..]) => self.delegation.runs.push(in_empty_environment(&words)),
            ("pwsh" | "powershell", [Some("-")]) => {
                self.delegation.runs.extend(fed(self.command, None, self.input, Vec::new()));
                self.delegation.reads = Reads::Commands;
            }
            ("flock", [Some("-c" | "--command"), text]) => {
                self.delegation.runs.push(Runs::text(text.map(str::to_owned)));
            }
            _ => {
                let packaged = packaged_command(self.program, self.arguments, &words).map(Runs::words);
                let assignments = &mut self.assignments;
                let plain = || Runs::Command { words, assignments: std::mem::take(assignments) };
                self.delegation.runs.push(packaged.unwrap_or_else(plain));
            }
        }
    }

    fn unknown_setting(&mut self, setting: &str) {
        let name = setting.split('=').next().unwrap_or_default();
        let is_command = command_of_setting(self.program, &format!("{name}=!x")).is_some();
        self.delegation.runs.extend(is_command.then(|| Runs::text(None)));
    }

    fn setting(&mut self, setting: &str) {
        let code = code_of_setting(self.program, setting).filter(|_| is_debugger(self.program));
        self.delegation.runs.extend(code.map(|(language, code)| by_interpreter(language, code)));
        let text = command_of_setting(self.program, setting).map(Cow::into_owned);
        // Other programs put what it is about behind it.
        let runs = |text| if self.program == "socat" { Runs::text(Some(text)) } else { Runs::beginning(Some(text)) };
        self.delegation.runs.extend(text.map(runs));
        if let Some((_, alias)) = git_alias(setting).filter(|(name, _)| is_form(self.arguments, name)) {
            self.delegation.runs.extend(by_alias(self.command, self.arguments, alias));
        }
    }

    /// Operands that follow each other are one text; the values of flags are each their own.
    fn add_text(&mut self, argument: &Argument, word: &'c Word) {
        match self.texts.last_mut().filter(|(last, _)| last + 1 == argument.word && argument.from == 0) {
            Some((last, words)) => {
                *last = argument.word;
                words.push(word);
            }
            None if argument.from == 0 => self.texts.push((argument.word, vec![word])),
            None => self.delegation.runs.push(Runs::text(part(word, argument.from).value)),
        }
    }

    fn finish_texts(&mut self) {
        let texts = std::mem::take(&mut self.texts);
        if self.program == "env" && self.arguments.has_flag(&["-S", "--split-string"]) {
            return self.split_string(&texts);
        }
        let in_own_shell = !matches!(self.program, "eval" | "trap");
        let is_own = |argument: &&Argument| argument.role == Role::Words && is_shell(self.program);
        let own = self.arguments.list.iter().find(is_own).and_then(|own| self.command.words().get(own.word..));
        // The first is its name.
        let (name, own) = own.and_then(<[Word]>::split_first).unzip();
        let runs = texts.into_iter().map(|(_, words)| Runs::Text {
            text: joined(words.into_iter()),
            in_own_shell,
            // These put where they go to behind it.
            is_beginning: matches!(self.program, "rsync" | "scp" | "sftp" | "mosh"),
            name: name.cloned(),
            arguments: own.unwrap_or_default().to_vec(),
        });
        self.delegation.runs.extend(runs);
    }

    /// `env -S 'rm -rf' x` runs `rm -rf x`.
    fn split_string(&mut self, texts: &[(usize, Vec<&Word>)]) {
        let mut arguments = Vec::new();
        let mut text = texts.first().and_then(|(_, words)| joined(words.iter().copied()));
        for runs in self.delegation.runs.drain(..) {
            match runs {
                Runs::Command { words, .. } => arguments = words,
                Runs::Text { text: attached, .. } => text = attached,
            }
        }
        let text = text.map(|text| format!("{text} \"$@\""));
        self.delegation.runs.push(Runs::Text { text, in_own_shell: true, is_beginning: false, name: None, arguments });
    }

    /// What texts for a database run beside their queries.
    fn query_commands(&mut self) {
        let commands = query::texts(self.command, self.arguments).into_iter().flat_map(query::commands);
        self.delegation.runs.extend(commands.map(|text| Runs::text(Some(text))));
    }

    /// What the commands of an editor run.
    fn editor_commands(&mut self) {
        let scripts = ex::scripts(self.command, self.arguments);
        let runs = scripts.into_iter().flat_map(|script| ex::read(&script).runs);
        self.delegation.runs.extend(runs.map(|text| Runs::text(Some(text))));
    }

    /// The commands that a debugger reads, one a line.
    fn debugger_commands(&mut self) {
        let texts = self.command.script_text().into_iter().chain(self.command.given_text());
        let lines: Vec<&str> = texts.flat_map(str::lines).filter(|_| is_debugger(self.program)).collect();
        for line in lines {
            self.setting(line);
        }
    }

    /// What it runs beside what its arguments say: the file that it is given, or what it reads.
    fn script_or_input(&mut self) {
        let (program, words) = (self.program, self.command.words());
        let script = self.arguments.list.iter().find(|argument| argument.role == Role::Script);
        let path = script.and_then(|script| self.command.meaning_from(script.word, script.from));
        if is_interpreter(program) && path.is_some_and(is_fetched) {
            // Nobody has seen it.
            self.delegation.runs.push(Runs::text(None));
        } else if sed::is_sed(program) && names_its_input(self.arguments, words) && matches!(self.input, Input::Unknown)
        {
            self.delegation.runs.push(Runs::text(None));
            self.delegation.reads = Reads::Commands;
        } else if let Some(Written::Text(text)) = self.command.evidence.script.as_ref().filter(|_| sed::is_sed(program))
        {
            self.delegation.runs.extend(sed::read(text).runs.into_iter().map(Runs::text));
        } else if let Some(Written::Text(text)) =
            self.command.evidence.script.as_ref().filter(|_| is_interpreter(program))
        {
            if runs_code(program) {
                self.delegation.runs.extend(in_code(self.command, Some(text)));
                return;
            }
            let own = script.and_then(|script| words.get(script.word + 1..)).unwrap_or_default();
            let in_own_shell = !matches!(program, "source" | ".");
            let (text, arguments) = (Some(commands_in(program, text.to_string(), words)), own.to_vec());
            self.delegation.runs.push(Runs::Text { text, in_own_shell, is_beginning: false, name: None, arguments });
        } else if self.is_parallel() {
            let own = self.arguments.list.iter().find(|argument| argument.role == Role::Shell);
            let own = own.and_then(|own| words.get(own.word..)).unwrap_or_default();
            if !own.is_empty() || !matches!(self.input, Input::Nothing) {
                self.delegation.reads = match own {
                    [] => Reads::Commands,
                    own if own.iter().any(parallel::is_mark) => Reads::Nothing,
                    _ => Reads::Words,
                };
                self.delegation.runs.extend(parallel::texts(own, self.input).into_iter().map(Runs::text));
            }
        } else if is_fed(program, self.arguments, words) && runs_its_input(program, self.arguments, words) {
            // Behind `-s` stands what would be the script.
            let own = script.filter(|_| self.arguments.has_flag(&["-s"])).and_then(|script| words.get(script.word..));
            let script = script.and_then(|script| words.get(script.word));
            self.delegation.runs.extend(fed(self.command, script, self.input, own.unwrap_or_default().to_vec()));
            self.delegation.reads = Reads::Commands;
            self.delegation.is_transparent = is_shell(program) && !self.delegation.runs.is_empty();
        }
    }
}

/// `kubectl exec POD -- ls`, `mise exec node@20 -- npm test`.
fn behind_dashes(program: &str, words: &[Word]) -> Vec<Word> {
    let is_end = |word: &Word| word.value.as_deref() == Some("--");
    // `heroku run bash -a app`: its own flags may stand behind what it runs.
    let is_own = |word: &Word| matches!(word.value.as_deref(), Some("-a" | "--app" | "-r" | "--remote"));
    if let Some(place) = words.iter().position(is_own).filter(|_| program == "heroku") {
        let (before, behind) = words.split_at(place);
        return before.iter().chain(behind.iter().skip(2)).cloned().collect();
    }
    match words.iter().position(is_end) {
        Some(place) if place == 0 || matches!(program, "mise" | "kubectl" | "oc") => {
            words.get(place + 1..).unwrap_or_default().to_vec()
        }
        // `npm exec PACKAGE -- FLAGS`
        Some(place) if matches!(program, "npm" | "npx" | "pnpm" | "yarn" | "bun") => {
            let (before, behind) = words.split_at(place);
            before.iter().chain(behind.iter().skip(1)).cloned().collect()
        }
        _ => words.to_vec(),
    }
}

/// `nix run nixpkgs#git -- push`: mostly the program of that name.
fn nix_command(package: &str, words: &[Word]) -> Option<Vec<Word>> {
    let (_, name) = package.rsplit_once('#')?;
    let behind = words.iter().skip(1).filter(|word| word.value.as_deref() != Some("--"));
    Some(std::iter::once(Word::known(name)).chain(behind.cloned()).collect())
}

/// `fd -x rm {}`: the words, with what was found in the place of `{}`, or behind them.
fn filled_with(words: &[Word], found: Vec<Word>) -> Vec<Word> {
    let names_it = words.iter().filter_map(|word| word.value.as_deref()).any(|word| word.contains("{}"));
    let mut filled: Vec<Word> = words.iter().flat_map(|word| find::filled(word, &found)).collect();
    filled.extend(found.into_iter().filter(|_| !names_it));
    filled
}

/// `env - PATH=x program`
fn in_empty_environment(words: &[Word]) -> Runs {
    let is_set = |word: &&Word| word.value.as_deref().is_some_and(|text| text.contains('='));
    let set: Vec<&Word> = words.iter().skip(1).take_while(is_set).collect();
    let assignments = set.iter().filter_map(|word| assignment(word)).collect();
    let words = words.iter().skip(1 + set.len()).cloned().collect();
    Runs::Command { words, assignments }
}

/// What programs run that find a command in a package or an environment: `npx rimraf@5 x`, `hatch run test:pytest`.
fn packaged_command(program: &str, arguments: &Arguments, words: &[Word]) -> Option<Vec<Word>> {
    let (first, rest) = words.split_first()?;
    let name = first.value.as_deref()?;
    let with = |name: &str| std::iter::once(Word::known(name)).chain(rest.iter().cloned()).collect();
    match program {
        // `uv tool run ruff@latest check`
        "uv" if is_form(arguments, "tool") => Some(with(without_version(name))),
        "uv" if name == "-" || name.rsplit('.').next() == Some("py") => {
            Some(std::iter::once(Word::known("python3")).chain(words.iter().cloned()).collect())
        }
        // `hatch run ENVIRONMENT:COMMAND`
        "hatch" => name.rsplit_once(':').map(|(_, name)| with(name)),
        "npx" | "bunx" | "pnpx" | "npm" | "pnpm" | "yarn" | "bun" | "uvx" | "corepack" | "pipx" | "dnx" => {
            Some(with(without_version(name)))
        }
        _ => None,
    }
}

/// `rimraf` of `rimraf@5`, `@scope/name` of `@scope/name@1.2`, and `pip` of `pip>=24`, `pip[x]` and
/// `pip ; python_version > "3"`.
fn without_version(package: &str) -> &str {
    let begins_version = |letter: char| matches!(letter, '@' | '=' | '<' | '>' | '!' | '~' | '[' | ';' | ' ');
    let version = package.char_indices().skip(1).find(|(_, letter)| begins_version(*letter)).map(|(at, _)| at);
    version.and_then(|at| package.get(..at)).unwrap_or(package)
}

/// The command of `yarn rimraf x`, `yarn workspace a rimraf x` and `bun run rimraf x`: a program of a package, unless
/// the project has a script of that name.
pub(super) fn package_program(command: &SimpleCommand) -> Option<Vec<Word>> {
    let arguments = command.arguments()?;
    let last = |role| arguments.list.iter().rfind(|argument| argument.role == role).map(|argument| argument.word);
    let place = match (command.program()?, arguments.is_known) {
        ("yarn" | "pnpm" | "bun", false) => last(Role::Subcommand),
        ("bun", true) => last(Role::Script),
        ("yarn", true) if is_form(arguments, "run") => arguments.operands.first().copied(),
        _ => None,
    }?;
    let words = command.words().get(place..)?;
    let name = words.first()?.value.as_deref()?;
    let is_program = if words.len() > 1 { is_known_program(name) } else { is_interpreter(name) };
    is_program.then(|| words.to_vec())
}

/// `node $(which claude)` is `claude`, and so is `node …/node_modules/claude-code/cli.js`.
fn installed_program(command: &SimpleCommand, arguments: &Arguments) -> Option<Vec<Word>> {
    let script = arguments.list.iter().find(|argument| argument.role == Role::Script)?;
    let path = command.meaning_from(script.word, script.from)?;
    let own = || command.words().get(script.word + 1..).unwrap_or_default().iter().cloned();
    if let Some(package) = path.strip_prefix("npm:") {
        // Of Deno: `npm:rimraf@5`.
        return Some(std::iter::once(Word::known(without_version(package))).chain(own()).collect());
    }
    let (folder, file) = path.rsplit_once('/')?;
    let package = || {
        let (_, within) = path.rsplit_once("node_modules/")?;
        let mut parts = within.split('/');
        let first = parts.next()?;
        if first.starts_with('@') { parts.next() } else { Some(first) }
    };
    let is_installed = folder.ends_with("/bin") || folder.ends_with("/.bin");
    let name = if is_installed { Some(file) } else { package() };
    let name = name.filter(|name| is_known_program(name) && !is_interpreter(name))?;
    Some(std::iter::once(Word::known(name)).chain(own()).collect())
}

/// `python -m pip install x` is `pip install x`, and `coverage run -m pytest` is `pytest`. A module with a line of its
/// own in the table is understood as that, so what it is called on the command line only matters where that is a
/// program too.
fn module_program(command: &SimpleCommand, arguments: &Arguments) -> Option<Vec<Word>> {
    let program = command.program()?;
    let runs_modules = language_of(program) == Some(Language::Python) || program == "coverage";
    let module =
        arguments.flags.iter().filter(|_| runs_modules).rfind(|flag| flag.is("-m")).and_then(|flag| flag.value)?;
    let name = command.meaning_from(module.word, module.from)?;
    let name = name.strip_suffix(".__main__").unwrap_or(name);
    let is_program = is_known_program(name) || !arguments.is_known && !name.contains('.');
    let own = command.words().get(module.word + 1..).unwrap_or_default().iter().cloned();
    is_program.then(|| std::iter::once(Word::known(name)).chain(own).collect())
}

/// `ruby -run -e rm -- x`: the commands of its library `un` are called like those of the shell.
fn ruby_file_command(command: &SimpleCommand, arguments: &Arguments) -> Option<Vec<Word>> {
    const COMMANDS: &[&str] = &["chmod", "cp", "install", "ln", "mkdir", "mv", "rm", "rmdir", "touch"];
    let text = |argument: Argument| command.text_from(argument.word, argument.from);
    let is_un = |flag: &crate::programs::Flag| flag.name == "-r" && flag.value.and_then(text) == Some("un");
    arguments.flags.iter().find(|flag| is_un(flag)).filter(|_| command.program() == Some("ruby"))?;
    let code = arguments.list.iter().find(|argument| argument.role == Role::Code).copied()?;
    let name = text(code).filter(|name| COMMANDS.contains(name))?;
    let own = command.words().get(code.word + 1..).unwrap_or_default().iter();
    let own = own.filter(|word| word.value.as_deref() != Some("--")).cloned();
    Some(std::iter::once(Word::known(name)).chain(own).collect())
}

/// The variables that a program takes away from what it runs.
fn removed(program: &str, command: &SimpleCommand, arguments: &Arguments) -> RemovedVariables {
    let mut removed = RemovedVariables::default();
    let is_env = program == "env";
    let drops_all = is_env
        && (arguments.has_flag(&["-i", "--ignore-environment"])
            || command.words().get(1).is_some_and(|word| word.value.as_deref() == Some("-")));
    if drops_all || program == "exec" && arguments.has_flag(&["-c"]) {
        removed.add_all();
    }
    for value in arguments.flags.iter().filter(|flag| is_env && flag.is("-u")).filter_map(|flag| flag.value) {
        removed.add(command.text_from(value.word, value.from).unwrap_or_default());
    }
    removed
}

fn is_debugger(program: &str) -> bool {
    matches!(program, "gdb" | "lldb")
}

/// A program text, as its language is told it.
fn by_interpreter(language: &str, code: &str) -> Runs {
    let flag = if language.starts_with("python") { "-c" } else { "-e" };
    Runs::words([language, flag, code].map(Word::known).to_vec())
}

/// A program that nobody knows may run one that is known, if it is given the words of one.
pub(super) fn command_within(words: &[Word]) -> Option<Vec<Word>> {
    let base = |word: &Word| word.value.as_deref().map(|text| text.rsplit('/').next().unwrap_or(text).to_owned());
    let is_program = |place: &usize| {
        let next = words.get(place + 1).and_then(|word| word.value.as_deref());
        match words.get(*place).and_then(base).as_deref() {
            Some("git" | "sudo" | "bash" | "sh" | "zsh" | "claude" | "codex" | "linchpin") => next.is_some(),
            Some("rm") => next.is_some_and(|next| next.starts_with('-')),
            _ => false,
        }
    };
    let place = (1..words.len()).find(is_program)?;
    words.get(place..).map(<[Word]>::to_vec)
}

/// What stands in a word from a place on.
fn part(word: &Word, from: usize) -> Word {
    let rest = word.meaning().and_then(|value| value.get(from..));
    Word { value: rest.map(str::to_owned), ..word.clone() }
}

/// Joined as `eval` and its like do.
fn joined<'w>(words: impl Iterator<Item = &'w Word>) -> Option<String> {
    let texts = words.map(|word| word.meaning().or(word.for_shell.as_deref()));
    texts.collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}

fn assignment(word: &Word) -> Option<Assignment> {
    let text = word.value.as_deref().unwrap_or(&word.shown);
    let (name, value) = text.split_once('=')?;
    let value = word.value.as_ref().map(|_| value.to_owned());
    Some(Assignment { name: name.to_owned(), value: Word { raw: word.raw.clone(), value, ..Word::default() } })
}
