//! Finds the commands and shell scripts among the arguments of a program.

use std::borrow::Cow;

use super::code::{commands_in, commands_of_code, commands_read};
use super::git::{commands_of_git, is_subcommand, script_of_alias};
use super::{DelegatedCommand, Delegation, InputUse, package};
use crate::model::{Assignment, Container, FileContents, Input, RemovedVariables, SimpleCommand, Word};
use crate::programs::{Argument, Arguments, Role};
use crate::special_programs::command_settings::{code_of_setting, command_of_properties, command_of_setting};
use crate::special_programs::ex::{self, is_editor};
use crate::special_programs::interpreter::{
    can_run_stdin, interpreter_of, is_downloaded_script, is_interpreter, is_shell, required_files,
    runs_non_shell_scripts, script_is_stream, startup_files, takes_script_from_stdin,
};
use crate::special_programs::{
    command_settings, container, database_client, find, git_settings, listed_paths, parallel, sed, xargs,
};

/// The property of `systemd-run` that sets the working directory.
const WORKING_DIRECTORY: &str = "WorkingDirectory=";

/// Reads the arguments of one command, and collects the commands that it delegates to.
pub(super) struct ArgumentReader<'c> {
    program: &'c str,
    command: &'c SimpleCommand,
    arguments: &'c Arguments,
    input: Input<'c>,
    delegation: Delegation,
    /// Scripts that are spread over several operands, each with the index of its last word.
    scripts: Vec<(usize, Vec<&'c Word>)>,
    /// Assignments for the command that follows them.
    assignments: Vec<Assignment>,
}

impl<'c> ArgumentReader<'c> {
    pub(super) fn read(
        program: &'c str,
        command: &'c SimpleCommand,
        arguments: &'c Arguments,
        input: Input<'c>,
    ) -> Delegation {
        let delegation = Delegation { name: program.to_owned(), ..Delegation::default() };
        let (scripts, assignments) = (Vec::new(), Vec::new());
        let mut reader = Self { program, command, arguments, input, delegation, scripts, assignments };
        for argument in &arguments.with_roles {
            if let Some(word) = command.words().get(argument.word) {
                reader.read_argument(argument, word);
            }
        }
        reader.finish_scripts();
        reader.delegation.removed_variables = removed_variables(program, command, arguments);
        if reader.delegation.is_remote && container::is_engine(program) {
            reader.enter_container();
        }
        if reader.delegation.is_transparent && arguments.has_flag(&["-c"]) {
            reader.delegation.name = format!("{program} -c");
        }
        reader.add_script_or_input();
        let before = required_files(command, arguments).into_iter();
        reader.delegation.commands.extend(before.map(|file| DelegatedCommand::words(vec![Word::known(program), file])));
        reader.add_editor_commands();
        reader.add_debugger_commands();
        if matches!(program, "mvn" | "mvnw" | "mvnd") {
            let properties = arguments.with_roles.iter().filter(|argument| argument.role == Role::Setting);
            let properties = properties.filter_map(|argument| command.text_from(argument.word, argument.from));
            reader
                .delegation
                .commands
                .extend(command_of_properties(properties).map(|text| DelegatedCommand::script(Some(text))));
        }
        reader.delegation.commands.extend(package::installed_program(command, arguments).map(DelegatedCommand::words));
        reader.delegation.commands.extend(package::module_program(command, arguments).map(DelegatedCommand::words));
        reader.delegation.commands.extend(package::ruby_file_command(command, arguments).map(DelegatedCommand::words));
        reader.add_query_commands();
        if is_shell(program) {
            let run = |file| DelegatedCommand::words(vec![Word::known(program), file]);
            reader.delegation.commands.extend(startup_files(command, arguments).into_iter().map(run));
        }
        if let Some(form) = arguments.subcommands.first().filter(|_| program == "git") {
            reader.delegation.commands.extend(commands_of_git(command, arguments, form));
        }
        reader.delegation
    }

    fn read_argument(&mut self, argument: &Argument, word: &'c Word) {
        let text = || word.value.as_deref().and_then(|value| value.get(argument.from..));
        match argument.role {
            Role::Assignment => self.assignments.extend(assignment(word)),
            Role::Command => self.delegate_words(self.words_from(argument)),
            // `rails runner` takes a file or code.
            Role::Code
                if self.program == "rails" && text().is_some_and(|text| interpreter_of(text) == Some("ruby")) =>
            {
                self.run_script(argument);
            }
            Role::Code => {
                let text = self.command.value_or_placeholder_from(argument.word, argument.from);
                self.delegation.commands.extend(commands_of_code(self.command, text));
            }
            Role::Data if sed::is_sed(self.program) => {
                self.delegation.commands.extend(
                    text().map(sed::read).unwrap_or_default().shell_scripts.into_iter().map(DelegatedCommand::script),
                );
            }
            Role::Script if !is_interpreter(self.program) => self.run_script(argument),
            Role::Setting if is_editor(self.program) => {}
            Role::Directory => self.delegation.directory = Some(part(word, argument.from)),
            // `systemd-run -p WorkingDirectory=/x`
            Role::Setting if text().is_some_and(|text| text.starts_with(WORKING_DIRECTORY)) => {
                self.delegation.directory = Some(part(word, argument.from + WORKING_DIRECTORY.len()));
            }
            Role::Setting if self.program == "git" => {
                match git_settings::setting_in_flag(self.command, self.arguments, *argument) {
                    Some(setting) => self.read_setting(&setting),
                    // If only the name of the setting is known, the value could be a command.
                    None => self.read_unknown_setting(text().unwrap_or_default()),
                }
            }
            Role::Setting => self.read_setting(text().unwrap_or_default()),
            Role::Host => self.delegation.is_remote = true,
            Role::Words if self.delegation.is_remote && container::is_engine(self.program) => {
                self.delegation.commands.push(DelegatedCommand::words(self.words_from(argument)));
            }
            Role::Words if self.delegation.is_remote => {
                let words = self.words_from(argument);
                self.delegation.is_transparent = self.program != "kubectl";
                let delegated = if self.delegation.is_transparent {
                    DelegatedCommand::script(joined(words.iter()))
                } else {
                    DelegatedCommand::words(words)
                };
                self.delegation.commands.push(delegated);
            }
            // The commands of `parallel` are read in `add_script_or_input`.
            Role::Shell if self.is_parallel() => self.delegation.is_transparent = true,
            // A container's command is read in `enter_container`.
            Role::Hook if container::is_engine(self.program) => {}
            Role::Shell | Role::Hook => {
                self.delegation.is_transparent |= argument.role == Role::Shell;
                self.add_script(argument, word);
            }
            _ => {}
        }
    }

    /// Adds the command that runs the script file with the interpreter that the file's extension suggests. Does nothing
    /// for a program whose scripts have a language of their own, such as an editor.
    fn run_script(&mut self, argument: &Argument) {
        let reads_itself =
            is_editor(self.program) || sed::is_sed(self.program) || database_client::is_client(self.program);
        let file = self.command.value_or_placeholder_from(argument.word, argument.from).filter(|_| !reads_itself);
        let in_shell = matches!(self.program, "at" | "batch").then_some("sh");
        let program = file.and_then(|file| interpreter_of(file).or(in_shell));
        if let Some((file, program)) = file.zip(program) {
            let script_arguments = self.command.words().get(argument.word + 1..).unwrap_or_default();
            let words = [Word::known(program), Word::known(file)].into_iter().chain(script_arguments.iter().cloned());
            self.delegation.commands.push(DelegatedCommand::words(words.collect()));
        }
    }

    fn enter_container(&mut self) {
        self.delegation.container = Some(Container::of(self.command, self.arguments));
        if let Some(program) = container::entrypoint(self.command, self.arguments) {
            let words = match self.delegation.commands.pop() {
                Some(DelegatedCommand::Words { words, .. }) => words,
                _ => Vec::new(),
            };
            self.delegation.commands.push(DelegatedCommand::words(std::iter::once(program).chain(words).collect()));
        }
    }

    /// Returns all words from an argument on.
    fn words_from(&self, argument: &Argument) -> Vec<Word> {
        after_dashes(self.program, self.command.words().get(argument.word..).unwrap_or_default())
    }

    fn is_parallel(&self) -> bool {
        matches!(self.program, "parallel" | "sem")
    }

    fn delegate_words(&mut self, words: Vec<Word>) {
        self.delegation.is_transparent = true;
        let values: Vec<Option<&str>> = words.iter().map(|word| word.value.as_deref()).collect();
        match (self.program, values.as_slice()) {
            ("xargs" | "gxargs", _) => {
                self.delegation.input_use = InputUse::Arguments;
                let commands = xargs::commands(words, self.arguments, self.command.words(), self.input);
                self.delegation.commands.extend(commands.into_iter().map(DelegatedCommand::words));
            }
            ("sudo" | "doas" | "pwsh" | "powershell" | "yarn" | "pnpm" | "lerna" | "meta" | "repo", [Some(text)])
                if text.contains(char::is_whitespace) =>
            {
                self.delegation.commands.push(DelegatedCommand::script(Some((*text).to_owned())));
            }
            ("nix", [Some(package), ..]) if is_subcommand(self.arguments, "run") => {
                self.delegation.is_transparent = false;
                self.delegation.commands.extend(nix_command(package, &words).map(DelegatedCommand::words));
            }
            // `uv run x.py` starts an interpreter that is not among the command's words.
            ("uv", [Some(script), ..]) if is_subcommand(self.arguments, "run") && package::is_python_script(script) => {
                self.delegation.is_transparent = false;
                let words = std::iter::once(Word::known("python3")).chain(words).collect();
                self.delegation.commands.push(DelegatedCommand::words(words));
            }
            ("fd" | "fdfind", _) => {
                let found = listed_paths::printed_paths(self.command, &[]);
                self.delegation.commands.push(DelegatedCommand::words(filled_with(&words, found)));
            }
            ("env", [Some("-"), ..]) => self.delegation.commands.push(in_empty_environment(&words)),
            ("pwsh" | "powershell", [Some("-")]) => {
                self.delegation.commands.extend(commands_read(self.command, None, self.input, Vec::new()));
                self.delegation.input_use = InputUse::Commands;
            }
            ("flock", [Some("-c" | "--command"), text]) => {
                self.delegation.commands.push(DelegatedCommand::script(text.map(str::to_owned)));
            }
            _ => {
                let packaged =
                    package::packaged_command(self.program, self.arguments, &words).map(DelegatedCommand::words);
                let assignments = &mut self.assignments;
                let plain = || DelegatedCommand::Words { words, assignments: std::mem::take(assignments) };
                self.delegation.commands.push(packaged.unwrap_or_else(plain));
            }
        }
    }

    fn read_unknown_setting(&mut self, setting: &str) {
        let name = setting.split('=').next().unwrap_or_default();
        let is_command = command_of_setting(self.program, &format!("{name}=!x")).is_some();
        self.delegation.commands.extend(is_command.then(|| DelegatedCommand::script(None)));
    }

    fn read_setting(&mut self, setting: &str) {
        let code = code_of_setting(self.program, setting).filter(|_| is_debugger(self.program));
        self.delegation.commands.extend(code.map(|(language, code)| interpreter_command(language, code)));
        let text = command_of_setting(self.program, setting).map(Cow::into_owned);
        // All programs but `socat` append arguments to the command in a setting.
        let delegated = |text| {
            if self.program == "socat" {
                DelegatedCommand::script(Some(text))
            } else {
                DelegatedCommand::script_prefix(Some(text))
            }
        };
        self.delegation.commands.extend(text.map(delegated));
        if let Some((_, alias)) =
            command_settings::git_alias(setting).filter(|(name, _)| is_subcommand(self.arguments, name))
        {
            self.delegation.commands.extend(script_of_alias(self.command, self.arguments, alias));
        }
    }

    /// Adds a part of a shell script. Adjacent operands are one script. The value of a flag is a script of its own.
    fn add_script(&mut self, argument: &Argument, word: &'c Word) {
        match self.scripts.last_mut().filter(|(last, _)| last + 1 == argument.word && argument.from == 0) {
            Some((last, words)) => {
                *last = argument.word;
                words.push(word);
            }
            None if argument.from == 0 => self.scripts.push((argument.word, vec![word])),
            None => self.delegation.commands.push(DelegatedCommand::script(part(word, argument.from).value)),
        }
    }

    /// Adds the collected scripts.
    fn finish_scripts(&mut self) {
        let texts = std::mem::take(&mut self.scripts);
        if self.program == "env" && self.arguments.has_flag(&["-S", "--split-string"]) {
            return self.split_string(&texts);
        }
        let in_new_shell = !matches!(self.program, "eval" | "trap");
        let is_parameters = |argument: &&Argument| argument.role == Role::Words && is_shell(self.program);
        let parameters = self.arguments.with_roles.iter().find(is_parameters);
        let parameters = parameters.and_then(|first| self.command.words().get(first.word..));
        // The first word after the script is its `$0`.
        let (name, arguments) = parameters.and_then(<[Word]>::split_first).unzip();
        let delegated = texts.into_iter().map(|(_, words)| DelegatedCommand::Script {
            text: joined(words.into_iter()),
            in_new_shell,
            // These programs append arguments to the script, such as the name of the host.
            gets_more_arguments: matches!(self.program, "rsync" | "scp" | "sftp" | "mosh"),
            name: name.cloned(),
            arguments: arguments.unwrap_or_default().to_vec(),
        });
        self.delegation.commands.extend(delegated);
    }

    /// Adds the command that `env -S` runs: `rm -rf x` for `env -S 'rm -rf' x`.
    fn split_string(&mut self, texts: &[(usize, Vec<&Word>)]) {
        let mut arguments = Vec::new();
        let mut text = texts.first().and_then(|(_, words)| joined(words.iter().copied()));
        for delegated in self.delegation.commands.drain(..) {
            match delegated {
                DelegatedCommand::Words { words, .. } => arguments = words,
                DelegatedCommand::Script { text: attached, .. } => text = attached,
            }
        }
        let text = text.map(|text| format!("{text} \"$@\""));
        self.delegation.commands.push(DelegatedCommand::Script {
            text,
            in_new_shell: true,
            gets_more_arguments: false,
            name: None,
            arguments,
        });
    }

    /// Adds the shell commands in the queries for a database client.
    fn add_query_commands(&mut self) {
        let commands = database_client::queries(self.command, self.arguments)
            .into_iter()
            .flat_map(database_client::shell_commands);
        self.delegation.commands.extend(commands.map(|text| DelegatedCommand::script(Some(text))));
    }

    /// Adds the shell commands in the scripts for an editor.
    fn add_editor_commands(&mut self) {
        let scripts = ex::scripts(self.command, self.arguments);
        let delegated = scripts.into_iter().flat_map(|script| ex::read(&script).shell_scripts);
        self.delegation.commands.extend(delegated.map(|text| DelegatedCommand::script(Some(text))));
    }

    /// Adds the shell commands in the scripts for a debugger, which have one command per line.
    fn add_debugger_commands(&mut self) {
        let texts = self.command.script_text().into_iter().chain(self.command.stdin_text());
        let lines: Vec<&str> = texts.flat_map(str::lines).filter(|_| is_debugger(self.program)).collect();
        for line in lines {
            self.read_setting(line);
        }
    }

    /// If the program runs a script file or its stdin, adds the commands in that script.
    fn add_script_or_input(&mut self) {
        let (program, words) = (self.program, self.command.words());
        let script = self.arguments.with_roles.iter().find(|argument| argument.role == Role::Script);
        let path = script.and_then(|script| self.command.value_or_placeholder_from(script.word, script.from));
        if is_interpreter(program) && path.is_some_and(is_downloaded_script) {
            // The contents of a script from a URL are not known.
            self.delegation.commands.push(DelegatedCommand::script(None));
        } else if sed::is_sed(program)
            && script_is_stream(self.arguments, words)
            && matches!(self.input, Input::Unknown)
        {
            self.delegation.commands.push(DelegatedCommand::script(None));
            self.delegation.input_use = InputUse::Commands;
        } else if let Some(FileContents::Text(text)) =
            self.command.provenance.script.as_ref().filter(|_| sed::is_sed(program))
        {
            self.delegation.commands.extend(sed::read(text).shell_scripts.into_iter().map(DelegatedCommand::script));
        } else if let Some(FileContents::Text(text)) =
            self.command.provenance.script.as_ref().filter(|_| is_interpreter(program))
        {
            if runs_non_shell_scripts(program) {
                self.delegation.commands.extend(commands_of_code(self.command, Some(text)));
                return;
            }
            let script_arguments = script.and_then(|script| words.get(script.word + 1..)).unwrap_or_default();
            let in_new_shell = !matches!(program, "source" | ".");
            let (text, arguments) = (Some(commands_in(program, text.to_string(), words)), script_arguments.to_vec());
            self.delegation.commands.push(DelegatedCommand::Script {
                text,
                in_new_shell,
                gets_more_arguments: false,
                name: None,
                arguments,
            });
        } else if self.is_parallel() {
            self.add_parallel_jobs();
        } else if can_run_stdin(program, self.arguments, words)
            && takes_script_from_stdin(program, self.arguments, words)
        {
            // After `-s`, the first operand is not a script but the first argument.
            let script_arguments =
                script.filter(|_| self.arguments.has_flag(&["-s"])).and_then(|script| words.get(script.word..));
            let script = script.and_then(|script| words.get(script.word));
            self.delegation.commands.extend(commands_read(
                self.command,
                script,
                self.input,
                script_arguments.unwrap_or_default().to_vec(),
            ));
            self.delegation.input_use = InputUse::Commands;
            self.delegation.is_transparent = is_shell(program) && !self.delegation.commands.is_empty();
        }
    }

    /// Adds the commands that `parallel` runs, one for each of its arguments or for each line of its stdin.
    fn add_parallel_jobs(&mut self) {
        let words = self.command.words();
        let first = self.arguments.with_roles.iter().find(|argument| argument.role == Role::Shell);
        let operands = first.and_then(|first| words.get(first.word..)).unwrap_or_default();
        if operands.is_empty() && matches!(self.input, Input::Nothing) {
            return;
        }
        self.delegation.input_use = match operands {
            [] => InputUse::Commands,
            operands if operands.iter().any(parallel::is_argument_marker) => InputUse::PassedOn,
            _ => InputUse::Arguments,
        };
        let scripts = parallel::scripts(operands, self.input);
        self.delegation.commands.extend(scripts.into_iter().map(DelegatedCommand::script));
    }
}

/// Returns the words of a delegated command without the `--` before the command, and without flags of the delegating
/// program: `kubectl exec POD -- ls`, `mise exec node@20 -- npm test`.
fn after_dashes(program: &str, words: &[Word]) -> Vec<Word> {
    let is_end = |word: &Word| word.value.as_deref() == Some("--");
    // `heroku run bash -a app`: flags of `heroku` may follow the command.
    let is_heroku_flag = |word: &Word| matches!(word.value.as_deref(), Some("-a" | "--app" | "-r" | "--remote"));
    if let Some(index) = words.iter().position(is_heroku_flag).filter(|_| program == "heroku") {
        let (before, after) = words.split_at(index);
        return before.iter().chain(after.iter().skip(2)).cloned().collect();
    }
    match words.iter().position(is_end) {
        Some(index) if index == 0 || matches!(program, "mise" | "kubectl" | "oc") => {
            words.get(index + 1..).unwrap_or_default().to_vec()
        }
        // `npm exec PACKAGE -- FLAGS`
        Some(index) if matches!(program, "npm" | "npx" | "pnpm" | "yarn" | "bun") => {
            let (before, after) = words.split_at(index);
            before.iter().chain(after.iter().skip(1)).cloned().collect()
        }
        _ => words.to_vec(),
    }
}

/// Returns the command of `nix run nixpkgs#git -- push`. In most cases, the package has the same name as its program.
fn nix_command(package: &str, words: &[Word]) -> Option<Vec<Word>> {
    let (_, name) = package.rsplit_once('#')?;
    let after = words.iter().skip(1).filter(|word| word.value.as_deref() != Some("--"));
    Some(std::iter::once(Word::known(name)).chain(after.cloned()).collect())
}

/// `fd -x rm {}`: replaces `{}` with the found paths. If no word contains `{}`, appends the paths.
fn filled_with(words: &[Word], found: Vec<Word>) -> Vec<Word> {
    let has_placeholder = words.iter().filter_map(|word| word.value.as_deref()).any(|word| word.contains("{}"));
    let mut filled: Vec<Word> = words.iter().flat_map(|word| find::filled(word, &found)).collect();
    filled.extend(found.into_iter().filter(|_| !has_placeholder));
    filled
}

/// Returns the command of `env - PATH=x program`, with its assignments.
fn in_empty_environment(words: &[Word]) -> DelegatedCommand {
    let is_set = |word: &&Word| word.value.as_deref().is_some_and(|text| text.contains('='));
    let set: Vec<&Word> = words.iter().skip(1).take_while(is_set).collect();
    let assignments = set.iter().filter_map(|word| assignment(word)).collect();
    let words = words.iter().skip(1 + set.len()).cloned().collect();
    DelegatedCommand::Words { words, assignments }
}

/// Returns the variables that a program removes from the environment of its command.
fn removed_variables(program: &str, command: &SimpleCommand, arguments: &Arguments) -> RemovedVariables {
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

/// Returns the command line that passes code to an interpreter.
fn interpreter_command(language: &str, code: &str) -> DelegatedCommand {
    let flag = if language.starts_with("python") { "-c" } else { "-e" };
    DelegatedCommand::words([language, flag, code].map(Word::known).to_vec())
}

/// Returns the command that an unknown program may run: all words from the first argument on that names one of a few
/// programs, such as `git`.
pub(super) fn command_within(words: &[Word]) -> Option<Vec<Word>> {
    let base = |word: &Word| word.value.as_deref().map(|text| text.rsplit('/').next().unwrap_or(text).to_owned());
    let is_program = |index: &usize| {
        let next = words.get(index + 1).and_then(|word| word.value.as_deref());
        match words.get(*index).and_then(base).as_deref() {
            Some("git" | "sudo" | "bash" | "sh" | "zsh" | "claude" | "codex" | "linchpin") => next.is_some(),
            Some("rm") => next.is_some_and(|next| next.starts_with('-')),
            _ => false,
        }
    };
    let index = (1..words.len()).find(is_program)?;
    words.get(index..).map(<[Word]>::to_vec)
}

/// Returns the part of a word that starts at a byte offset.
fn part(word: &Word, from: usize) -> Word {
    let rest = word.value_or_placeholder().and_then(|value| value.get(from..));
    Word { value: rest.map(str::to_owned), ..word.clone() }
}

/// Joins words with spaces, as `eval` does.
fn joined<'w>(words: impl Iterator<Item = &'w Word>) -> Option<String> {
    let texts = words.map(|word| word.value_or_placeholder().or(word.text_for_shell.as_deref()));
    texts.collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}

/// Reads a word of the form `NAME=value`.
fn assignment(word: &Word) -> Option<Assignment> {
    let text = word.value.as_deref().unwrap_or(&word.shown);
    let (name, value) = text.split_once('=')?;
    let value = word.value.as_ref().map(|_| value.to_owned());
    Some(Assignment { name: name.to_owned(), value: Word { raw: word.raw.clone(), value, ..Word::default() } })
}
