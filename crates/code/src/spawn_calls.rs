//! Calls that start commands, and their options: working directory, environment, stdin.

use super::Language;
use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::spawn::{DIRECTORY_OPTIONS, Spawn, SpawnEnvironment, Stdin, UNKNOWN_WORD};
use super::value::{NAME_PLACEHOLDER, Value, WORD_PLACEHOLDER};

impl Evaluator {
    /// Returns the index of the options object in a JavaScript call, after `count_before` other arguments. Returns
    /// `None` for other languages, and if the argument at that index may be a callback.
    pub(super) fn options_index_after(&self, count_before: usize, name: &str, arguments: &Arguments) -> Option<usize> {
        let accepts_callback = matches!(name.rsplit('.').next(), Some("exec" | "execFile"));
        let has_options = !accepts_callback || arguments.positional.len() > count_before + 1;
        (self.language == Language::JavaScript && has_options).then_some(count_before)
    }

    /// True if the value is possibly an options object with unknown options.
    fn may_be_options(&self, value: &Value) -> bool {
        match value {
            Value::Unknown => true,
            Value::QualifiedName(name) => !self.is_undefined(name),
            _ => false,
        }
    }

    /// Returns the options that change how the command starts; `None` if there are none. `options_index` is the index
    /// of the options object.
    pub(super) fn spawn_options(
        &mut self,
        arguments: &Arguments,
        options_index: Option<usize>,
    ) -> Option<SpawnOptions> {
        self.findings.is_opaque |= arguments.option("executable").is_some();
        let string = |value: &Value| value.only_string().map(str::to_owned);
        let directory = DIRECTORY_OPTIONS.iter().find_map(|option| arguments.option(option));
        let directories = directory.map(|directory| match directory.strings() {
            Some(directories) => directories.into_iter().map(Some).collect(),
            None => vec![None],
        });
        let options = options_index.and_then(|index| arguments.positional.get(index));
        let has_unknown_options =
            arguments.may_have_unknown_options() || options.is_some_and(|options| self.may_be_options(options));
        let directories = directories.or_else(|| has_unknown_options.then(|| vec![None])).unwrap_or_default();
        let is_pipe = |value: &Value| matches!(value, Value::QualifiedName(name) if name == "subprocess.PIPE");
        let piped = arguments.option("stdin").filter(|value| is_pipe(value)).map(|_| None);
        let stdin = arguments.option("input").map(string).or(piped).map_or(Stdin::Inherited, Stdin::Piped);
        // In Ruby, environment variables are in the first argument, and are added to the environment of the analyzed
        // program.
        let is_ruby = self.language == Language::Ruby;
        let first = arguments.positional.first().filter(|_| is_ruby);
        let entries = match arguments.option("env").or(first) {
            Some(Value::Record(entries)) => Some(entries),
            _ => None,
        };
        let set = entries.into_iter().flatten().filter(|(name, _)| is_variable_name(name));
        let set = set.filter_map(|(name, value)| Some((name.clone(), string(value)?))).collect();
        // An entry with an empty key stands for copied variables, such as those of `{**os.environ}`.
        let is_cleared = !is_ruby && entries.is_some_and(|entries| entries.iter().all(|(name, _)| !name.is_empty()));
        let environment = SpawnEnvironment { unset: Vec::new(), is_cleared, set };
        let differs =
            !directories.is_empty() || stdin != Stdin::Inherited || environment != SpawnEnvironment::default();
        differs.then_some(SpawnOptions { directories, stdin, environment })
    }

    /// Records a command that consists of these words and the arguments of the call. Keyword arguments become flags,
    /// except `refspec` and `url`.
    pub(super) fn run_fixed_command(&mut self, words: &[&str], arguments: &Arguments) {
        let named = arguments.named.iter().map(|(name, value)| match (name.as_str(), value.only_string()) {
            ("refspec" | "url", _) => value.clone(),
            (name, Some(string)) => Value::string(format!("--{name}={string}")),
            (name, None) => Value::string(format!("--{}", name.replace('_', "-"))),
        });
        let words = words.iter().map(|word| Value::string(*word));
        let words: Vec<Value> = words.chain(arguments.flattened().into_iter().cloned()).chain(named).collect();
        self.spawn_words(&words, None);
    }

    /// Records the program or subcommand that the function is named after: `sh.git('reset')`,
    /// `repo.git.reset('--hard')`.
    pub(super) fn run_member_command(&mut self, name: &str, arguments: &Arguments) {
        let Some((words, members)) = self.dialect.split_member_command(name) else { return };
        let is_reset = members == ["reset"];
        let members = members.into_iter().map(|member| member.replace('_', "-"));
        let words = words.iter().map(|word| (*word).to_owned()).chain(members).map(Value::string);
        let named = arguments.named.iter().map(|(name, value)| match value.only_string() {
            Some(string) => Value::string(format!("--{name}={string}")),
            None => Value::string(format!("--{}", name.replace('_', "-"))),
        });
        let positional = arguments.flattened().into_iter().map(|value| match value.only_string() {
            // Libraries take the mode of a reset without dashes.
            Some("hard") if is_reset => Value::string("--hard"),
            _ => value.clone(),
        });
        let words: Vec<Value> = words.chain(positional).chain(named).collect();
        self.spawn_words(&words, None);
    }

    /// Records a script that the program runs in a shell.
    pub(super) fn spawn_shell(&mut self, command: Option<&Value>, spawn_options: Option<&SpawnOptions>) {
        match command.and_then(command_lines) {
            Some(strings) => {
                for string in strings {
                    self.spawn_with(Spawn::command_line(string), spawn_options);
                }
            }
            None => self.findings.is_opaque = true,
        }
    }

    /// Records a command, from its program and arguments. The program must be constant. If arguments have several
    /// possible values, one command is recorded for each combination. An argument that would lead to more than
    /// [`MAX_COMMANDS`] counts as not constant.
    pub(super) fn spawn_words<'v>(
        &mut self,
        words: impl IntoIterator<Item = &'v Value>,
        spawn_options: Option<&SpawnOptions>,
    ) {
        let mut commands: Vec<Vec<Option<String>>> = vec![Vec::new()];
        for word in words {
            let is_program = commands.iter().all(Vec::is_empty);
            let limit = if is_program { 1 } else { MAX_COMMANDS };
            let strings = word.strings().filter(|strings| strings.len() * commands.len() <= limit);
            let choices =
                strings.map_or_else(|| vec![None], |strings| strings.into_iter().map(Some).collect::<Vec<_>>());
            let with_word =
                |command: &Vec<_>, choice: &Option<String>| [command.as_slice(), std::slice::from_ref(choice)].concat();
            commands =
                commands.iter().flat_map(|command| choices.iter().map(|choice| with_word(command, choice))).collect();
        }
        for words in commands {
            self.spawn_command(words, spawn_options);
        }
    }

    fn spawn_command(&mut self, words: Vec<Option<String>>, spawn_options: Option<&SpawnOptions>) {
        match words.first() {
            Some(Some(_)) => self.spawn_with(Spawn::words(words), spawn_options),
            _ => self.findings.is_opaque = true,
        }
    }

    fn spawn_with(&mut self, spawn: Spawn, spawn_options: Option<&SpawnOptions>) {
        match spawn_options {
            None => self.findings.spawn(spawn),
            Some(spawn_options) => {
                spawn_options.applied_to(&spawn).into_iter().for_each(|spawn| self.findings.spawn(spawn));
            }
        }
    }

    /// Records a command that is given as a command line or as a list of words.
    pub(super) fn spawn_program(&mut self, name: &str, arguments: &Arguments, program: Option<&Value>) {
        let spawn_options = self.spawn_options(arguments, self.options_index_after(1, name, arguments));
        match program {
            Some(program @ (Value::List(_) | Value::OneOfLists(_))) => {
                for list in program.lists() {
                    let words = list.flattened();
                    if uses_shell(arguments) {
                        self.spawn_shell(words.first().copied(), spawn_options.as_ref());
                    }
                    self.spawn_words(words, spawn_options.as_ref());
                }
            }
            program => self.spawn_shell(program, spawn_options.as_ref()),
        }
    }

    /// Records the command that a call runs. A single argument is a shell script; several are a program and its
    /// arguments.
    pub(super) fn run_system(&mut self, arguments: &Arguments) {
        let spawn_options = self.spawn_options(arguments, None);
        // Perl's `system {program} words` runs the program in the block, and not the first word.
        self.findings.is_opaque |= self.language == Language::Perl
            && arguments.positional.len() != arguments.flattened().len()
            && arguments.positional.iter().any(|value| matches!(value, Value::Record(_)));
        self.findings.is_opaque |= arguments.positional.iter().any(|value| matches!(value, Value::OneOfLists(_)));
        match arguments.flattened().as_slice() {
            [command] => self.spawn_shell(Some(command), spawn_options.as_ref()),
            // The arguments are a command line, and possibly an object with unknown options.
            [command, options]
                if self.language == Language::Ruby && has_several_words(command) && self.may_be_options(options) =>
            {
                let in_unknown_directory = SpawnOptions { directories: vec![None], ..SpawnOptions::default() };
                self.spawn_shell(Some(command), Some(&in_unknown_directory));
            }
            words => self.spawn_words(words.iter().copied(), spawn_options.as_ref()),
        }
    }

    /// Records the command that a call runs. The first argument is the program, the second one the list of the
    /// program's arguments.
    pub(super) fn spawn_with_argument_list(&mut self, interpreter: Option<&str>, name: &str, arguments: &Arguments) {
        let spawn_options = self.spawn_options(arguments, self.options_index_after(2, name, arguments));
        let interpreter = interpreter.map(Value::string);
        let program: Vec<Value> = interpreter.into_iter().chain(arguments.positional.first().cloned()).collect();
        let lists = match arguments.positional.get(1) {
            Some(Value::Record(_)) | None => match arguments.option("args") {
                Some(list @ (Value::List(_) | Value::OneOfLists(_))) => list.lists(),
                Some(unknown) => vec![unknown.clone()],
                None => vec![Value::List(Vec::new())],
            },
            Some(list @ (Value::List(_) | Value::OneOfLists(_))) => list.lists(),
            Some(unknown) => vec![unknown.clone()],
        };
        for list in lists {
            let words = program.iter().chain(list.flattened());
            if uses_shell(arguments) {
                let command = words.cloned().reduce(|line, word| line.joined(&word, " "));
                self.spawn_shell(command.as_ref(), spawn_options.as_ref());
            } else {
                self.spawn_words(words, spawn_options.as_ref());
            }
        }
    }

    /// Records the command that a call runs. The first argument is the program. The program's `argv` is a list in the
    /// second argument, or consists of all further arguments.
    pub(super) fn run_exec(&mut self, arguments: &[Value]) {
        let Some((program, rest)) = arguments.split_first() else {
            self.findings.is_opaque = true;
            return;
        };
        self.findings.is_opaque |= rest.iter().any(|value| matches!(value, Value::OneOfLists(_)));
        // The first word is `argv[0]`, which is skipped.
        let words = match rest.first() {
            Some(Value::List(words)) => words.as_slice(),
            _ => rest,
        };
        self.spawn_words(std::iter::once(program).chain(words.iter().skip(1)), None);
    }
}

/// True if one of the possible command lines has several words.
fn has_several_words(command: &Value) -> bool {
    command.strings().is_some_and(|strings| strings.iter().any(|string| string.trim().contains(char::is_whitespace)))
}

/// Returns the possible command lines, in which [`UNKNOWN_WORD`] stands for an unknown word or part of a word. Returns
/// `None` if a program is unknown, or if an unknown part may contain spaces or quotes.
fn command_lines(command: &Value) -> Option<Vec<String>> {
    let has_known_programs = |string: &String| {
        let mut commands = string.split([';', '|', '&', '(', '`', '{', '\n']);
        commands.all(|command| !command.trim_start_matches(['"', '\'', ' ']).starts_with(WORD_PLACEHOLDER))
    };
    match command {
        Value::PartlyKnown { strings, is_path: false }
            if strings.iter().all(|string| !string.contains(NAME_PLACEHOLDER)) =>
        {
            let command_lines = strings.iter().map(|string| string.replace(WORD_PLACEHOLDER, UNKNOWN_WORD)).collect();
            strings.iter().all(has_known_programs).then_some(command_lines)
        }
        command => command.strings(),
    }
}

/// Returns the value of a command's stdout: one unknown word if the command prints the name of a git revision,
/// otherwise an unknown value.
pub(super) fn stdout_value(command: Option<&Value>) -> Value {
    let words: Option<Vec<&str>> =
        command.map(Value::flattened).and_then(|words| words.into_iter().map(Value::only_string).collect());
    match words {
        Some(words) if prints_revision_name(&words.join(" ")) => {
            Value::PartlyKnown { strings: vec![WORD_PLACEHOLDER.to_owned()], is_path: false }
        }
        _ => Value::Unknown,
    }
}

/// Git commands that print the name of a branch, a tag or a commit.
const REVISION_COMMANDS: &[&str] = &[
    "git branch --show-current",
    "git describe",
    "git rev-parse",
    "git merge-base",
    "git rev-list",
    "git symbolic-ref",
];

fn prints_revision_name(command: &str) -> bool {
    let is_revision_command = |revision_command: &&str| {
        command.strip_prefix(*revision_command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let is_plain = |character: char| character.is_ascii_alphanumeric() || " -_./@^~=".contains(character);
    REVISION_COMMANDS.iter().any(is_revision_command) && command.chars().all(is_plain)
}

/// The maximum number of commands that are recorded for one call whose arguments have several possible values.
const MAX_COMMANDS: usize = 16;

/// The working directory, stdin and environment of a command, where they differ from those of the analyzed program.
#[derive(Default)]
pub(super) struct SpawnOptions {
    /// The working directories in which the command can start; `None` for one that is not constant. Empty if the
    /// command inherits the working directory of the analyzed program.
    directories: Vec<Option<String>>,
    stdin: Stdin,
    environment: SpawnEnvironment,
}

impl SpawnOptions {
    /// Returns the command with these options, once for each directory in which it can start.
    fn applied_to(&self, spawn: &Spawn) -> Vec<Spawn> {
        let configured = Spawn { stdin: self.stdin.clone(), environment: self.environment.clone(), ..spawn.clone() };
        match self.directories.as_slice() {
            [] => vec![configured],
            directories => {
                let in_directory =
                    |directory: &Option<String>| Spawn { directories: vec![directory.clone()], ..configured.clone() };
                directories.iter().map(in_directory).collect()
            }
        }
    }
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

fn uses_shell(arguments: &Arguments) -> bool {
    match arguments.option("shell") {
        None => false,
        Some(Value::QualifiedName(name)) => !name.eq_ignore_ascii_case("false"),
        Some(_) => true,
    }
}
