//! What commands do to the shell that runs them: `cd`, `read`, `set`, `alias` and the like.

use std::borrow::Cow;
use std::rc::Rc;

use super::declaration::{Declaration, Visibility};
use super::{Array, Name, Names, Positional, State, Value};
use crate::model::{Assignment, Folders, SimpleCommand, Word};
use crate::special_programs::copied::copies;
use crate::special_programs::known_output::printf;
use crate::special_programs::read_line;

impl State {
    /// Does what a command of the shell itself does to it.
    pub(crate) fn run(&mut self, command: &SimpleCommand) {
        self.parameters.last_word = command.words().last().and_then(Value::of);
        let Some(program) = command.program() else { return };
        self.note_copies(command, program);
        self.directory.note_deleted(command, program);
        let operands = || command.words().iter().skip(1);
        match program {
            "cd" | "pushd" => self.change_folder(command, program == "pushd"),
            "popd" => self.directory.pop(),
            "mkdir" => self.directory.note_made(operands().filter_map(Word::meaning)),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(command, program),
            "read" => self.read(command),
            "mapfile" | "readarray" => self.read_lines(command),
            "printf" => {
                if let Some((name, text)) = printed_into(command) {
                    self.assign_named(name, text.map(Value::plain));
                }
            }
            "unset" => self.unset(command),
            "let" => {
                for word in operands() {
                    self.count_or_forget(word.value.as_deref().unwrap_or(&word.shown));
                }
            }
            "getopts" => {
                let name = operands().nth(1).map(|word| Name::of(word, 0));
                for name in name.into_iter().chain([Name::Known("OPTARG")]) {
                    self.assign_named(name, None);
                }
            }
            "wait" => self.wait(command),
            "set" => self.set(command),
            "shopt" => self.set_shell_options(command),
            "shift" => {
                let count = operands().next().map_or(Some(1), |word| word.value.as_deref()?.parse().ok());
                self.parameters.positional.shift(count);
            }
            "alias" | "unalias" | "hash" => self.name_commands(command, program),
            "git" => self.branches.follow(command),
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
                self.assign_named(Name::of(word, 0), None);
            }
            match &word.value {
                Some(name) => drop(Rc::make_mut(&mut self.commands.functions).remove(name.as_str())),
                None => self.commands.doubt_functions(),
            }
        }
    }

    /// `wait -p NAME`
    fn wait(&mut self, command: &SimpleCommand) {
        let flags = command.arguments().into_iter().flat_map(|arguments| &arguments.flags);
        let value = flags.filter(|flag| flag.name == "-p").find_map(|flag| flag.value);
        if let Some((word, from)) = value.and_then(|value| Some((command.words().get(value.word)?, value.from))) {
            self.assign_named(Name::of(word, from), Some(Value::some_number()));
        }
    }

    /// `set -e`, `set -- a b`
    fn set(&mut self, command: &SimpleCommand) {
        self.set_options(command);
        let words = command.words();
        let is_argument = |word: &Word| !word.raw.starts_with(['-', '+']);
        let end = words.iter().position(|word| word.value.as_deref() == Some("--"));
        let start = end.map(|end| end + 1).or_else(|| Some(1 + words.iter().skip(1).position(is_argument)?));
        if let Some(arguments) = start.and_then(|start| words.get(start..)) {
            self.parameters.positional = arguments.iter().map(Value::of).collect::<Positional>().into();
        }
    }

    /// `shopt -s dotglob`
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

    /// `alias x=y`, `hash -p /bin/x y`
    fn name_commands(&mut self, command: &SimpleCommand, program: &str) {
        let operands = || command.words().iter().skip(1);
        match program {
            "alias" => {
                let set = operands().filter_map(|word| word.value.as_deref()?.split_once('='));
                Rc::make_mut(&mut self.commands.aliases).extend(set.map(|(name, text)| (name.into(), text.into())));
            }
            "unalias" => self.commands.aliases = Names::default(),
            _ => {
                let words: Vec<Option<&str>> = operands().map(Word::meaning).collect();
                if let [Some("-p"), Some(program), Some(name)] = words.as_slice() {
                    self.commands.rename(program, name);
                }
            }
        }
    }

    fn source(&mut self, command: &SimpleCommand) {
        if command.words().get(1).is_some_and(is_setup_file) {
            // Those that only set up the environment go nowhere else.
            self.forget_settings();
        } else if command.script_text().is_none() {
            // Otherwise, what it does is walked.
            self.forget();
        }
    }

    /// `set -eu`, `set +e`, `set -o errexit`.
    fn set_options(&mut self, command: &SimpleCommand) {
        let mut words = command.words().iter().skip(1).map_while(|word| word.value.as_deref());
        while let Some(word) = words.next().filter(|word| *word != "--") {
            let Some(letters) = word.strip_prefix(['-', '+']) else { break };
            let is_on = word.starts_with('-');
            let name = if letters.contains('o') { words.next() } else { None };
            if letters.contains('e') || name == Some("errexit") {
                self.failing.ends = is_on;
            }
            if letters.contains('a') || name == Some("allexport") {
                self.options.exports_all = is_on;
            }
        }
    }

    /// `export A=1`, `local b`.
    fn declare(&mut self, command: &SimpleCommand, program: &str) {
        let declaration = Declaration::of(command, program);
        for word in command.words().iter().skip(1) {
            self.declare_one(&declaration, word);
        }
    }

    fn declare_one(&mut self, declaration: &Declaration, word: &Word) {
        let text = word.meaning().unwrap_or(&word.shown);
        if let Some((name, meant)) = text.split_once('=').filter(|_| declaration.refers) {
            match word.value {
                Some(_) => drop(Rc::make_mut(&mut self.variables.references).insert(name.into(), meant.into())),
                None => self.forget(),
            }
            return;
        }
        if let Some((start, value)) = unnamed(word) {
            if !declaration.only_tells {
                self.may_assign_any(start, value.filter(|_| !declaration.changes).as_ref());
            }
            return;
        }
        let name = text.split(['=', '+']).next().unwrap_or(text);
        self.variables.declare(declaration, name);
        if let Some(value) = word.shown.strip_prefix("PATH=") {
            self.variables.path = Some(value.to_owned());
        }
        if let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.starts_with('-')) {
            // Outside of a function, nothing can be local to it.
            let fails = declaration.program == "local" && self.variables.locals.is_empty();
            let known = word.meaning().is_some() && !declaration.changes && !fails;
            let value = known.then(|| Value {
                glob: word.glob,
                tilde: value.starts_with('~') || word.tilde,
                in_kind: word.value.is_none(),
                ..Value::plain(value)
            });
            match name.strip_suffix('+') {
                Some(name) => self.assign(name, value.and_then(|more| self.extended(name, &more))),
                None => self.assign(name, value),
            }
        }
        if declaration.visibility == Visibility::Exported {
            self.variables.export_name(text.split('=').next().unwrap_or(text));
        }
    }

    /// A copy of a program, or a link to one, is that program.
    fn note_copies(&mut self, command: &SimpleCommand, program: &str) {
        let copies = command.arguments().map(|arguments| copies(command, program, arguments));
        for copy in copies.into_iter().flatten() {
            self.commands.rename(copy.from, copy.to);
            if let Some(path) = copy.within() {
                self.commands.rename(copy.from, &path);
            }
        }
    }

    /// `read NAME`: the line, or a word of it for each name.
    fn read(&mut self, command: &SimpleCommand) {
        let mut names = operand_names(command);
        let flags = || command.arguments().into_iter().flat_map(|arguments| &arguments.flags);
        let value = |name: &str| flags().find(|flag| flag.name == name).and_then(|flag| flag.value);
        let array = value("-a").and_then(|array| Some(Name::of(command.words().get(array.word)?, array.from)));
        let is_raw = flags().any(|flag| flag.name == "-r");
        let own = command.assignments().iter().rfind(|set| set.name == "IFS");
        let separators = match own {
            Some(set) => set.value.value.clone(),
            None => self.variables.separators().map(Cow::into_owned),
        };
        let line = read_line::read_by(command).filter(|line| is_raw || !line.contains('\\')).zip(separators);
        if let Some(array) = array {
            let words = line.map(|(line, separators)| read_line::fields(line, &separators, usize::MAX));
            return self.assign_elements(array, words.map(|words| words.into_iter().map(Value::plain).collect()));
        }
        if names.is_empty() {
            names.push(Name::Known("REPLY"));
        }
        let words = line.map(|(line, separators)| read_line::fields(line, &separators, names.len()));
        for (place, name) in names.iter().enumerate() {
            let word = words.as_ref().map(|words| words.get(place).copied().unwrap_or_default());
            self.assign_named(*name, word.map(Value::plain));
        }
    }

    /// `mapfile -t NAME`: each line is an element.
    fn read_lines(&mut self, command: &SimpleCommand) {
        const NAME: &str = "MAPFILE";
        let name = operand_names(command).first().copied().unwrap_or(Name::Known(NAME));
        let has_flags =
            command.arguments().into_iter().flat_map(|arguments| &arguments.flags).any(|flag| flag.name != "-t");
        let text = command.given_text().filter(|_| !has_flags);
        self.assign_elements(name, text.map(|text| text.lines().map(Value::plain).collect()));
    }

    fn assign_elements(&mut self, name: Name, elements: Option<Vec<Value>>) {
        match (name, elements) {
            (Name::Known(name), Some(elements)) => self.assign_array(name, Array::List(elements)),
            // Without an index, an array is its first element.
            (name, elements) => self.assign_named(name, elements.and_then(|elements| elements.into_iter().next())),
        }
    }

    fn change_folder(&mut self, command: &SimpleCommand, keeps: bool) {
        let mut operands = command
            .words()
            .iter()
            .skip(1)
            .filter(|word| !matches!(word.value.as_deref(), Some("-L" | "-P" | "-e" | "--")));
        let before = self.directory.folders.clone();
        let target = operands.next();
        let is_set = |set: &Assignment| set.name == "CDPATH" && set.value.value.as_deref() != Some("");
        let looks_elsewhere = self.variables.values.contains_key("CDPATH") || command.assignments().iter().any(is_set);
        let to = match target.map(Word::meaning) {
            _ if operands.next().is_some() => Folders::unknown(),
            None if keeps => Folders::unknown(),
            None => Folders::at("~"),
            Some(Some("-")) => self.directory.previous.clone().unwrap_or_else(Folders::unknown),
            Some(Some(path)) if looks_elsewhere && !path.starts_with(['/', '.', '~']) => Folders::unknown(),
            Some(Some(path)) if !path.starts_with('+') => before.then(path),
            Some(_) => Folders::unknown(),
        };
        self.directory.go(to, keeps);
    }
}

/// The variables that its operands are.
fn operand_names(command: &SimpleCommand) -> Vec<Name<'_>> {
    let places = command.arguments().into_iter().flat_map(|arguments| &arguments.operands);
    places.filter_map(|place| command.words().get(*place)).map(|word| Name::of(word, 0)).collect()
}

/// `"x_$name=value"`: what the name of a declared variable begins with, where it is not known, and the value.
fn unnamed(word: &Word) -> Option<(&str, Option<Value>)> {
    let text = Some(&word.shown).filter(|_| word.value.is_none())?;
    let (name, value) = text.split_once('=').map_or((text.as_str(), None), |(name, value)| (name, Some(value)));
    let Name::BeginsWith(start) = Name::as_written(name) else { return None };
    // The `=` may stand in an expansion.
    let value = value.filter(|value| !value.contains(['$', '`', '}', ')']));
    (!start.starts_with(['-', '+'])).then(|| (start, value.map(Value::plain)))
}

/// The variable that `printf -v` sets, and what to; `None` for a text that is not known.
fn printed_into(command: &SimpleCommand) -> Option<(Name<'_>, Option<String>)> {
    const FLAG: &str = "-v";
    let is_flag = |word: &Word| word.value.as_deref() == Some(FLAG);
    let has_flag = |word: &Word| word.value.as_deref().unwrap_or(&word.shown).starts_with(FLAG);
    let (name, arguments) = match command.words() {
        [_, flag, name, arguments @ ..] if is_flag(flag) => (Name::of(name, 0), arguments),
        [_, flag, arguments @ ..] if has_flag(flag) => (Name::of(flag, FLAG.len()), arguments),
        _ => return None,
    };
    let arguments: Option<Vec<&str>> = arguments.iter().map(|word| word.value.as_deref()).collect();
    Some((name, arguments.and_then(|arguments| printf(&arguments))))
}

/// Whether a file is called as those are that only set up the environment.
/// `"$(conda info --base)/etc/profile.d/conda.sh"` is known by its end.
fn is_setup_file(file: &Word) -> bool {
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
    let path = file.meaning().unwrap_or(&file.shown);
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name) || name.starts_with(".env") || ENDINGS.iter().any(|ending| name.ends_with(ending))
}
