//! Programs that run other commands: `sudo`, `env`, `bash -c`, `xargs`, `find -exec`.
//!
//! Which argument of a program is a command, or a text that a shell runs, is told by [`crate::programs`]. What is left for
//! here are the few that have a grammar of their own.

use super::command::{Assignment, RedirectKind, SimpleCommand, Word};
use super::settings::{command_of_setting, git_alias, is_command_variable};
use super::written::{Written, interpreter};
use super::{awk, find, parallel, sed, xargs};
use crate::one_liner::{self, Language, Spawn};
use crate::programs::{Arguments, Role, canonical};

/// What a command runs.
#[derive(Debug, Default)]
pub(super) struct Through {
    /// How people call what runs it: `sudo`, `bash -c`.
    pub(super) name: String,
    /// Whether it does nothing else.
    pub(super) is_transparent: bool,
    /// Whether what runs does so somewhere else: on another machine, in a container.
    pub(super) is_remote: bool,
    /// Whether what it runs is what it reads.
    pub(super) reads_input: bool,
    /// The folder that it changes to before, where it does.
    pub(super) folder: Option<Word>,
    pub(super) runs: Vec<Runs>,
}

#[derive(Debug)]
pub(super) enum Runs {
    Command {
        words: Vec<Word>,
        assignments: Vec<Assignment>,
    },
    /// A text for a shell; `None` for one that is not known. The arguments are its `$1`, `$2`, ….
    Text {
        text: Option<String>,
        in_own_shell: bool,
        /// More words are put behind it.
        is_beginning: bool,
        arguments: Vec<Word>,
    },
}

/// What a command reads.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    /// Nothing that the script gives it.
    Nothing,
    Unknown,
    Text(&'a str),
    /// Paths, one a line.
    Paths(&'a [Word]),
}

impl<'a> Input<'a> {
    /// `piped`: what comes through the pipe, where that is known; `found`: the paths that do.
    fn of(command: &'a SimpleCommand, piped: Option<&'a str>, found: &'a [Word]) -> Self {
        match command.redirects.iter().rev().find(|redirect| redirect.is_input()) {
            Some(redirect) => match redirect.kind {
                // What is in a file is another question, unless it is none.
                RedirectKind::Read if redirect.target.is_process() => {
                    redirect.target.given.as_deref().map_or(Self::Unknown, Self::Text)
                }
                RedirectKind::Read | RedirectKind::ReadWrite if !redirect.target.is_device() => Self::Nothing,
                RedirectKind::HereDocument | RedirectKind::HereString => {
                    redirect.target.value.as_deref().map_or(Self::Unknown, Self::Text)
                }
                _ => Self::Unknown,
            },
            None => match piped {
                Some(text) => Self::Text(text),
                None if !found.is_empty() => Self::Paths(found),
                None if !command.piped_from.is_empty() => Self::Unknown,
                None => Self::Nothing,
            },
        }
    }
}

/// `None` where it runs nothing but itself. `input`: what it reads, where that is known; `found`: the paths that it reads.
pub(super) fn through(command: &SimpleCommand, input: Option<&str>, found: &[Word]) -> Option<Through> {
    let program = command.program()?;
    let input = Input::of(command, input, found);
    let mut through = match program {
        "find" | "gfind" => Through {
            name: program.to_owned(),
            runs: find::commands(command).into_iter().map(Runs::words).collect(),
            ..Through::default()
        },
        _ => {
            let known = command.arguments.as_ref();
            let known = known.map(|arguments| by_table(program, command, arguments, input));
            known.unwrap_or_else(|| Through { name: program.to_owned(), ..Through::default() })
        }
    };
    if let Some(form) = program.strip_prefix("git-").filter(|_| !command.is_understood()) {
        let words = [Word::known("git"), Word::known(form)].into_iter().chain(command.words.iter().skip(1).cloned());
        through.runs.push(Runs::words(words.collect()));
    }
    if !command.is_understood() && !matches!(program, "find" | "gfind") {
        through.runs.extend(command_within(&command.words).map(Runs::words));
    }
    if let Some(Written::Text(text)) = command.script.as_ref().filter(|_| !is_interpreter(program)) {
        // A file that is run by its name: by what it asks for.
        let first = Word { role: Role::Plain, ..Word::known(interpreter(text)) };
        through.runs.push(Runs::words(std::iter::once(first).chain(command.words.iter().cloned()).collect()));
    }
    if command.script == Some(Written::Unknown) {
        through.runs.push(Runs::text(None));
    }
    for assignment in command.assignments.iter().filter(|assignment| is_command_variable(&assignment.name)) {
        through.runs.push(Runs::beginning(assignment.value.value.clone()));
    }
    (!through.runs.is_empty()).then_some(through)
}

fn by_table(program: &str, command: &SimpleCommand, arguments: &Arguments, input: Input) -> Through {
    let mut through = Through { name: program.to_owned(), ..Through::default() };
    let mut texts: Vec<(usize, Vec<&Word>)> = Vec::new();
    let mut assignments = Vec::new();
    for argument in &arguments.list {
        let Some(word) = command.words.get(argument.word) else { continue };
        match argument.role {
            Role::Assignment => assignments.extend(assignment(word)),
            Role::Command => {
                let words = behind_dashes(program, command.words.get(argument.word..).unwrap_or_default());
                through.is_transparent = true;
                if matches!(program, "xargs" | "gxargs") {
                    through
                        .runs
                        .extend(xargs::commands(words, arguments, &command.words, input).into_iter().map(Runs::words));
                } else if let ("sudo" | "doas", [Some(text)]) = (program, values(&words).as_slice())
                    && text.contains(char::is_whitespace)
                {
                    through.runs.push(Runs::text(Some((*text).to_owned())));
                } else if let ("flock", [Some("-c"), text]) = (program, values(&words).as_slice()) {
                    through.runs.push(Runs::text(text.map(str::to_owned)));
                } else {
                    through.runs.push(Runs::Command { words, assignments: std::mem::take(&mut assignments) });
                }
            }
            Role::Code => {
                let text = word.value.as_deref().and_then(|value| value.get(argument.from..));
                through.runs.extend(in_code(program, text));
            }
            Role::Data if matches!(program, "sed" | "gsed") => {
                let text = word.value.as_deref().and_then(|value| value.get(argument.from..));
                through.runs.extend(text.map(sed::read).unwrap_or_default().runs.into_iter().map(Runs::text));
            }
            Role::Edit if word.raw.trim_start_matches(['"', '\'']).starts_with('+') => {
                let text = word.value.as_deref().and_then(|setting| command_of_setting(program, setting));
                through.runs.extend(text.map(|text| Runs::text(Some(text.to_owned()))));
            }
            Role::Folder => through.folder = Some(part(word, argument.from)),
            Role::Setting => {
                let setting = word.value.as_deref().and_then(|value| value.get(argument.from..)).unwrap_or_default();
                let text = command_of_setting(program, setting).map(str::to_owned);
                // Other programs put what it is about behind it.
                let runs = |text| if program == "socat" { Runs::text(Some(text)) } else { Runs::beginning(Some(text)) };
                through.runs.extend(text.map(runs));
                if let Some((_, alias)) = git_alias(setting).filter(|(name, _)| is_form(arguments, name)) {
                    through.runs.extend(by_alias(command, arguments, alias));
                }
            }
            Role::Host => through.is_remote = true,
            Role::Words if through.is_remote => {
                let words = behind_dashes(program, command.words.get(argument.word..).unwrap_or_default());
                through.is_transparent = program != "docker" && program != "podman" && program != "kubectl";
                if through.is_transparent {
                    through.runs.push(Runs::text(joined(words.iter())));
                } else {
                    through.runs.push(Runs::Command { words: words.to_vec(), assignments: Vec::new() });
                }
            }
            Role::Shell if matches!(program, "parallel" | "sem") => {
                let words = command.words.get(argument.word..).unwrap_or_default();
                through.is_transparent = true;
                through.runs.extend(parallel::texts(words, input).into_iter().map(Runs::text));
                break;
            }
            Role::Shell | Role::Hook => {
                through.is_transparent |= argument.role == Role::Shell;
                // Operands that follow each other are one text; the values of flags are each their own.
                match texts.last_mut().filter(|(last, _)| last + 1 == argument.word && argument.from == 0) {
                    Some((last, words)) => {
                        *last = argument.word;
                        words.push(word);
                    }
                    None if argument.from == 0 => texts.push((argument.word, vec![word])),
                    None => {
                        through.runs.push(Runs::text(part(word, argument.from).value));
                    }
                }
            }
            _ => {}
        }
    }
    if let ("env", Some((_, text)), [Runs::Command { words, .. }]) = (program, texts.first(), through.runs.as_slice()) {
        // `env -S 'rm -rf' x` runs `rm -rf x`.
        let text = joined(text.iter().copied()).map(|text| format!("{text} \"$@\""));
        let runs = Runs::Text { text, in_own_shell: true, is_beginning: false, arguments: words.clone() };
        through.runs = vec![runs];
        return through;
    }
    let in_own_shell = !matches!(program, "eval" | "trap");
    let own = arguments.list.iter().find(|argument| argument.role == Role::Words && is_shell(program));
    // The first is its name.
    let own = own.and_then(|own| command.words.get(own.word + 1..)).unwrap_or_default();
    through.runs.extend(texts.into_iter().map(|(_, words)| Runs::Text {
        text: joined(words.into_iter()),
        in_own_shell,
        is_beginning: false,
        arguments: own.to_vec(),
    }));
    if through.is_transparent && arguments.has_flag(&["-c"]) {
        through.name = format!("{program} -c");
    }
    if let Some(Written::Text(text)) = command.script.as_ref().filter(|_| is_interpreter(program)) {
        let script = arguments.list.iter().find(|argument| argument.role == Role::Script);
        let own = script.and_then(|script| command.words.get(script.word + 1..)).unwrap_or_default();
        if Language::of(program).is_some() || is_other_interpreter(program) {
            through.runs.extend(in_code(program, Some(text)));
        } else {
            let in_own_shell = !matches!(program, "source" | ".");
            let (text, arguments) = (Some(text.clone()), own.to_vec());
            through.runs.push(Runs::Text { text, in_own_shell, is_beginning: false, arguments });
        }
        return through;
    }
    if (is_shell(program) || is_fed_by_itself(program)) && runs_its_input(program, arguments, &command.words) {
        let script = arguments.list.iter().find(|argument| argument.role == Role::Script);
        through.runs.extend(fed(program, script.and_then(|script| command.words.get(script.word)), input));
        through.reads_input = true;
        through.is_transparent = is_shell(program) && !through.runs.is_empty();
    }
    if program == "parallel" && !arguments.list.iter().any(|argument| argument.role == Role::Shell) {
        let is_fed = !matches!(input, Input::Nothing);
        through.runs.extend(parallel::texts(&[], input).into_iter().filter(|_| is_fed).map(Runs::text));
        through.reads_input = true;
    }
    if let Some(sub) = arguments.subcommands.first().filter(|_| program == "git") {
        through.runs.extend(by_git(command, arguments, sub));
    }
    through
}

/// Programs other than shells that run what they read.
fn is_fed_by_itself(program: &str) -> bool {
    matches!(program, "source" | "." | "at" | "batch" | "crontab" | "sudo" | "doas" | "su" | "ssh")
        || Language::of(program).is_some()
        || is_other_interpreter(program)
}

/// Programs that run a file that they are given.
fn is_interpreter(program: &str) -> bool {
    is_shell(program)
        || Language::of(program).is_some()
        || is_other_interpreter(program)
        || matches!(program, "source" | ".")
}

/// Of languages that nobody here can read.
fn is_other_interpreter(program: &str) -> bool {
    const OTHERS: &[&str] = &[
        "php",
        "lua",
        "luajit",
        "Rscript",
        "julia",
        "elixir",
        "groovy",
        "tclsh",
        "osascript",
        "ts-node",
        "tsx",
        "racket",
        "guile",
        "csh",
        "tcsh",
        "pwsh",
        "powershell",
        "nu",
        "xonsh",
        "elvish",
        "expect",
    ];
    OTHERS.contains(&canonical(program))
}

/// Whether what a command reads is what it runs.
pub(super) fn runs_what_it_reads(command: &SimpleCommand) -> bool {
    let (Some(program), Some(arguments)) = (command.program(), &command.arguments) else { return false };
    is_interpreter(program) && runs_its_input(program, arguments, &command.words)
}

/// The file that a command runs, by the name that it is given.
pub(super) fn script_file(command: &SimpleCommand) -> Option<&str> {
    let program = command.program()?;
    let Some(arguments) = command.arguments.as_ref().filter(|_| is_interpreter(program)) else {
        return command.words.first()?.meaning().filter(|program| program.contains('/'));
    };
    if runs_its_input(program, arguments, &command.words) {
        let read = command.redirects.iter().rev().find(|redirect| redirect.kind == RedirectKind::Read);
        return read?.target.meaning();
    }
    let script = arguments.list.iter().find(|argument| argument.role == Role::Script)?;
    command.meaning_from(script.word, script.from)
}

/// Whether nothing among its arguments is what it runs instead of what it reads.
pub(super) fn runs_its_input(program: &str, arguments: &Arguments, words: &[Word]) -> bool {
    if is_shell(program) && arguments.has_flag(&["-s"]) {
        return true;
    }
    arguments.list.iter().all(|argument| match argument.role {
        Role::Code | Role::Shell | Role::Words | Role::Command => false,
        Role::Script => words.get(argument.word).is_some_and(|word| word.is_input() || word.is_process()),
        _ => true,
    })
}

/// What runs because it is read.
fn fed(program: &str, script: Option<&Word>, input: Input) -> Vec<Runs> {
    let text = match script {
        Some(script) if script.is_process() => script.given.clone(),
        None if matches!(program, "source" | ".") => return Vec::new(),
        _ => match input {
            Input::Nothing => return Vec::new(),
            Input::Unknown | Input::Paths(_) => None,
            Input::Text(text) => Some(text.to_owned()),
        },
    };
    let text = if program == "crontab" { text.map(|text| without_times(&text)) } else { text };
    if Language::of(program).is_some() || is_other_interpreter(program) {
        return in_code(program, text.as_deref());
    }
    let in_own_shell = !matches!(program, "source" | ".");
    vec![Runs::Text { text, in_own_shell, is_beginning: false, arguments: Vec::new() }]
}

/// The commands of a table of times.
fn without_times(table: &str) -> String {
    let command = |line: &str| {
        let fields = if line.trim_start().starts_with('@') { 1 } else { 5 };
        let mut rest = line.trim_start();
        for _ in 0..fields {
            rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
        }
        rest.to_owned()
    };
    table.lines().map(command).collect::<Vec<_>>().join("\n")
}

/// What git runs by its settings and variables.
fn by_git(command: &SimpleCommand, arguments: &Arguments, sub: &str) -> Vec<Runs> {
    let is_alias = |name: &str| name.strip_prefix("alias.") == Some(sub.to_ascii_lowercase().as_str());
    let alias = command.git_settings.iter().rfind(|(name, _)| is_alias(name));
    let mut runs: Vec<Runs> = alias.and_then(|(_, alias)| by_alias(command, arguments, alias)).into_iter().collect();
    let operands = arguments.operands.iter().map(|place| command.text_from(*place, 0));
    let operands: Vec<&str> = operands.collect::<Option<_>>().unwrap_or_default();
    if let ("config", [name, value]) = (sub, operands.as_slice()) {
        let text = command_of_setting("git", &format!("{name}={value}")).map(str::to_owned);
        runs.extend(text.map(|text| Runs::beginning(Some(text))));
    }
    let variables = command.exported.iter().filter(|variable| is_command_variable(&variable.name));
    runs.extend(variables.map(|variable| Runs::beginning(variable.value.value.clone())));
    runs
}

/// `git x` where `x` is an alias: what stands behind it comes behind what it is.
fn by_alias(command: &SimpleCommand, arguments: &Arguments, alias: &str) -> Option<Runs> {
    let place = arguments.list.iter().find(|argument| argument.role == Role::Subcommand)?.word;
    let rest = command.words.get(place + 1..).unwrap_or_default().to_vec();
    let text = alias.strip_prefix('!').map_or_else(|| format!("git {alias}"), str::to_owned);
    let text = Some(format!("{text} \"$@\""));
    Some(Runs::Text { text, in_own_shell: true, is_beginning: false, arguments: rest })
}

fn is_form(arguments: &Arguments, name: &str) -> bool {
    arguments.subcommands.first().is_some_and(|form| form.eq_ignore_ascii_case(name))
}

/// A program that nobody knows may run one that is known, if it is given the words of one.
fn command_within(words: &[Word]) -> Option<Vec<Word>> {
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

pub(super) fn is_awk(program: &str) -> bool {
    matches!(program, "awk" | "gawk" | "mawk" | "nawk")
}

pub(super) fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh" | "rbash" | "fish")
}

impl Runs {
    fn words(words: Vec<Word>) -> Self {
        Self::Command { words, assignments: Vec::new() }
    }

    /// In a shell of its own, without arguments.
    fn text(text: Option<String>) -> Self {
        Self::Text { text, in_own_shell: true, is_beginning: false, arguments: Vec::new() }
    }

    fn beginning(text: Option<String>) -> Self {
        Self::Text { text, in_own_shell: true, is_beginning: true, arguments: Vec::new() }
    }
}

/// What a program text in another language starts.
fn in_code(program: &str, text: Option<&str>) -> Vec<Runs> {
    if is_awk(program) {
        return text
            .map_or_else(|| vec![Runs::text(None)], |text| awk::commands(text).into_iter().map(Runs::text).collect());
    }
    let Some(language) = Language::of(program) else {
        // Nobody here can read it; it may say what it is up to.
        let is_telling = |text: &str| TELLING.iter().any(|word| text.contains(word));
        let tells = text.is_none_or(|text| is_telling(&text.to_ascii_lowercase()));
        return tells.then(|| Runs::text(None)).into_iter().collect();
    };
    let Some(text) = text else { return vec![Runs::text(None)] };
    let read = one_liner::read(language, text);
    let word = |text: Option<String>| text.map_or_else(Word::unknown, |text| Word::known(&text));
    let mut runs: Vec<Runs> = read
        .spawns
        .into_iter()
        .map(|spawn| match spawn {
            Spawn::Shell(text) => Runs::text(Some(text)),
            Spawn::Words(words) => {
                Runs::Command { words: words.into_iter().map(word).collect(), assignments: Vec::new() }
            }
        })
        .collect();
    if !read.complete {
        runs.push(Runs::text(None));
    }
    runs
}

/// In a text of a language that nobody here can read: the names of what starts programs or deletes files.
const TELLING: &[&str] = &[
    "exec",
    "system(",
    "system ",
    "shell",
    "spawn",
    "popen",
    "passthru",
    "proc_open",
    "process",
    "unlink",
    "rmdir",
    "remove",
    "delete",
    "`",
    "invoke",
    "start-",
    "eval",
];

/// Joined as `eval` and its like do.
fn joined<'w>(words: impl Iterator<Item = &'w Word>) -> Option<String> {
    words.map(|word| word.value.as_deref()).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}

/// `kubectl exec POD -- ls`, `mise exec node@20 -- npm test`.
fn behind_dashes(program: &str, words: &[Word]) -> Vec<Word> {
    let is_end = |word: &Word| word.value.as_deref() == Some("--");
    match words.iter().position(is_end) {
        Some(place) if place == 0 || program == "mise" => words.get(place + 1..).unwrap_or_default().to_vec(),
        // `npm exec PACKAGE -- FLAGS`
        Some(place) if matches!(program, "npm" | "npx" | "pnpm" | "yarn" | "bun") => {
            let (before, behind) = words.split_at(place);
            before.iter().chain(behind.iter().skip(1)).cloned().collect()
        }
        _ => words.to_vec(),
    }
}

fn values(words: &[Word]) -> Vec<Option<&str>> {
    words.iter().map(|word| word.value.as_deref()).collect()
}

fn assignment(word: &Word) -> Option<Assignment> {
    let text = word.value.as_deref().unwrap_or(&word.shown);
    let (name, value) = text.split_once('=')?;
    let value = word.value.as_ref().map(|_| value.to_owned());
    Some(Assignment { name: name.to_owned(), value: Word { raw: word.raw.clone(), value, ..Word::default() } })
}
