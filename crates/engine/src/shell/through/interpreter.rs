//! Programs that run texts: shells, and interpreters of other languages, whether or not those can be read here.

use std::borrow::Cow;

use super::super::command::{Assignment, RedirectKind, SimpleCommand, Word};
use super::super::given::given;
use super::super::written::Written;
use super::super::{awk, makefile};
use super::{Input, Runs};
use crate::one_liner::{self, Language, Spawn};
use crate::programs::{self, Argument, Arguments, Role};

/// In a text of a language that nobody here can read: the names of what starts programs or deletes files.
const TELLING: &[&str] = &[
    "exec(",
    "exec ",
    "execl",
    "execv",
    ".execute(",
    "system(",
    "system ",
    "system*",
    "sys.command",
    "os:cmd",
    "shell",
    "spawn",
    "popen",
    "process(",
    "processbuilder",
    "sys.process",
    "system.process",
    "callcommand",
    "run-program",
    "start-",
    "invoke",
    "eval(",
    "eval ",
    ":!",
    "unlink",
    "rmdir",
    "removeitem",
    "remove-item",
    "removefile",
    "removedirectory",
    "removepath",
    "sys.remove",
    "files.delete",
    ".delete()",
    "deletedir",
    "deleterecursively",
    "delete-file",
    "delete-directory",
    "file delete",
    "file:del",
];

/// Behind `rm`: what makes it a command, or a function that deletes.
const BEHIND_RM: &[&str] = &[" -", " /", " \"", " '", "(\"", "('", "_r", "_f", "!("];

/// Where packages are published, which people choose by name.
const REGISTRIES: &[&str] = &["deno.land", "esm.sh", "jsr.io"];

/// Whether a script is an address, of something that nobody has seen.
pub(in super::super) fn is_fetched(script: &str) -> bool {
    let address = script.strip_prefix("https://").or_else(|| script.strip_prefix("http://"));
    address.and_then(|address| address.split('/').next()).is_some_and(|host| !REGISTRIES.contains(&host))
}

/// Whether a program, called like this, runs what it reads.
pub(super) fn is_fed(program: &str, arguments: &Arguments, words: &[Word]) -> bool {
    match program {
        "source" | "." | "at" | "batch" => true,
        // To list or to remove takes nothing in.
        "crontab" => !arguments.has_flag(&["-l", "-r"]),
        "make" | "gmake" => arguments.list.iter().any(|argument| argument.role == Role::Script),
        "ssh" => arguments.list.iter().any(|argument| argument.role == Role::Host),
        "sudo" | "doas" | "su" => arguments.session.is_some(),
        _ => is_interpreter(program) && (arguments.session.is_some() || names_its_input(arguments, words)),
    }
}

/// Programs that run a file that they are given.
pub(super) fn is_interpreter(program: &str) -> bool {
    programs::is_interpreter(program) || runs_code(program) || matches!(program, "source" | "." | "make" | "gmake")
}

/// Whether what it runs is no text for a shell.
pub(super) fn runs_code(program: &str) -> bool {
    is_awk(program)
        || one_liner::is_readable(program)
        || programs::is_interpreter(program) && !programs::takes_shell_text(program)
}

/// Whether what a command reads is what it runs.
pub(in super::super) fn runs_what_it_reads(command: &SimpleCommand) -> bool {
    let (Some(program), Some(arguments)) = (command.program(), &command.arguments) else { return false };
    is_interpreter(program) && runs_its_input(program, arguments, &command.words)
}

/// The file that a command runs, by the name that it is given.
pub(in super::super) fn script_file(command: &SimpleCommand) -> Option<Cow<'_, str>> {
    let program = command.program()?;
    if runs_by_name(command) {
        return command.words.first()?.file().filter(|program| program.contains('/')).map(Cow::Borrowed);
    }
    let arguments = command.arguments.as_ref()?;
    let given = arguments.list.iter().find(|argument| argument.role == Role::Script);
    let given = given.and_then(|script| command.file_from(script.word, script.from)).map(Cow::Borrowed);
    if !is_interpreter(program) {
        return given;
    }
    if runs_its_input(program, arguments, &command.words) {
        let is_read = |kind| matches!(kind, RedirectKind::Read | RedirectKind::ReadWrite);
        let read = command.redirects.iter().rev().find(|redirect| is_read(redirect.kind));
        return read?.target.file().map(Cow::Borrowed);
    }
    let is_module = Language::of(program) == Some(Language::Python) && given.is_none();
    if let Some(module) = arguments.subcommands.first().filter(|_| is_module) {
        return Some(Cow::Owned(format!("{}.py", module.replace('.', "/"))));
    }
    // `bun x.ts`
    if let Some(script) = arguments.subcommands.first().filter(|_| !arguments.is_known) {
        let is_file = matches!(program, "bun" | "deno") && script.contains('.');
        return is_file.then_some(Cow::Borrowed(script.as_str()));
    }
    given
}

/// Whether the file that it runs, if it is one, is itself.
pub(super) fn runs_by_name(command: &SimpleCommand) -> bool {
    let runs_file = |argument: &Argument| argument.role == Role::Script;
    let takes_script = command.arguments.as_ref().is_some_and(|known| known.list.iter().any(runs_file));
    !takes_script && !command.program().is_some_and(is_interpreter)
}

/// What is in the `<(…)` that it is told to run instead of a file.
pub(in super::super) fn given_script(command: &SimpleCommand) -> Option<Written> {
    let program = command.program().filter(|program| !is_interpreter(program) || runs_code(program))?;
    let arguments = command.arguments.as_ref()?;
    let script = arguments.list.iter().find(|argument| argument.role == Role::Script)?;
    let script = command.words.get(script.word)?;
    match &script.given {
        Some(text) if script.is_process() => Some(Written::Text(text.as_str().into())),
        // Of an interpreter, that is told with all else that it reads.
        None if script.is_process() && !is_interpreter(program) => Some(Written::Unknown),
        _ if script.is_input() && !is_interpreter(program) => {
            command.given_text().map(|text| Written::Text(text.into()))
        }
        _ => None,
    }
}

/// The program that runs a file that is called like this.
pub(in super::super) fn interpreter_of(file: &str) -> Option<&'static str> {
    match file.rsplit_once('.')?.1 {
        "py" => Some("python3"),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => Some("node"),
        "rb" => Some("ruby"),
        "pl" => Some("perl"),
        "php" => Some("php"),
        "sh" | "bash" => Some("bash"),
        "c" | "cc" | "cpp" | "cxx" => Some("compiled-c"),
        "go" => Some("compiled-go"),
        "rs" => Some("compiled-rust"),
        "java" => Some("compiled-java"),
        _ => None,
    }
}

/// Where that file may lie: Node finds `x.js` by `./x`, and `index.js` by its folder.
pub(in super::super) fn script_files(command: &SimpleCommand) -> Vec<Cow<'_, str>> {
    let Some(script) = script_file(command) else { return Vec::new() };
    let is_node = command.program().and_then(Language::of) == Some(Language::Node);
    let others = is_node.then(|| [format!("{script}.js"), format!("{script}/index.js")].map(Cow::Owned));
    std::iter::once(script).chain(others.into_iter().flatten()).collect()
}

/// Whether nothing among its arguments is what it runs instead of what it reads.
pub(in super::super) fn runs_its_input(program: &str, arguments: &Arguments, words: &[Word]) -> bool {
    if is_shell(program) && arguments.has_flag(&["-s"]) {
        return true;
    }
    if names_its_input(arguments, words) {
        return true;
    }
    let is_run =
        |role| matches!(role, Role::Code | Role::Shell | Role::Words | Role::Command | Role::Script | Role::Subcommand);
    !arguments.list.iter().any(|argument| is_run(argument.role))
}

/// Whether the file that it is to run is what it reads: `-`, `<(…)`.
pub(super) fn names_its_input(arguments: &Arguments, words: &[Word]) -> bool {
    let is_read = |script: &Argument| match words.get(script.word) {
        // `-f-`
        Some(word) if script.from > 0 => word.value.as_deref().and_then(|text| text.get(script.from..)) == Some("-"),
        Some(word) => word.is_input() || word.is_process(),
        None => false,
    };
    arguments.list.iter().find(|argument| argument.role == Role::Script).is_some_and(is_read)
}

/// The files that Node and Ruby run before the one that they are given.
pub(super) fn required_files(command: &SimpleCommand, arguments: &Arguments) -> Vec<Word> {
    let names: &[&str] = match command.program().and_then(Language::of) {
        Some(Language::Node) => &["-r", "--require", "--import", "--loader"],
        Some(Language::Ruby) => &["-r"],
        _ => return Vec::new(),
    };
    let values =
        arguments.flags.iter().filter(|flag| names.contains(&flag.name.as_str())).filter_map(|flag| flag.value);
    let files = values.filter_map(|value| command.meaning_from(value.word, value.from));
    // All else is the name of a package.
    files.filter(|file| file.starts_with(['.', '/', '~'])).map(Word::known).collect()
}

/// The files that a shell runs before anything else.
pub(super) fn startup_files(command: &SimpleCommand, arguments: &Arguments) -> Vec<Word> {
    let flags = arguments.flags.iter().filter(|flag| matches!(flag.name.as_str(), "--rcfile" | "--init-file"));
    let named = flags.filter_map(|flag| flag.value).filter_map(|value| command.words.get(value.word));
    let is_asked = arguments.has_flag(&["-i"]);
    // By the variable that says where it is, and what stands behind that.
    let (variable, end) = match command.program() {
        Some("zsh") => ("ZDOTDIR", "/.zshenv"),
        Some("sh" | "dash" | "ash" | "ksh" | "ksh93" | "mksh" | "yash") if is_asked => ("ENV", ""),
        _ => ("BASH_ENV", ""),
    };
    let set = command.assignments.iter().filter(|set| set.name == variable).map(|set| set.value.clone());
    let exported = command.exported.iter().filter(|exported| &*exported.name == variable);
    let exported =
        exported.map(|exported| Word { value: exported.value.as_deref().map(str::to_owned), ..Word::default() });
    let placed = |file: Word| match &file.value {
        Some(folder) if !end.is_empty() => Word::known(&format!("{folder}{end}")),
        _ => file,
    };
    let (set, exported) = (set.map(placed), exported.map(placed));
    // What it runs anyway is not run once more.
    let is_other = |file: &Word| command.words.get(1).is_none_or(|word| word.value != file.value);
    named.cloned().chain(set.chain(exported).filter(is_other)).collect()
}

/// What runs because it is read.
pub(super) fn fed(command: &SimpleCommand, script: Option<&Word>, input: Input, arguments: Vec<Word>) -> Vec<Runs> {
    let Some(program) = command.program() else { return Vec::new() };
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
    let text = text.map(|text| commands_in(program, text, &command.words));
    if runs_code(program) {
        return in_code(command, text.as_deref());
    }
    let in_own_shell = !matches!(program, "source" | ".");
    vec![Runs::Text { text, in_own_shell, is_beginning: false, name: None, arguments }]
}

/// What a shell gets of a text that a program reads.
pub(super) fn commands_in(program: &str, text: String, words: &[Word]) -> String {
    match program {
        "crontab" => without_times(&text),
        "make" | "gmake" => makefile::recipes(&text, words),
        _ => text,
    }
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
    matches!(
        program,
        "sh" | "bash" | "dash" | "ash" | "ksh" | "ksh93" | "mksh" | "osh" | "yash" | "zsh" | "rbash" | "fish"
    )
}

/// Whether `rm` is used in it.
fn deletes(text: &str) -> bool {
    text.match_indices("rm").any(|(at, word)| {
        let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at + word.len()..).unwrap_or_default());
        let is_word = !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        is_word && BEHIND_RM.iter().any(|start| behind.starts_with(start))
    })
}

/// What a program text in another language starts.
pub(super) fn in_code(command: &SimpleCommand, text: Option<&str>) -> Vec<Runs> {
    let program = command.program().unwrap_or_default();
    if is_awk(program) {
        return text
            .map_or_else(|| vec![Runs::text(None)], |text| awk::read(text).runs.into_iter().map(Runs::text).collect());
    }
    if !one_liner::is_readable(program) {
        // Nobody here can read it; it may say what it is up to.
        let is_telling = |text: &str| TELLING.iter().any(|word| text.contains(word)) || deletes(text);
        let tells = text.is_none_or(|text| is_telling(&text.to_ascii_lowercase()));
        return tells.then(|| Runs::text(None)).into_iter().collect();
    }
    let mut given = given(command);
    // To a text that stands in the command, its words are whatever it takes them for.
    given.words = given.words.filter(|_| command.script.is_some());
    let Some(read) = text.and_then(|text| one_liner::read(program, text, &given)) else {
        return vec![Runs::text(None)];
    };
    let word = |text: Option<String>| text.map_or_else(Word::unknown, |text| Word::known(&text));
    let set = |(name, value): (String, Option<String>)| Assignment { name, value: word(value) };
    let assignments: Vec<Assignment> = read.sets.into_iter().map(set).collect();
    let mut runs: Vec<Runs> = read
        .spawns
        .into_iter()
        .map(|spawn| match spawn {
            Spawn::Shell(text) => Runs::text_with(&text, &assignments),
            Spawn::Words(words) => {
                Runs::Command { words: words.into_iter().map(word).collect(), assignments: assignments.clone() }
            }
        })
        .collect();
    if !read.complete {
        runs.push(Runs::text(None));
    }
    runs
}
