//! What commands do to the shell that runs them: `cd`, `read`, `set`, `alias` and the like.

use std::borrow::Cow;
use std::rc::Rc;

use super::super::command::{Assignment, Folders, SimpleCommand, Word};
use super::super::copied::copies;
use super::super::line;
use super::super::output::printed_into;
use super::super::written::plain;
use super::{Array, Attribute, Name, Names, Positional, State, Value};

impl State {
    /// Does what a command of the shell itself does to it.
    pub(in super::super) fn run(&mut self, command: &SimpleCommand) {
        self.last_word = command.words.last().and_then(Value::of);
        let Some(program) = command.program() else { return };
        self.note_copies(command, program);
        self.note_deleted(command, program);
        let operands = || command.words.iter().skip(1);
        match program {
            "cd" | "pushd" => self.change_folder(command, program == "pushd"),
            "popd" => {
                self.previous = Some(self.folders.clone());
                self.folders = self.stack.pop().unwrap_or_else(Folders::unknown);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(command, program),
            "read" => self.read(command),
            "printf" => {
                if let Some((name, text)) = printed_into(command) {
                    self.assign_named(name, text.map(Value::plain));
                }
            }
            "unset" => {
                let is_function = operands().any(|word| word.value.as_deref() == Some("-f"));
                for word in operands() {
                    if !is_function {
                        self.removed.add(word.value.as_deref().unwrap_or_default());
                        self.assign_named(Name::of(word, 0), None);
                    }
                    match &word.value {
                        Some(name) => drop(Rc::make_mut(&mut self.functions).remove(name.as_str())),
                        None => self.doubt_functions(),
                    }
                }
            }
            "mapfile" | "readarray" => self.read_lines(command),
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
            "wait" => {
                let flags = command.arguments.iter().flat_map(|arguments| &arguments.flags);
                let value = flags.filter(|flag| flag.name == "-p").find_map(|flag| flag.value);
                if let Some((word, from)) = value.and_then(|value| Some((command.words.get(value.word)?, value.from))) {
                    self.assign_named(Name::of(word, from), Some(Value::some_number()));
                }
            }
            "set" => {
                self.set_options(command);
                let is_argument = |word: &&Word| !word.raw.starts_with(['-', '+']);
                let end = command.words.iter().position(|word| word.value.as_deref() == Some("--"));
                let start =
                    end.map(|end| end + 1).or_else(|| Some(1 + operands().position(|word| is_argument(&word))?));
                if let Some(arguments) = start.and_then(|start| command.words.get(start..)) {
                    self.positional = arguments.iter().map(Value::of).collect::<Positional>().into();
                }
            }
            "shopt" => {
                let is_on = operands().any(|word| word.value.as_deref() == Some("-s"));
                for name in operands().filter_map(|word| word.value.as_deref()) {
                    match name {
                        "lastpipe" => self.options.lastpipe = is_on,
                        "dotglob" => self.options.dotglob = is_on,
                        _ => {}
                    }
                }
            }
            "shift" => {
                let count = operands().next().map_or(Some(1), |word| word.value.as_deref()?.parse().ok());
                self.positional.shift(count);
            }
            "alias" => {
                let set = operands().filter_map(|word| word.value.as_deref()?.split_once('='));
                Rc::make_mut(&mut self.aliases).extend(set.map(|(name, text)| (name.into(), text.into())));
            }
            "unalias" => self.aliases = Names::default(),
            "hash" => {
                let words: Vec<Option<&str>> = operands().map(Word::meaning).collect();
                if let [Some("-p"), Some(program), Some(name)] = words.as_slice() {
                    self.rename(program, name);
                }
            }
            "git" => self.branches.follow(command),
            "mkdir" => {
                let made = operands().filter_map(Word::meaning).map(|path| self.folders.then(path));
                let made: Vec<String> = made.filter_map(|folders| folders.only().map(str::to_owned)).collect();
                Rc::make_mut(&mut self.made).extend(made);
            }
            // Those that only set up the environment go nowhere else.
            "source" | "." if operands().next().is_some_and(is_setup_file) => self.forget_settings(),
            // What it does is walked, where that is known.
            "source" | "." if command.script_text().is_some() => {}
            "source" | "." => self.forget(),
            _ => {}
        }
    }

    /// `set -eu`, `set +e`, `set -o errexit`.
    fn set_options(&mut self, command: &SimpleCommand) {
        let mut words = command.words.iter().skip(1).map_while(|word| word.value.as_deref());
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
        let operands = || command.words.iter().skip(1);
        let flags = || operands().filter_map(|word| word.value.as_deref()).filter(|text| text.starts_with('-'));
        // A reference to another variable, or several values.
        let changes = flags().any(|flag| flag.contains(['n', 'a', 'A']));
        let attribute = flags().filter(|_| program != "export").find_map(Attribute::of);
        let only_tells = flags().any(|flag| flag.contains(['p', 'f', 'F']));
        let is_global = flags().any(|flag| flag.contains('g'));
        let is_reference = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.contains('n');
        let refers = program != "export" && operands().any(|word| word.value.as_deref().is_some_and(is_reference));
        let is_flag =
            |word: &Word| word.value.as_deref().is_some_and(|text| text.starts_with('-') && text.contains('x'));
        let hides = |word: &Word| match word.value.as_deref() {
            Some("-n") => program == "export",
            Some(flag) => flag.starts_with('+') && flag.contains('x'),
            None => false,
        };
        let hides = operands().any(hides);
        let exports = !hides && (program == "export" || operands().any(is_flag));
        for word in operands() {
            let text = word.meaning().unwrap_or(&word.shown);
            if let Some((name, meant)) = text.split_once('=').filter(|_| refers) {
                match word.value {
                    Some(_) => drop(Rc::make_mut(&mut self.references).insert(name.into(), meant.into())),
                    None => self.forget(),
                }
                continue;
            }
            if let Some((start, value)) = unnamed(word) {
                if !only_tells {
                    self.may_assign_any(start, value.filter(|_| !changes).as_ref());
                }
                continue;
            }
            let name = text.split(['=', '+']).next().unwrap_or(text);
            if hides {
                self.removed.add(name);
            }
            let is_local = matches!(program, "local" | "declare" | "typeset") && !is_global;
            if is_local && !self.locals.is_empty() {
                let before = self.before(name);
                if let Some(locals) = self.locals.last_mut() {
                    Rc::make_mut(locals).entry(name.into()).or_insert(before);
                }
            }
            if let Some(attribute) = attribute.filter(|_| !name.starts_with(['-', '+'])) {
                Rc::make_mut(&mut self.attributes).insert(name.into(), attribute);
            }
            if let Some(value) = word.shown.strip_prefix("PATH=") {
                self.path = Some(value.to_owned());
            }
            if let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.starts_with('-')) {
                // Outside of a function, nothing can be local to it.
                let fails = program == "local" && self.locals.is_empty();
                let known = word.meaning().is_some() && !changes && !fails;
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
            if exports {
                self.export_name(text.split('=').next().unwrap_or(text));
            }
        }
    }

    /// Folders that are deleted; one that is named again may be there again.
    fn note_deleted(&mut self, command: &SimpleCommand, program: &str) {
        let removes = matches!(program, "rm" | "rmdir");
        if !removes && self.deleted.is_empty() {
            return;
        }
        let named = command.words.iter().skip(1).filter_map(Word::meaning).map(|path| self.folders.then(path));
        let named: Vec<String> = named.filter_map(|folders| folders.only().map(plain)).collect();
        let deleted = Rc::make_mut(&mut self.deleted);
        match program {
            _ if removes => deleted.extend(named),
            "cd" | "pushd" => {}
            _ => deleted.retain(|path| !named.contains(path)),
        }
    }

    /// A copy of a program, or a link to one, is that program.
    fn note_copies(&mut self, command: &SimpleCommand, program: &str) {
        let copies = command.arguments.as_ref().map(|arguments| copies(command, program, arguments));
        for copy in copies.into_iter().flatten() {
            self.rename(copy.from, copy.to);
            if let Some(path) = copy.within() {
                self.rename(copy.from, &path);
            }
        }
    }

    /// `read NAME`: the line, or a word of it for each name.
    fn read(&mut self, command: &SimpleCommand) {
        let mut names = operand_names(command);
        let flags = || command.arguments.iter().flat_map(|arguments| &arguments.flags);
        let value = |name: &str| flags().find(|flag| flag.name == name).and_then(|flag| flag.value);
        let array = value("-a").and_then(|array| Some(Name::of(command.words.get(array.word)?, array.from)));
        let is_raw = flags().any(|flag| flag.name == "-r");
        let own = command.assignments.iter().rfind(|set| set.name == "IFS");
        let separators = match own {
            Some(set) => set.value.value.clone(),
            None => self.separators().map(Cow::into_owned),
        };
        let line = line::read_by(command).filter(|line| is_raw || !line.contains('\\')).zip(separators);
        if let Some(array) = array {
            let words = line.map(|(line, separators)| line::fields(line, &separators, usize::MAX));
            return self.assign_elements(array, words.map(|words| words.into_iter().map(Value::plain).collect()));
        }
        if names.is_empty() {
            names.push(Name::Known("REPLY"));
        }
        let words = line.map(|(line, separators)| line::fields(line, &separators, names.len()));
        for (place, name) in names.iter().enumerate() {
            let word = words.as_ref().map(|words| words.get(place).copied().unwrap_or_default());
            self.assign_named(*name, word.map(Value::plain));
        }
    }

    /// `mapfile -t NAME`: each line is an element.
    fn read_lines(&mut self, command: &SimpleCommand) {
        const NAME: &str = "MAPFILE";
        let name = operand_names(command).first().copied().unwrap_or(Name::Known(NAME));
        let has_flags = command.arguments.iter().flat_map(|arguments| &arguments.flags).any(|flag| flag.name != "-t");
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
            .words
            .iter()
            .skip(1)
            .filter(|word| !matches!(word.value.as_deref(), Some("-L" | "-P" | "-e" | "--")));
        let before = self.folders.clone();
        let target = operands.next();
        let is_set = |set: &Assignment| set.name == "CDPATH" && set.value.value.as_deref() != Some("");
        let looks_elsewhere = self.variables.contains_key("CDPATH") || command.assignments.iter().any(is_set);
        self.folders = match target.map(Word::meaning) {
            _ if operands.next().is_some() => Folders::unknown(),
            None if keeps => Folders::unknown(),
            None => Folders::at("~"),
            Some(Some("-")) => self.previous.clone().unwrap_or_else(Folders::unknown),
            Some(Some(path)) if looks_elsewhere && !path.starts_with(['/', '.', '~']) => Folders::unknown(),
            Some(Some(path)) if !path.starts_with('+') => before.then(path),
            Some(_) => Folders::unknown(),
        };
        let is_made = self.folders.only().is_some_and(|folder| self.made.contains(folder));
        self.failed = (!is_made).then(|| before.clone());
        self.is_gone = self.folders.only().is_some_and(|folder| self.deleted.contains(&plain(folder)));
        if keeps {
            self.stack.push(before.clone());
        }
        self.previous = Some(before);
    }
}

/// The variables that its operands are.
fn operand_names(command: &SimpleCommand) -> Vec<Name<'_>> {
    let places = command.arguments.iter().flat_map(|arguments| &arguments.operands);
    places.filter_map(|place| command.words.get(*place)).map(|word| Name::of(word, 0)).collect()
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

/// Whether a file is called as those are that only set up the environment. `"$(conda info --base)/etc/profile.d/conda.sh"` is
/// known by its end.
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
