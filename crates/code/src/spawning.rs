//! Calls that start programs.

use super::Language;
use super::arguments::Arguments;
use super::reader::Reader;
use super::spawn::{DIRECTORY_OPTIONS, Spawn, SpawnEnvironment, Stdin, UNKNOWN_WORD};
use super::value::{SOME_NAME, SOME_WORD, Value};

impl Reader {
    /// Where the options of a call of Node stand, behind so many other arguments. Where a function may stand as well, they
    /// are there if something follows.
    pub(super) fn options_behind(&self, others: usize, name: &str, arguments: &Arguments) -> Option<usize> {
        let takes_function = matches!(name.rsplit('.').next(), Some("exec" | "execFile"));
        let are_there = !takes_function || arguments.positional.len() > others + 1;
        (self.language == Language::Node && are_there).then_some(others)
    }

    /// Whether options may be in it that nobody sees.
    fn may_be_options(&self, value: &Value) -> bool {
        match value {
            Value::Unknown => true,
            Value::Thing(name) => !self.is_nothing(name),
            _ => false,
        }
    }

    /// A program that is another than its words say; and what it finds when it starts, where that is not what all find.
    /// `options`: the place where they stand, if they do.
    pub(super) fn started_elsewhere(&mut self, arguments: &Arguments, options: Option<usize>) -> Option<Start> {
        self.found.hidden |= arguments.option("executable").is_some();
        let text = |value: &Value| value.only_text().map(str::to_owned);
        let folder = DIRECTORY_OPTIONS.iter().find_map(|option| arguments.option(option));
        let folders = folder.map(|folder| match folder.texts() {
            Some(folders) => folders.into_iter().map(Some).collect(),
            None => vec![None],
        });
        let options = options.and_then(|place| arguments.positional.get(place));
        let are_unseen = arguments.has_unseen_options() || options.is_some_and(|options| self.may_be_options(options));
        let folders = folders.or_else(|| are_unseen.then(|| vec![None])).unwrap_or_default();
        let is_pipe = |value: &Value| matches!(value, Value::Thing(name) if name == "subprocess.PIPE");
        let piped = arguments.option("stdin").filter(|value| is_pipe(value)).map(|_| None);
        let stdin = arguments.option("input").map(text).or(piped).map_or(Stdin::Inherited, Stdin::Given);
        // Ruby takes them first, and adds them to those that are there.
        let is_ruby = self.language == Language::Ruby;
        let first = arguments.positional.first().filter(|_| is_ruby);
        let entries = match arguments.option("env").or(first) {
            Some(Value::Record(entries)) => Some(entries),
            _ => None,
        };
        let set = entries.into_iter().flatten().filter(|(name, _)| is_variable(name));
        let set = set.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect();
        // The entry without a name stands for others that are taken over: `{**os.environ}`.
        let is_cleared = !is_ruby && entries.is_some_and(|entries| entries.iter().all(|(name, _)| !name.is_empty()));
        let environment = SpawnEnvironment { unset: Vec::new(), is_cleared, set };
        let is_other = !folders.is_empty() || stdin != Stdin::Inherited || environment != SpawnEnvironment::default();
        is_other.then_some(Start { folders, stdin, environment })
    }

    /// With what it is given behind these words; what it is given under a name is a flag.
    pub(super) fn called(&mut self, words: &[&str], arguments: &Arguments) {
        let named = arguments.named.iter().map(|(name, value)| match (name.as_str(), value.only_text()) {
            ("refspec" | "url", _) => value.clone(),
            (name, Some(text)) => Value::text(format!("--{name}={text}")),
            (name, None) => Value::text(format!("--{}", name.replace('_', "-"))),
        });
        let words = words.iter().map(|word| Value::text(*word));
        let words: Vec<Value> = words.chain(arguments.flat().into_iter().cloned()).chain(named).collect();
        self.words(&words, None);
    }

    /// A program under its own name: `sh.git('reset')`, `repo.git.reset('--hard')`.
    pub(super) fn form(&mut self, name: &str, arguments: &Arguments) {
        let Some((words, members)) = self.dialect.form_words(name) else { return };
        let is_reset = members == ["reset"];
        let members = members.into_iter().map(|member| member.replace('_', "-"));
        let words = words.iter().map(|word| (*word).to_owned()).chain(members).map(Value::text);
        let named = arguments.named.iter().map(|(name, value)| match value.only_text() {
            Some(text) => Value::text(format!("--{name}={text}")),
            None => Value::text(format!("--{}", name.replace('_', "-"))),
        });
        let given = arguments.flat().into_iter().map(|value| match value.only_text() {
            // The mode of a reset, as libraries have it.
            Some("hard") if is_reset => Value::text("--hard"),
            _ => value.clone(),
        });
        let words: Vec<Value> = words.chain(given).chain(named).collect();
        self.words(&words, None);
    }

    pub(super) fn shell(&mut self, command: Option<&Value>, start: Option<&Start>) {
        match command.and_then(command_texts) {
            Some(texts) => {
                for text in texts {
                    self.start(Spawn::text(text), start);
                }
            }
            None => self.found.hidden = true,
        }
    }

    /// Only the program has to be known. Of other words that may be one of several, each is given to it.
    pub(super) fn words<'v>(&mut self, words: impl IntoIterator<Item = &'v Value>, start: Option<&Start>) {
        let mut commands: Vec<Vec<Option<String>>> = vec![Vec::new()];
        for word in words {
            let is_program = commands.iter().all(Vec::is_empty);
            let most = if is_program { 1 } else { MAX_COMMANDS };
            let texts = word.texts().filter(|texts| texts.len() * commands.len() <= most);
            let choices = texts.map_or_else(|| vec![None], |texts| texts.into_iter().map(Some).collect::<Vec<_>>());
            let with =
                |command: &Vec<_>, choice: &Option<String>| [command.as_slice(), std::slice::from_ref(choice)].concat();
            commands = commands.iter().flat_map(|command| choices.iter().map(|choice| with(command, choice))).collect();
        }
        for words in commands {
            self.command(words, start);
        }
    }

    fn command(&mut self, words: Vec<Option<String>>, start: Option<&Start>) {
        match words.first() {
            Some(Some(_)) => self.start(Spawn::words(words), start),
            _ => self.found.hidden = true,
        }
    }

    fn start(&mut self, spawn: Spawn, start: Option<&Start>) {
        match start {
            None => self.found.spawn(spawn),
            Some(start) => start.applied_to(&spawn).into_iter().for_each(|spawn| self.found.spawn(spawn)),
        }
    }

    pub(super) fn program(&mut self, name: &str, arguments: &Arguments, program: Option<&Value>) {
        let start = self.started_elsewhere(arguments, self.options_behind(1, name, arguments));
        match program {
            Some(program @ (Value::List(_) | Value::OneOf(_))) => {
                for list in program.lists() {
                    let words = list.flat();
                    if uses_shell(arguments) {
                        self.shell(words.first().copied(), start.as_ref());
                    }
                    self.words(words, start.as_ref());
                }
            }
            program => self.shell(program, start.as_ref()),
        }
    }

    pub(super) fn system(&mut self, arguments: &Arguments) {
        let start = self.started_elsewhere(arguments, None);
        // Perl's `system {program} words`.
        self.found.hidden |= self.language == Language::Perl
            && arguments.positional.len() != arguments.flat().len()
            && arguments.positional.iter().any(|value| matches!(value, Value::Record(_)));
        self.found.hidden |= arguments.positional.iter().any(|value| matches!(value, Value::OneOf(_)));
        match arguments.flat().as_slice() {
            [command] => self.shell(Some(command), start.as_ref()),
            // A command line, and options that nobody sees.
            [command, options]
                if self.language == Language::Ruby && is_line(command) && self.may_be_options(options) =>
            {
                let anywhere = Start { folders: vec![None], ..Start::default() };
                self.shell(Some(command), Some(&anywhere));
            }
            words => self.words(words.iter().copied(), start.as_ref()),
        }
    }

    pub(super) fn spawn(&mut self, interpreter: Option<&str>, name: &str, arguments: &Arguments) {
        let start = self.started_elsewhere(arguments, self.options_behind(2, name, arguments));
        let interpreter = interpreter.map(Value::text);
        let program: Vec<Value> = interpreter.into_iter().chain(arguments.positional.first().cloned()).collect();
        let given = match arguments.positional.get(1) {
            Some(Value::Record(_)) | None => match arguments.option("args") {
                Some(list @ (Value::List(_) | Value::OneOf(_))) => list.lists(),
                Some(unknown) => vec![unknown.clone()],
                None => vec![Value::List(Vec::new())],
            },
            Some(list @ (Value::List(_) | Value::OneOf(_))) => list.lists(),
            Some(unknown) => vec![unknown.clone()],
        };
        for more in given {
            let words = program.iter().chain(more.flat());
            if uses_shell(arguments) {
                let command = words.cloned().reduce(|one, other| one.joined(&other, " "));
                self.shell(command.as_ref(), start.as_ref());
            } else {
                self.words(words, start.as_ref());
            }
        }
    }

    pub(super) fn exec(&mut self, arguments: &[Value]) {
        let Some((program, rest)) = arguments.split_first() else {
            self.found.hidden = true;
            return;
        };
        self.found.hidden |= rest.iter().any(|value| matches!(value, Value::OneOf(_)));
        // The first of these is the name that the program sees.
        let words = match rest.first() {
            Some(Value::List(words)) => words.as_slice(),
            _ => rest,
        };
        self.words(std::iter::once(program).chain(words.iter().skip(1)), None);
    }
}

/// Whether it is more than a word.
fn is_line(command: &Value) -> bool {
    command.texts().is_some_and(|texts| texts.iter().any(|text| text.trim().contains(char::is_whitespace)))
}

/// The commands that a text may be, with words in it that nobody knows: arguments, and no programs.
fn command_texts(command: &Value) -> Option<Vec<String>> {
    let names_programs = |text: &String| {
        let mut commands = text.split([';', '|', '&', '(', '`', '{', '\n']);
        commands.all(|command| !command.trim_start_matches(['"', '\'', ' ']).starts_with(SOME_WORD))
    };
    match command {
        Value::Like { texts, is_path: false } if texts.iter().all(|text| !text.contains(SOME_NAME)) => {
            let filled = texts.iter().map(|text| text.replace(SOME_WORD, UNKNOWN_WORD)).collect();
            texts.iter().all(names_programs).then_some(filled)
        }
        command => command.texts(),
    }
}

/// What a program prints that the text has started, where that is no more than a word.
pub(super) fn printed(command: Option<&Value>) -> Value {
    let words: Option<Vec<&str>> =
        command.map(Value::flat).and_then(|words| words.into_iter().map(Value::only_text).collect());
    match words {
        Some(words) if names_something(&words.join(" ")) => {
            Value::Like { texts: vec![SOME_WORD.to_owned()], is_path: false }
        }
        _ => Value::Unknown,
    }
}

/// Forms of git that print the name of a branch, a tag or a commit.
const NAMING: &[&str] = &[
    "git branch --show-current",
    "git describe",
    "git rev-parse",
    "git merge-base",
    "git rev-list",
    "git symbolic-ref",
];

fn names_something(command: &str) -> bool {
    let is_form =
        |form: &&str| command.strip_prefix(*form).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " -_./@^~=".contains(letter);
    NAMING.iter().any(is_form) && command.chars().all(is_plain)
}

/// More are as good as any.
const MAX_COMMANDS: usize = 16;

/// How a program starts, where that differs from the circumstances of the text.
#[derive(Default)]
pub(super) struct Start {
    /// The directories that it may start in, `None` for one that is not constant. Empty: that of the text.
    folders: Vec<Option<String>>,
    stdin: Stdin,
    environment: SpawnEnvironment,
}

impl Start {
    /// The program, once for each directory that it may start in.
    fn applied_to(&self, spawn: &Spawn) -> Vec<Spawn> {
        let here = Spawn { stdin: self.stdin.clone(), environment: self.environment.clone(), ..spawn.clone() };
        match self.folders.as_slice() {
            [] => vec![here],
            folders => {
                let at = |folder: &Option<String>| Spawn { directories: vec![folder.clone()], ..here.clone() };
                folders.iter().map(at).collect()
            }
        }
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn uses_shell(arguments: &Arguments) -> bool {
    match arguments.option("shell") {
        None => false,
        Some(Value::Thing(name)) => !name.eq_ignore_ascii_case("false"),
        Some(_) => true,
    }
}
