//! Programs that run other commands: `sudo`, `env`, `bash -c`, `xargs`, `find -exec`.
//!
//! Which argument of a program is a command, or a text that a shell runs, is told by [`crate::programs`]. What is left for
//! here are the few that have a grammar of their own.

use super::command::{Assignment, RedirectKind, SimpleCommand, Word};
use crate::one_liner::{self, Language, Spawn};
use crate::programs::{Arguments, Role, arguments};

/// What a command runs.
#[derive(Debug, Default)]
pub(super) struct Through {
    /// How people call what runs it: `sudo`, `bash -c`.
    pub(super) name: String,
    /// Whether it does nothing else.
    pub(super) is_transparent: bool,
    /// Whether what runs does so somewhere else: on another machine, in a container.
    pub(super) is_remote: bool,
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
        arguments: Vec<Word>,
    },
}

/// What a command reads.
#[derive(Clone, Copy)]
enum Input<'a> {
    /// Nothing that the script gives it.
    Nothing,
    Unknown,
    Text(&'a str),
}

impl<'a> Input<'a> {
    /// `piped`: what comes through the pipe, where that is known.
    fn of(command: &'a SimpleCommand, piped: Option<&'a str>) -> Self {
        let is_text = |kind| matches!(kind, RedirectKind::HereDocument | RedirectKind::HereString);
        let fed = command.redirects.iter().rev().find(|redirect| is_text(redirect.kind));
        match fed.map_or(piped, |redirect| redirect.target.value.as_deref()) {
            Some(text) => Self::Text(text),
            None if fed.is_some() || !command.piped_from.is_empty() => Self::Unknown,
            None => Self::Nothing,
        }
    }
}

/// `None` where it runs nothing but itself. `input`: what it reads, where that is known.
pub(super) fn through(command: &SimpleCommand, input: Option<&str>) -> Option<Through> {
    let program = command.program()?;
    let input = Input::of(command, input);
    let through = match program {
        "find" | "gfind" | "fd" | "fdfind" => found(&command.words),
        _ => {
            let words: Vec<Option<&str>> = command.words.iter().map(|word| word.value.as_deref()).collect();
            by_table(program, command, &arguments(program, &words)?, input)
        }
    };
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
                let mut words = command.words.get(argument.word..).unwrap_or_default().to_vec();
                if program == "xargs" {
                    fill_from_input(&mut words, arguments, &command.words, input);
                }
                through.is_transparent = true;
                through.runs.push(Runs::Command { words, assignments: std::mem::take(&mut assignments) });
            }
            Role::Code => {
                let text = word.value.as_deref().and_then(|value| value.get(argument.from..));
                through.runs.extend(in_code(program, text));
            }
            Role::Host => through.is_remote = true,
            Role::Words if through.is_remote => {
                let words = command.words.get(argument.word..).unwrap_or_default();
                through.is_transparent = program != "docker" && program != "podman" && program != "kubectl";
                if through.is_transparent {
                    through.runs.push(Runs::text(joined(words.iter())));
                } else {
                    through.runs.push(Runs::Command { words: words.to_vec(), assignments: Vec::new() });
                }
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
                        let text = word.value.as_deref().and_then(|value| value.get(argument.from..));
                        through.runs.push(Runs::text(text.map(str::to_owned)));
                    }
                }
            }
            _ => {}
        }
    }
    let in_own_shell = program != "eval";
    let own = arguments.list.iter().find(|argument| argument.role == Role::Words && is_shell(program));
    // The first is its name.
    let own = own.and_then(|own| command.words.get(own.word + 1..)).unwrap_or_default();
    through.runs.extend(texts.into_iter().map(|(_, words)| Runs::Text {
        text: joined(words.into_iter()),
        in_own_shell,
        arguments: own.to_vec(),
    }));
    if through.is_transparent && arguments.flags.iter().any(|flag| flag == "-c") {
        through.name = format!("{program} -c");
    }
    if is_shell(program)
        && through.runs.is_empty()
        && !arguments.list.iter().any(|argument| argument.role == Role::Script)
    {
        match input {
            Input::Nothing => {}
            Input::Unknown => through.runs.push(Runs::text(None)),
            Input::Text(text) => through.runs.push(Runs::text(Some(text.to_owned()))),
        }
        through.is_transparent = true;
    }
    through
}

pub(super) fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh" | "rbash" | "fish")
}

impl Runs {
    /// In a shell of its own, without arguments.
    fn text(text: Option<String>) -> Self {
        Self::Text { text, in_own_shell: true, arguments: Vec::new() }
    }
}

/// What a program text in another language starts.
fn in_code(program: &str, text: Option<&str>) -> Vec<Runs> {
    // One whose language is not known here is a program like any other.
    let Some(language) = Language::of(program) else { return Vec::new() };
    let Some(text) = text else { return vec![Runs::text(None)] };
    let read = one_liner::read(language, text);
    let word = |text: String| Word { raw: text.clone(), value: Some(text), ..Word::default() };
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

/// Joined as `eval` and its like do.
fn joined<'w>(words: impl Iterator<Item = &'w Word>) -> Option<String> {
    words.map(|word| word.value.as_deref()).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}

fn assignment(word: &Word) -> Option<Assignment> {
    let text = word.value.as_deref().unwrap_or(&word.shown);
    let (name, value) = text.split_once('=')?;
    let value = word.value.as_ref().map(|_| value.to_owned());
    Some(Assignment { name: name.to_owned(), value: Word { raw: word.raw.clone(), value, ..Word::default() } })
}

/// What `xargs` reads becomes words of the command.
fn fill_from_input(words: &mut Vec<Word>, arguments: &Arguments, all: &[Word], input: Input) {
    let read = Word { raw: "…".to_owned(), shown: "$…".to_owned(), ..Word::default() };
    let replaces = arguments.flags.iter().any(|flag| flag == "-I" || flag == "-i" || flag == "--replace");
    match input {
        // Quotes would mean something to it.
        Input::Text(text) if !replaces && !text.contains(['\'', '"', '\\']) => {
            let known = |text: &str| Word { raw: text.to_owned(), value: Some(text.to_owned()), ..Word::default() };
            return words.extend(text.split_whitespace().map(known));
        }
        _ if !replaces => return words.push(read),
        _ => {}
    }
    let marks = all.iter().zip(all.iter().skip(1));
    let mark =
        marks.filter(|(flag, _)| flag.value.as_deref() == Some("-I")).find_map(|(_, mark)| mark.value.as_deref());
    let attached =
        all.iter().find_map(|word| word.value.as_deref()?.strip_prefix("-I").filter(|mark| !mark.is_empty()));
    let mark = attached.or(mark).unwrap_or("{}");
    for word in words {
        if word.value.as_deref().is_some_and(|value| value.contains(mark)) {
            let shown = word.value.take().unwrap_or_default().replace(mark, "$…");
            word.shown = shown;
        }
    }
}

/// `-exec` and its like, up to `;` or `+`; `{}` is what was found.
fn found(words: &[Word]) -> Through {
    let mut through = Through { name: "find".to_owned(), ..Through::default() };
    let is_fd = words
        .first()
        .and_then(|word| word.value.as_deref())
        .is_some_and(|program| program.ends_with("fd") || program.ends_with("fdfind"));
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        let flag = word.value.as_deref().unwrap_or_default();
        let runs = if is_fd {
            matches!(flag, "-x" | "-X" | "--exec" | "--exec-batch")
        } else {
            matches!(flag, "-exec" | "-execdir" | "-ok" | "-okdir")
        };
        if !runs {
            continue;
        }
        let ends = |word: &Word| matches!(word.value.as_deref(), Some(";" | "+"));
        let end = behind.iter().position(ends).unwrap_or(behind.len());
        let (command, later) = behind.split_at(end);
        rest = later;
        let mut command = command.to_vec();
        for word in &mut command {
            if word.value.as_deref().is_some_and(|value| value.contains("{}")) {
                word.shown = word.value.take().unwrap_or_default().replace("{}", "$…");
            }
        }
        through.runs.push(Runs::Command { words: command, assignments: Vec::new() });
    }
    through
}
