//! Calls that start programs.

use super::Language;
use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::spawn::{DIRECTORY_OPTIONS, Spawn, SpawnEnvironment, Stdin, UNKNOWN_WORD};
use super::value::{SOME_NAME, SOME_WORD, Value};

impl Evaluator {
    /// Returns the position of the options object of a Node call, after `others` arguments. If the function also
    /// accepts a callback there, it is an options object only if another argument follows.
    pub(super) fn options_position(&self, others: usize, name: &str, arguments: &Arguments) -> Option<usize> {
        let takes_function = matches!(name.rsplit('.').next(), Some("exec" | "execFile"));
        let any_found = !takes_function || arguments.positional.len() > others + 1;
        (self.language == Language::Node && any_found).then_some(others)
    }

    /// True if the value may hold options that are not known.
    fn may_be_options(&self, value: &Value) -> bool {
        match value {
            Value::Unknown => true,
            Value::QualifiedName(name) => !self.is_undefined(name),
            _ => false,
        }
    }

    /// Returns the options that change how the command starts, or `None` if there are none. `options` is the position
    /// of the options object.
    pub(super) fn spawn_options(&mut self, arguments: &Arguments, options: Option<usize>) -> Option<SpawnOptions> {
        self.findings.is_opaque |= arguments.option("executable").is_some();
        let string = |value: &Value| value.only_string().map(str::to_owned);
        let directory = DIRECTORY_OPTIONS.iter().find_map(|option| arguments.option(option));
        let directories = directory.map(|directory| match directory.strings() {
            Some(directories) => directories.into_iter().map(Some).collect(),
            None => vec![None],
        });
        let options = options.and_then(|place| arguments.positional.get(place));
        let are_unseen =
            arguments.may_have_unknown_options() || options.is_some_and(|options| self.may_be_options(options));
        let directories = directories.or_else(|| are_unseen.then(|| vec![None])).unwrap_or_default();
        let is_pipe = |value: &Value| matches!(value, Value::QualifiedName(name) if name == "subprocess.PIPE");
        let piped = arguments.option("stdin").filter(|value| is_pipe(value)).map(|_| None);
        let stdin = arguments.option("input").map(string).or(piped).map_or(Stdin::Inherited, Stdin::Piped);
        // Ruby takes the variables as the first argument, and adds them to its own.
        let is_ruby = self.language == Language::Ruby;
        let first = arguments.positional.first().filter(|_| is_ruby);
        let entries = match arguments.option("env").or(first) {
            Some(Value::Record(entries)) => Some(entries),
            _ => None,
        };
        let set = entries.into_iter().flatten().filter(|(name, _)| is_variable(name));
        let set = set.filter_map(|(name, value)| Some((name.clone(), string(value)?))).collect();
        // The empty key stands for variables that are copied from elsewhere: `{**os.environ}`.
        let is_cleared = !is_ruby && entries.is_some_and(|entries| entries.iter().all(|(name, _)| !name.is_empty()));
        let environment = SpawnEnvironment { unset: Vec::new(), is_cleared, set };
        let is_other =
            !directories.is_empty() || stdin != Stdin::Inherited || environment != SpawnEnvironment::default();
        is_other.then_some(SpawnOptions { directories, stdin, environment })
    }

    /// Starts a fixed command with the call's arguments appended; keyword arguments become flags.
    pub(super) fn fixed_command(&mut self, words: &[&str], arguments: &Arguments) {
        let named = arguments.named.iter().map(|(name, value)| match (name.as_str(), value.only_string()) {
            ("refspec" | "url", _) => value.clone(),
            (name, Some(string)) => Value::string(format!("--{name}={string}")),
            (name, None) => Value::string(format!("--{}", name.replace('_', "-"))),
        });
        let words = words.iter().map(|word| Value::string(*word));
        let words: Vec<Value> = words.chain(arguments.flattened().into_iter().cloned()).chain(named).collect();
        self.spawn_words(&words, None);
    }

    /// Starts a program or subcommand that is named by the function: `sh.git('reset')`, `repo.git.reset('--hard')`.
    pub(super) fn member_command(&mut self, name: &str, arguments: &Arguments) {
        let Some((words, members)) = self.dialect.split_member_command(name) else { return };
        let is_reset = members == ["reset"];
        let members = members.into_iter().map(|member| member.replace('_', "-"));
        let words = words.iter().map(|word| (*word).to_owned()).chain(members).map(Value::string);
        let named = arguments.named.iter().map(|(name, value)| match value.only_string() {
            Some(string) => Value::string(format!("--{name}={string}")),
            None => Value::string(format!("--{}", name.replace('_', "-"))),
        });
        let given = arguments.flattened().into_iter().map(|value| match value.only_string() {
            // Libraries pass the mode of a reset without dashes.
            Some("hard") if is_reset => Value::string("--hard"),
            _ => value.clone(),
        });
        let words: Vec<Value> = words.chain(given).chain(named).collect();
        self.spawn_words(&words, None);
    }

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

    /// Starts a program with arguments. Only the program must be constant. An argument with several possible values
    /// gives one command for each.
    pub(super) fn spawn_words<'v>(
        &mut self,
        words: impl IntoIterator<Item = &'v Value>,
        spawn_options: Option<&SpawnOptions>,
    ) {
        let mut commands: Vec<Vec<Option<String>>> = vec![Vec::new()];
        for word in words {
            let is_program = commands.iter().all(Vec::is_empty);
            let most = if is_program { 1 } else { MAX_COMMANDS };
            let strings = word.strings().filter(|strings| strings.len() * commands.len() <= most);
            let choices =
                strings.map_or_else(|| vec![None], |strings| strings.into_iter().map(Some).collect::<Vec<_>>());
            let with =
                |command: &Vec<_>, choice: &Option<String>| [command.as_slice(), std::slice::from_ref(choice)].concat();
            commands = commands.iter().flat_map(|command| choices.iter().map(|choice| with(command, choice))).collect();
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

    pub(super) fn spawn_program(&mut self, name: &str, arguments: &Arguments, program: Option<&Value>) {
        let spawn_options = self.spawn_options(arguments, self.options_position(1, name, arguments));
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

    pub(super) fn system(&mut self, arguments: &Arguments) {
        let spawn_options = self.spawn_options(arguments, None);
        // Perl's `system {program} words`.
        self.findings.is_opaque |= self.language == Language::Perl
            && arguments.positional.len() != arguments.flattened().len()
            && arguments.positional.iter().any(|value| matches!(value, Value::Record(_)));
        self.findings.is_opaque |= arguments.positional.iter().any(|value| matches!(value, Value::OneOfLists(_)));
        match arguments.flattened().as_slice() {
            [command] => self.spawn_shell(Some(command), spawn_options.as_ref()),
            // A command line, and unknown options.
            [command, options]
                if self.language == Language::Ruby && has_several_words(command) && self.may_be_options(options) =>
            {
                let anywhere = SpawnOptions { directories: vec![None], ..SpawnOptions::default() };
                self.spawn_shell(Some(command), Some(&anywhere));
            }
            words => self.spawn_words(words.iter().copied(), spawn_options.as_ref()),
        }
    }

    pub(super) fn spawn_program_with_list(&mut self, interpreter: Option<&str>, name: &str, arguments: &Arguments) {
        let spawn_options = self.spawn_options(arguments, self.options_position(2, name, arguments));
        let interpreter = interpreter.map(Value::string);
        let program: Vec<Value> = interpreter.into_iter().chain(arguments.positional.first().cloned()).collect();
        let given = match arguments.positional.get(1) {
            Some(Value::Record(_)) | None => match arguments.option("args") {
                Some(list @ (Value::List(_) | Value::OneOfLists(_))) => list.lists(),
                Some(unknown) => vec![unknown.clone()],
                None => vec![Value::List(Vec::new())],
            },
            Some(list @ (Value::List(_) | Value::OneOfLists(_))) => list.lists(),
            Some(unknown) => vec![unknown.clone()],
        };
        for more in given {
            let words = program.iter().chain(more.flattened());
            if uses_shell(arguments) {
                let command = words.cloned().reduce(|one, other| one.joined(&other, " "));
                self.spawn_shell(command.as_ref(), spawn_options.as_ref());
            } else {
                self.spawn_words(words, spawn_options.as_ref());
            }
        }
    }

    pub(super) fn exec(&mut self, arguments: &[Value]) {
        let Some((program, rest)) = arguments.split_first() else {
            self.findings.is_opaque = true;
            return;
        };
        self.findings.is_opaque |= rest.iter().any(|value| matches!(value, Value::OneOfLists(_)));
        // The first of these is `argv[0]`.
        let words = match rest.first() {
            Some(Value::List(words)) => words.as_slice(),
            _ => rest,
        };
        self.spawn_words(std::iter::once(program).chain(words.iter().skip(1)), None);
    }
}

/// True if the string contains whitespace.
fn has_several_words(command: &Value) -> bool {
    command.strings().is_some_and(|strings| strings.iter().any(|string| string.trim().contains(char::is_whitespace)))
}

/// Returns the possible command lines. Unknown words may be arguments, but not programs.
fn command_lines(command: &Value) -> Option<Vec<String>> {
    let names_programs = |string: &String| {
        let mut commands = string.split([';', '|', '&', '(', '`', '{', '\n']);
        commands.all(|command| !command.trim_start_matches(['"', '\'', ' ']).starts_with(SOME_WORD))
    };
    match command {
        Value::PartlyKnown { strings, is_path: false } if strings.iter().all(|string| !string.contains(SOME_NAME)) => {
            let filled = strings.iter().map(|string| string.replace(SOME_WORD, UNKNOWN_WORD)).collect();
            strings.iter().all(names_programs).then_some(filled)
        }
        command => command.strings(),
    }
}

/// Returns the stdout of a command that prints a single word, as an unknown word.
pub(super) fn printed_word(command: Option<&Value>) -> Value {
    let words: Option<Vec<&str>> =
        command.map(Value::flattened).and_then(|words| words.into_iter().map(Value::only_string).collect());
    match words {
        Some(words) if prints_revision_name(&words.join(" ")) => {
            Value::PartlyKnown { strings: vec![SOME_WORD.to_owned()], is_path: false }
        }
        _ => Value::Unknown,
    }
}

/// Subcommands of git that print the name of a branch, a tag or a commit.
const REVISION_COMMANDS: &[&str] = &[
    "git branch --show-current",
    "git describe",
    "git rev-parse",
    "git merge-base",
    "git rev-list",
    "git symbolic-ref",
];

fn prints_revision_name(command: &str) -> bool {
    let is_form =
        |form: &&str| command.strip_prefix(*form).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " -_./@^~=".contains(letter);
    REVISION_COMMANDS.iter().any(is_form) && command.chars().all(is_plain)
}

/// The most commands that alternatives of the arguments are multiplied into.
const MAX_COMMANDS: usize = 16;

/// How a command starts, if that differs from the program's own directory, stdin and environment.
#[derive(Default)]
pub(super) struct SpawnOptions {
    /// The directories that it may start in, `None` for one that is not constant. Empty for the program's own.
    directories: Vec<Option<String>>,
    stdin: Stdin,
    environment: SpawnEnvironment,
}

impl SpawnOptions {
    /// Returns the command once for each directory that it may start in.
    fn applied_to(&self, spawn: &Spawn) -> Vec<Spawn> {
        let here = Spawn { stdin: self.stdin.clone(), environment: self.environment.clone(), ..spawn.clone() };
        match self.directories.as_slice() {
            [] => vec![here],
            directories => {
                let at = |directory: &Option<String>| Spawn { directories: vec![directory.clone()], ..here.clone() };
                directories.iter().map(at).collect()
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
        Some(Value::QualifiedName(name)) => !name.eq_ignore_ascii_case("false"),
        Some(_) => true,
    }
}
