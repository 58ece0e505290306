//! Programs that run scripts: shells, and interpreters of other languages.

use std::borrow::Cow;

use code::Language;

use super::language::{is_readable, language_of};
use crate::model::{FileContents, RedirectKind, SimpleCommand, Word};
use crate::programs::{self, Argument, Arguments, Role};

/// Prefix of the names under which the table lists programs that the script has compiled: `compiled-c`.
pub(crate) const COMPILED: &str = "compiled-";

/// Hosts of package registries. A package from one of these hosts does not count as downloaded code, just like a
/// package from npm.
const REGISTRIES: &[&str] = &["deno.land", "esm.sh", "jsr.io"];

/// True if the script is a URL outside of the package registries.
pub(crate) fn is_downloaded_script(script: &str) -> bool {
    let address = script.strip_prefix("https://").or_else(|| script.strip_prefix("http://"));
    address.and_then(|address| address.split('/').next()).is_some_and(|host| !REGISTRIES.contains(&host))
}

/// True if a program with these arguments can run commands from stdin.
pub(crate) fn can_run_stdin(program: &str, arguments: &Arguments, words: &[Word]) -> bool {
    match program {
        "source" | "." | "at" | "batch" => true,
        // Listing or removing a crontab reads no input.
        "crontab" => !arguments.has_flag(&["-l", "-r"]),
        "make" | "gmake" => arguments.with_roles.iter().any(|argument| argument.role == Role::Script),
        "ssh" => arguments.with_roles.iter().any(|argument| argument.role == Role::Host),
        "sudo" | "doas" | "su" => arguments.interactive.is_some(),
        _ => is_interpreter(program) && (arguments.interactive.is_some() || script_is_stream(arguments, words)),
    }
}

/// True for a program that can run a script file.
pub(crate) fn is_interpreter(program: &str) -> bool {
    programs::is_interpreter(program)
        || runs_non_shell_scripts(program)
        || matches!(program, "source" | "." | "make" | "gmake")
}

/// True if the program runs scripts in a language other than shell.
pub(crate) fn runs_non_shell_scripts(program: &str) -> bool {
    is_awk(program)
        || program.starts_with(COMPILED)
        || is_readable(program)
        || programs::is_interpreter(program) && !programs::takes_shell_text(program)
}

/// True if the command runs its stdin.
pub(crate) fn runs_stdin(command: &SimpleCommand) -> bool {
    let (Some(program), Some(arguments)) = (command.program(), command.arguments()) else { return false };
    is_interpreter(program) && takes_script_from_stdin(program, arguments, command.words())
}

/// Returns the script file that a command runs, as it is named in the command.
pub(crate) fn script_file(command: &SimpleCommand) -> Option<Cow<'_, str>> {
    let program = command.program()?;
    if runs_by_name(command) {
        return command.words().first()?.file().filter(|program| program.contains('/')).map(Cow::Borrowed);
    }
    let arguments = command.arguments()?;
    let named = arguments.with_roles.iter().find(|argument| argument.role == Role::Script);
    let named = named.and_then(|script| command.file_from(script.word, script.from)).map(Cow::Borrowed);
    if !is_interpreter(program) {
        return named;
    }
    if takes_script_from_stdin(program, arguments, command.words()) {
        let is_read = |kind| matches!(kind, RedirectKind::Read | RedirectKind::ReadWrite);
        let read = command.redirects().iter().rev().find(|redirect| is_read(redirect.kind));
        return read?.target.file().map(Cow::Borrowed);
    }
    let is_module = language_of(program) == Some(Language::Python) && named.is_none();
    if let Some(module) = arguments.subcommands.first().filter(|_| is_module) {
        return Some(Cow::Owned(format!("{}.py", module.replace('.', "/"))));
    }
    // In `bun x.ts`, the script stands in place of a subcommand.
    if let Some(script) = arguments.subcommands.first().filter(|_| !arguments.is_known) {
        let is_file = matches!(program, "bun" | "deno") && script.contains('.');
        return is_file.then_some(Cow::Borrowed(script.as_str()));
    }
    named
}

/// True if the only script that the command can run is the program itself: `./x.sh`.
pub(crate) fn runs_by_name(command: &SimpleCommand) -> bool {
    let runs_file = |argument: &Argument| argument.role == Role::Script;
    let takes_script = command.arguments().is_some_and(|known| known.with_roles.iter().any(runs_file));
    !takes_script && !command.program().is_some_and(is_interpreter)
}

/// Returns the contents of the script file if this file is a process substitution or, for a program that is not an
/// interpreter, stdin. Always returns `None` for a shell.
pub(crate) fn script_from_stream(command: &SimpleCommand) -> Option<FileContents> {
    let program = command.program().filter(|program| !is_interpreter(program) || runs_non_shell_scripts(program))?;
    let arguments = command.arguments()?;
    let script = arguments.with_roles.iter().find(|argument| argument.role == Role::Script)?;
    let script = command.words().get(script.word)?;
    match &script.contents {
        Some(text) if script.is_process_substitution() => Some(FileContents::Text(text.as_str().into())),
        // For an interpreter, `add_script_or_input` handles an unknown script from a stream.
        None if script.is_process_substitution() && !is_interpreter(program) => Some(FileContents::Unknown),
        _ if script.stands_for_stdin() && !is_interpreter(program) => {
            command.stdin_text().map(|text| FileContents::Text(text.into()))
        }
        _ => None,
    }
}

/// Returns the program that runs files with the same extension as `file`.
pub(crate) fn interpreter_of(file: &str) -> Option<&'static str> {
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

/// Returns the possible paths of the script file. For `./x`, Node also finds `./x.js` and `./x/index.js`.
pub(crate) fn script_files(command: &SimpleCommand) -> Vec<Cow<'_, str>> {
    let Some(script) = script_file(command) else { return Vec::new() };
    let is_node = command.program().and_then(language_of) == Some(Language::JavaScript);
    let others = is_node.then(|| [format!("{script}.js"), format!("{script}/index.js")].map(Cow::Owned));
    std::iter::once(script).chain(others.into_iter().flatten()).collect()
}

/// True if the program reads its script from stdin or a process substitution: an argument is `-s`, `-` or `<(…)`, or no
/// argument is a script, code, a command or a subcommand.
pub(crate) fn takes_script_from_stdin(program: &str, arguments: &Arguments, words: &[Word]) -> bool {
    if is_shell(program) && arguments.has_flag(&["-s"]) {
        return true;
    }
    if script_is_stream(arguments, words) {
        return true;
    }
    let is_run =
        |role| matches!(role, Role::Code | Role::Shell | Role::Words | Role::Command | Role::Script | Role::Subcommand);
    !arguments.with_roles.iter().any(|argument| is_run(argument.role))
}

/// True if the script file is stdin or a process substitution: `-`, `<(…)`.
pub(crate) fn script_is_stream(arguments: &Arguments, words: &[Word]) -> bool {
    let is_read = |script: &Argument| match words.get(script.word) {
        // `-f-`
        Some(word) if script.from > 0 => word.value.as_deref().and_then(|text| text.get(script.from..)) == Some("-"),
        Some(word) => word.stands_for_stdin() || word.is_process_substitution(),
        None => false,
    };
    arguments.with_roles.iter().find(|argument| argument.role == Role::Script).is_some_and(is_read)
}

/// Returns the files that Node and Ruby run before the script.
pub(crate) fn required_files(command: &SimpleCommand, arguments: &Arguments) -> Vec<Word> {
    let names: &[&str] = match command.program().and_then(language_of) {
        Some(Language::JavaScript) => &["-r", "--require", "--import", "--loader"],
        Some(Language::Ruby) => &["-r"],
        _ => return Vec::new(),
    };
    let values =
        arguments.flags.iter().filter(|flag| names.contains(&flag.name.as_str())).filter_map(|flag| flag.value);
    let files = values.filter_map(|value| command.value_or_placeholder_from(value.word, value.from));
    // Any other value is the name of a package.
    files.filter(|file| file.starts_with(['.', '/', '~'])).map(Word::known).collect()
}

/// Returns the files that a shell runs at startup.
pub(crate) fn startup_files(command: &SimpleCommand, arguments: &Arguments) -> Vec<Word> {
    let flags = arguments.flags.iter().filter(|flag| matches!(flag.name.as_str(), "--rcfile" | "--init-file"));
    let named = flags.filter_map(|flag| flag.value).filter_map(|value| command.words().get(value.word));
    let is_interactive = arguments.has_flag(&["-i"]);
    // The variable that contains the path of the file, and the text to append to that path.
    let (variable, end) = match command.program() {
        Some("zsh") => ("ZDOTDIR", "/.zshenv"),
        Some("sh" | "dash" | "ash" | "ksh" | "ksh93" | "mksh" | "yash") if is_interactive => ("ENV", ""),
        _ => ("BASH_ENV", ""),
    };
    let set = command.assignments().iter().filter(|set| set.name == variable).map(|set| set.value.clone());
    let exported = command.exported().iter().filter(|exported| &*exported.name == variable);
    let exported =
        exported.map(|exported| Word { value: exported.value.as_deref().map(str::to_owned), ..Word::default() });
    let startup_file = |file: Word| match &file.value {
        Some(directory) if !end.is_empty() => Word::known(&format!("{directory}{end}")),
        _ => file,
    };
    let (set, exported) = (set.map(startup_file), exported.map(startup_file));
    // Leaves out the script itself, which runs anyway.
    let is_other = |file: &Word| command.words().get(1).is_none_or(|word| word.value != file.value);
    named.cloned().chain(set.chain(exported).filter(is_other)).collect()
}

pub(crate) fn is_awk(program: &str) -> bool {
    matches!(program, "awk" | "gawk" | "mawk" | "nawk")
}

pub(crate) fn is_shell(program: &str) -> bool {
    matches!(
        program,
        "sh" | "bash" | "dash" | "ash" | "ksh" | "ksh93" | "mksh" | "osh" | "yash" | "zsh" | "rbash" | "fish"
    )
}

/// Returns the program in the first line of a script (`#!`); `sh` if there is none.
pub(crate) fn shebang_program(text: &str) -> &str {
    let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("#!")) else { return "sh" };
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    match words.next() {
        Some("env") => words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or("sh"),
        Some(name) => name,
        None => "sh",
    }
}
