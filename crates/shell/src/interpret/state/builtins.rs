//! Builtins that change the shell's state: `cd`, `read`, `set`, `alias` and others.

use std::borrow::Cow;
use std::rc::Rc;

use super::declaration::{Declaration, Visibility};
use super::{Array, ParameterList, SharedMap, State, Value, VariableName};
use crate::model::{Assignment, PossibleDirectories, SimpleCommand, Word};
use crate::special_programs::file_copies::file_copies;
use crate::special_programs::known_output::printf;
use crate::special_programs::read_line;

impl State {
    /// Applies the changes that a command makes to the shell that runs it.
    pub(crate) fn apply_command(&mut self, command: &SimpleCommand) {
        self.parameters.last_word = command.words().last().and_then(Value::of);
        let Some(program) = command.program() else { return };
        self.note_copies(command, program);
        self.directory.note_deleted(command, program);
        let operands = || command.words().iter().skip(1);
        match program {
            "cd" | "pushd" => self.change_directory(command, program == "pushd"),
            "popd" => self.directory.pop(),
            "mkdir" => self.directory.note_created(operands().filter_map(Word::value_or_placeholder)),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(command, program),
            "read" => self.read(command),
            "mapfile" | "readarray" => self.read_lines(command),
            "printf" => {
                if let Some((name, text)) = printf_variable(command) {
                    self.assign_by_name(name, text.map(Value::literal));
                }
            }
            "unset" => self.unset(command),
            "let" => {
                for word in operands() {
                    self.evaluate_or_forget(word.value.as_deref().unwrap_or(&word.shown));
                }
            }
            "getopts" => {
                let name = operands().nth(1).map(|word| VariableName::of(word, 0));
                for name in name.into_iter().chain([VariableName::Known("OPTARG")]) {
                    self.assign_by_name(name, None);
                }
            }
            "wait" => self.wait(command),
            "set" => self.set(command),
            "shopt" => self.set_shell_options(command),
            "shift" => {
                let count = operands().next().map_or(Some(1), |word| word.value.as_deref()?.parse().ok());
                self.parameters.positional.shift(count);
            }
            "alias" | "unalias" | "hash" => self.define_commands(command, program),
            "git" => self.branches.apply(command),
            "source" | "." => self.source(command),
            _ => {}
        }
    }

    fn unset(&mut self, command: &SimpleCommand) {
        let operands = || command.words().iter().skip(1);
        let is_function = operands().any(|word| word.value.as_deref() == Some("-f"));
        for word in operands() {
            if !is_function {
                self.variables.removed.add(word.value.as_deref().unwrap_or_default());
                self.assign_by_name(VariableName::of(word, 0), None);
            }
            match &word.value {
                Some(name) => drop(Rc::make_mut(&mut self.commands.functions).remove(name.as_str())),
                None => self.commands.mark_functions_uncertain(),
            }
        }
    }

    /// Applies `wait -p NAME`, which sets the variable to a process ID.
    fn wait(&mut self, command: &SimpleCommand) {
        let flags = command.arguments().into_iter().flat_map(|arguments| &arguments.flags);
        let value = flags.filter(|flag| flag.name == "-p").find_map(|flag| flag.value);
        if let Some((word, from)) = value.and_then(|value| Some((command.words().get(value.word)?, value.from))) {
            self.assign_by_name(VariableName::of(word, from), Some(Value::unknown_number()));
        }
    }

    /// Applies `set`, which sets options and positional parameters: `set -e`, `set -- a b`.
    fn set(&mut self, command: &SimpleCommand) {
        self.set_options(command);
        let words = command.words();
        let is_argument = |word: &Word| !word.raw.starts_with(['-', '+']);
        let end = words.iter().position(|word| word.value.as_deref() == Some("--"));
        let start = end.map(|end| end + 1).or_else(|| Some(1 + words.iter().skip(1).position(is_argument)?));
        if let Some(arguments) = start.and_then(|start| words.get(start..)) {
            self.parameters.positional = arguments.iter().map(Value::of).collect::<ParameterList>().into();
        }
    }

    /// Applies `shopt`: `shopt -s dotglob`.
    fn set_shell_options(&mut self, command: &SimpleCommand) {
        let names = || command.words().iter().skip(1).filter_map(|word| word.value.as_deref());
        let is_on = names().any(|name| name == "-s");
        for name in names() {
            match name {
                "lastpipe" => self.options.lastpipe = is_on,
                "dotglob" => self.options.dotglob = is_on,
                _ => {}
            }
        }
    }

    /// Applies a builtin that defines or removes names of commands: `alias x=y`, `hash -p /bin/x y`.
    fn define_commands(&mut self, command: &SimpleCommand, program: &str) {
        let operands = || command.words().iter().skip(1);
        match program {
            "alias" => {
                let set = operands().filter_map(|word| word.value.as_deref()?.split_once('='));
                Rc::make_mut(&mut self.commands.aliases).extend(set.map(|(name, text)| (name.into(), text.into())));
            }
            "unalias" => self.commands.aliases = SharedMap::default(),
            _ => {
                let words: Vec<Option<&str>> = operands().map(Word::value_or_placeholder).collect();
                if let [Some("-p"), Some(program), Some(name)] = words.as_slice() {
                    self.commands.note_copy(program, name);
                }
            }
        }
    }

    /// Applies `source`. If the script is known, the walker also walks the script.
    fn source(&mut self, command: &SimpleCommand) {
        if command.words().get(1).is_some_and(is_environment_script) {
            // A script that only sets up the environment does not change the working directory.
            self.forget_all_but_directory();
        } else if command.script_text().is_none() {
            self.forget();
        }
    }

    /// Applies the options of `set`: `set -eu`, `set +e`, `set -o errexit`.
    fn set_options(&mut self, command: &SimpleCommand) {
        let mut words = command.words().iter().skip(1).map_while(|word| word.value.as_deref());
        while let Some(word) = words.next().filter(|word| *word != "--") {
            let Some(letters) = word.strip_prefix(['-', '+']) else { break };
            let is_on = word.starts_with('-');
            let name = if letters.contains('o') { words.next() } else { None };
            if letters.contains('e') || name == Some("errexit") {
                self.failure.errexit = is_on;
            }
            if letters.contains('a') || name == Some("allexport") {
                self.options.allexport = is_on;
            }
        }
    }

    /// Applies a declaration: `export A=1`, `local b`.
    fn declare(&mut self, command: &SimpleCommand, program: &str) {
        let declaration = Declaration::of(command, program);
        for word in command.words().iter().skip(1) {
            self.declare_one(&declaration, word);
        }
    }

    fn declare_one(&mut self, declaration: &Declaration, word: &Word) {
        let text = word.value_or_placeholder().unwrap_or(&word.shown);
        if let Some((name, target)) = text.split_once('=').filter(|_| declaration.is_nameref) {
            match word.value {
                Some(_) => drop(Rc::make_mut(&mut self.variables.references).insert(name.into(), target.into())),
                None => self.forget(),
            }
            return;
        }
        if let Some((start, value)) = partly_named(word) {
            if !declaration.only_prints {
                self.assign_unknown_name(start, value.filter(|_| !declaration.is_reference_or_array).as_ref());
            }
            return;
        }
        let name = text.split(['=', '+']).next().unwrap_or(text);
        self.variables.declare(declaration, name);
        if let Some(value) = word.shown.strip_prefix("PATH=") {
            self.variables.path = Some(value.to_owned());
        }
        if let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.starts_with('-')) {
            // `local` fails outside a function.
            let fails = declaration.program == "local" && self.variables.locals.is_empty();
            let known = word.value_or_placeholder().is_some() && !declaration.is_reference_or_array && !fails;
            let value = known.then(|| Value {
                glob: word.glob,
                tilde: value.starts_with('~') || word.tilde,
                is_placeholder: word.value.is_none(),
                ..Value::literal(value)
            });
            match name.strip_suffix('+') {
                Some(name) => self.assign(name, value.and_then(|more| self.appended_value(name, &more))),
                None => self.assign(name, value),
            }
        }
        if declaration.visibility == Visibility::Exported {
            self.variables.export_name(text.split('=').next().unwrap_or(text));
        }
    }

    /// Notes copies of programs, and symlinks to programs. A copy or symlink counts as the program itself.
    fn note_copies(&mut self, command: &SimpleCommand, program: &str) {
        let copies = command.arguments().map(|arguments| file_copies(command, program, arguments));
        for copy in copies.into_iter().flatten() {
            self.commands.note_copy(copy.from, copy.to);
            if let Some(path) = copy.path_in_directory() {
                self.commands.note_copy(copy.from, &path);
            }
        }
    }

    /// Applies `read NAME…`, which splits a line into one field for each name.
    fn read(&mut self, command: &SimpleCommand) {
        let mut names = operand_names(command);
        let flags = || command.arguments().into_iter().flat_map(|arguments| &arguments.flags);
        let value = |name: &str| flags().find(|flag| flag.name == name).and_then(|flag| flag.value);
        let array = value("-a").and_then(|array| Some(VariableName::of(command.words().get(array.word)?, array.from)));
        let is_raw = flags().any(|flag| flag.name == "-r");
        let ifs_assignment = command.assignments().iter().rfind(|set| set.name == "IFS");
        let separators = match ifs_assignment {
            Some(set) => set.value.value.clone(),
            None => self.variables.field_separators().map(Cow::into_owned),
        };
        let line = read_line::line_read_by(command).filter(|line| is_raw || !line.contains('\\')).zip(separators);
        if let Some(array) = array {
            let words = line.map(|(line, separators)| read_line::fields(line, &separators, usize::MAX));
            return self.assign_elements(array, words.map(|words| words.into_iter().map(Value::literal).collect()));
        }
        if names.is_empty() {
            names.push(VariableName::Known("REPLY"));
        }
        let words = line.map(|(line, separators)| read_line::fields(line, &separators, names.len()));
        for (index, name) in names.iter().enumerate() {
            let word = words.as_ref().map(|words| words.get(index).copied().unwrap_or_default());
            self.assign_by_name(*name, word.map(Value::literal));
        }
    }

    /// Applies `mapfile -t NAME`, which makes each line an element of an array.
    fn read_lines(&mut self, command: &SimpleCommand) {
        const NAME: &str = "MAPFILE";
        let name = operand_names(command).first().copied().unwrap_or(VariableName::Known(NAME));
        let has_flags =
            command.arguments().into_iter().flat_map(|arguments| &arguments.flags).any(|flag| flag.name != "-t");
        let text = command.stdin_text().filter(|_| !has_flags);
        self.assign_elements(name, text.map(|text| text.lines().map(Value::literal).collect()));
    }

    fn assign_elements(&mut self, name: VariableName, elements: Option<Vec<Value>>) {
        match (name, elements) {
            (VariableName::Known(name), Some(elements)) => self.assign_array(name, Array::List(elements)),
            // The name of an array without an index stands for the first element.
            (name, elements) => self.assign_by_name(name, elements.and_then(|elements| elements.into_iter().next())),
        }
    }

    fn change_directory(&mut self, command: &SimpleCommand, pushes: bool) {
        let mut operands = command
            .words()
            .iter()
            .skip(1)
            .filter(|word| !matches!(word.value.as_deref(), Some("-L" | "-P" | "-e" | "--")));
        let before = self.directory.possible.clone();
        let target = operands.next();
        let is_set = |set: &Assignment| set.name == "CDPATH" && set.value.value.as_deref() != Some("");
        let uses_cdpath = self.variables.values.contains_key("CDPATH") || command.assignments().iter().any(is_set);
        let to = match target.map(Word::value_or_placeholder) {
            _ if operands.next().is_some() => PossibleDirectories::unknown(),
            None if pushes => PossibleDirectories::unknown(),
            None => PossibleDirectories::at("~"),
            Some(Some("-")) => self.directory.previous.clone().unwrap_or_else(PossibleDirectories::unknown),
            Some(Some(path)) if uses_cdpath && !path.starts_with(['/', '.', '~']) => PossibleDirectories::unknown(),
            Some(Some(path)) if !path.starts_with('+') => before.after_cd(path),
            Some(_) => PossibleDirectories::unknown(),
        };
        self.directory.change_to(to, pushes);
    }
}

/// Returns the names of variables in the operands.
fn operand_names(command: &SimpleCommand) -> Vec<VariableName<'_>> {
    let indices = command.arguments().into_iter().flat_map(|arguments| &arguments.operands);
    indices.filter_map(|index| command.words().get(*index)).map(|word| VariableName::of(word, 0)).collect()
}

/// Returns the known start of the name and the value, for a declaration whose name is only partly known:
/// `"x_$name=value"`.
fn partly_named(word: &Word) -> Option<(&str, Option<Value>)> {
    let text = Some(&word.shown).filter(|_| word.value.is_none())?;
    let (name, value) = text.split_once('=').map_or((text.as_str(), None), |(name, value)| (name, Some(value)));
    let VariableName::StartsWith(start) = VariableName::parse(name) else { return None };
    // The `=` may be part of an expansion.
    let value = value.filter(|value| !value.contains(['$', '`', '}', ')']));
    (!start.starts_with(['-', '+'])).then(|| (start, value.map(Value::literal)))
}

/// Returns the variable that `printf -v` sets, and the variable's value; the value is `None` if it is not known.
fn printf_variable(command: &SimpleCommand) -> Option<(VariableName<'_>, Option<String>)> {
    const FLAG: &str = "-v";
    let is_flag = |word: &Word| word.value.as_deref() == Some(FLAG);
    let has_flag = |word: &Word| word.value.as_deref().unwrap_or(&word.shown).starts_with(FLAG);
    let (name, arguments) = match command.words() {
        [_, flag, name, arguments @ ..] if is_flag(flag) => (VariableName::of(name, 0), arguments),
        [_, flag, arguments @ ..] if has_flag(flag) => (VariableName::of(flag, FLAG.len()), arguments),
        _ => return None,
    };
    let arguments: Option<Vec<&str>> = arguments.iter().map(|word| word.value.as_deref()).collect();
    Some((name, arguments.and_then(|arguments| printf(&arguments))))
}

/// True if the file has a name that is common for scripts that only set up the environment. The known end of a path is
/// enough: `"$(conda info --base)/etc/profile.d/conda.sh"`.
fn is_environment_script(file: &Word) -> bool {
    const NAMES: &[&str] = &[
        "activate",
        "asdf.sh",
        "bash_completion",
        "cargo",
        "conda.sh",
        "env",
        "env.bash",
        "env.sh",
        "environment",
        "environment.sh",
        "export.sh",
        "mamba.sh",
        "nvm.sh",
        "profile",
        "setenv.sh",
        "setup.bash",
        "setup.sh",
        "setup.zsh",
        "setup_env.sh",
        "setupvars.sh",
        "setvars.sh",
        "thisroot.sh",
        ".bashrc",
        ".bash_profile",
        ".envrc",
        ".profile",
        ".zprofile",
        ".zshenv",
        ".zshrc",
    ];
    const ENDINGS: &[&str] = &["-env.sh", "_env.sh", "-init.sh", ".env"];
    let path = file.value_or_placeholder().unwrap_or(&file.shown);
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name) || name.starts_with(".env") || ENDINGS.iter().any(|ending| name.ends_with(ending))
}
