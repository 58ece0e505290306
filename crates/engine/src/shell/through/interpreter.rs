//! Programs that run texts: shells, and interpreters of other languages, whether or not those can be read here.

use super::super::awk;
use super::super::command::{RedirectKind, SimpleCommand, Word};
use super::{Input, Runs};
use crate::one_liner::{self, Language, Spawn};
use crate::programs::{Arguments, Role, canonical};

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

/// Whether a program, called like this, runs what it reads.
pub(super) fn is_fed(program: &str, arguments: &Arguments) -> bool {
    match program {
        "source" | "." | "at" | "batch" | "crontab" => true,
        "ssh" => arguments.list.iter().any(|argument| argument.role == Role::Host),
        "sudo" | "doas" | "su" => arguments.session.is_some(),
        _ => arguments.session.is_some() && is_interpreter(program),
    }
}

/// Programs that run a file that they are given.
pub(super) fn is_interpreter(program: &str) -> bool {
    is_shell(program) || runs_code(program) || matches!(program, "source" | ".")
}

/// Whether what it runs is no text for a shell.
pub(super) fn runs_code(program: &str) -> bool {
    Language::of(program).is_some() || is_other_interpreter(program)
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
pub(in super::super) fn runs_what_it_reads(command: &SimpleCommand) -> bool {
    let (Some(program), Some(arguments)) = (command.program(), &command.arguments) else { return false };
    is_interpreter(program) && runs_its_input(program, arguments, &command.words)
}

/// The file that a command runs, by the name that it is given.
pub(in super::super) fn script_file(command: &SimpleCommand) -> Option<&str> {
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
pub(in super::super) fn runs_its_input(program: &str, arguments: &Arguments, words: &[Word]) -> bool {
    if is_shell(program) && arguments.has_flag(&["-s"]) {
        return true;
    }
    let is_read = |word: &Word| word.is_input() || word.is_process();
    let script = arguments.list.iter().find(|argument| argument.role == Role::Script);
    if script.and_then(|script| words.get(script.word)).is_some_and(is_read) {
        return true;
    }
    let is_run = |role| matches!(role, Role::Code | Role::Shell | Role::Words | Role::Command | Role::Script);
    !arguments.list.iter().any(|argument| is_run(argument.role))
}

/// What runs because it is read.
pub(super) fn fed(program: &str, script: Option<&Word>, input: Input) -> Vec<Runs> {
    let text = match script {
        Some(script) if script.is_process() => script.given.clone(),
        Some(script) if script.is_device() && !script.is_standard_input() => None,
        None if matches!(program, "source" | ".") => return Vec::new(),
        _ => match input {
            Input::Nothing => return Vec::new(),
            Input::Unknown | Input::Paths(_) => None,
            Input::Text(text) => Some(text.to_owned()),
        },
    };
    let text = if program == "crontab" { text.map(|text| without_times(&text)) } else { text };
    if runs_code(program) {
        return in_code(program, text.as_deref());
    }
    let in_own_shell = !matches!(program, "source" | ".");
    vec![Runs::Text { text, in_own_shell, is_beginning: false, name: None, arguments: Vec::new() }]
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

pub(in super::super) fn is_awk(program: &str) -> bool {
    matches!(program, "awk" | "gawk" | "mawk" | "nawk")
}

pub(in super::super) fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh" | "rbash" | "fish")
}

/// What a program text in another language starts.
pub(super) fn in_code(program: &str, text: Option<&str>) -> Vec<Runs> {
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
