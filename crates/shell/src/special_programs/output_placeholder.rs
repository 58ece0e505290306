//! Placeholders for the output of commands: `$(mktemp)` is some path in the temporary directory.
//!
//! A placeholder is sufficient to find effects on files and branches, but must not be used as the real output.

use crate::model::{SOME_NUMBER, SimpleCommand, Word};
use crate::programs::Role;
use crate::special_programs::interpreter::is_awk;

/// Returns a placeholder for the output of a command, if its kind is known.
pub(crate) fn output_placeholder(command: &SimpleCommand) -> Option<String> {
    if command.program() == Some("mktemp") {
        // The arguments of `mktemp` may be placeholders themselves: `mktemp -d "$TMPDIR/x.XXXXXX"`.
        let words: Vec<&str> = command.words().iter().skip(1).map(Word::value_or_placeholder).collect::<Option<_>>()?;
        return Some(temporary_path(&words));
    }
    if matches!(command.program(), Some("readlink" | "realpath")) {
        // For a symlink in `/usr/bin`, the symlink's own path stands for the path of its target.
        let path = command.words().last()?.value_or_placeholder()?;
        return path.starts_with("/usr/bin/").then(|| path.to_owned());
    }
    let words: Vec<&str> = command.words().iter().map(|word| word.value.as_deref()).collect::<Option<_>>()?;
    let (program, arguments) = words.split_first()?;
    match *program {
        "pwd" => command
            .directories()
            .only()
            .map(|directory| if directory.is_empty() { ".".to_owned() } else { directory.to_owned() }),
        "git" => git_placeholder(arguments),
        "which" | "command" | "type" => match arguments {
            [name] | ["-v" | "-p" | "-P", name] if !name.contains('/') => Some(format!("/usr/bin/{name}")),
            _ => None,
        },
        // `npm pack` prints the name of the archive that it creates.
        "npm" | "pnpm" if arguments.first() == Some(&"pack") => Some(format!("{SOME_WORD}.tgz")),
        // Placeholders for process IDs contain the name of the process.
        "pgrep" | "pidof" => arguments.iter().rfind(|word| !word.starts_with('-')).map(|name| format!("pid-of-{name}")),
        "wc" if file_count(command) == 0 => Some(SOME_NUMBER.to_owned()),
        "grep" | "egrep" | "fgrep" | "rg" if file_count(command) < 2 && has(command, &["-c", "--count"]) => {
            Some(SOME_NUMBER.to_owned())
        }
        "stat" if is_number_format(arguments) => Some(SOME_NUMBER.to_owned()),
        "date" | "whoami" | "hostname" | "uname" | "nproc" | "id" | "arch" | "uuidgen" => Some(SOME_WORD.to_owned()),
        _ => None,
    }
}

/// Returns the placeholder for the number that a command prints. The command either passes on a number from its stdin
/// (`cat`, `tr -d`), or selects the first field of the output of `du` or a similar command (`cut -f1`). `source`: the
/// command whose output is read; `input`: the placeholder for that output.
pub(crate) fn placeholder_of_number(
    command: &SimpleCommand,
    source: Option<&SimpleCommand>,
    input: Option<String>,
) -> Option<String> {
    let words: Vec<&str> = command.words().iter().map(|word| word.value.as_deref()).collect::<Option<_>>()?;
    let (program, arguments) = words.split_first()?;
    let is_first_field = match arguments {
        ["-f1" | "-d" | "-f", ..] => *program == "cut" && arguments.iter().any(|flag| matches!(*flag, "-f1" | "1")),
        [code] => is_awk(program) && code.replace(' ', "") == "{print$1}",
        _ => false,
    };
    let begins_with_number = |source: &SimpleCommand| {
        let is_plain = !has(source, &["-h", "--human-readable", "-H"]);
        matches!(source.program(), Some("du" | "wc" | "cksum" | "sum")) && is_plain
    };
    if is_first_field && source.is_some_and(begins_with_number) {
        return Some(SOME_NUMBER.to_owned());
    }
    let is_number = input.as_deref() == Some(SOME_NUMBER);
    let prints_number = match (*program, arguments) {
        ("tr", ["-d", ..]) | ("xargs" | "cat" | "sort" | "head" | "tail", []) => true,
        _ => is_first_field,
    };
    input.filter(|_| is_number && prints_number)
}

fn file_count(command: &SimpleCommand) -> usize {
    let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
    arguments.filter(|argument| matches!(argument.role, Role::Read | Role::Inspect | Role::Names)).count()
}

fn has(command: &SimpleCommand, flags: &[&str]) -> bool {
    command.arguments().is_some_and(|arguments| arguments.has_flag(flags))
}

/// True if the format prints a number: `stat -c %s` (a size), or a time, a mode or a count.
fn is_number_format(arguments: &[&str]) -> bool {
    let format = match arguments {
        ["-c" | "-f" | "--format", format, _] => Some(*format),
        [format, _] => ["-c", "-f", "--format="].iter().find_map(|flag| format.strip_prefix(flag)),
        _ => None,
    };
    matches!(format, Some("%s" | "%z" | "%Y" | "%m" | "%X" | "%Z" | "%a" | "%h" | "%i" | "%u" | "%g" | "%b"))
}

/// A placeholder for a date, a name or a number, whose exact value does not matter.
const SOME_WORD: &str = "some-word";

/// Flags that make git print branch names.
const BRANCH_NAME_FLAGS: &[&str] = &["--abbrev-ref", "--symbolic", "--all", "--contains"];

/// Returns a placeholder for the output of a git command.
fn git_placeholder(arguments: &[&str]) -> Option<String> {
    match arguments {
        ["rev-parse", "--show-toplevel"] => Some(path::PROJECT_ROOT_PLACEHOLDER.to_owned()),
        ["rev-parse", "--git-dir" | "--git-common-dir"] => Some(".git".to_owned()),
        ["rev-parse", "--git-path", path] => Some(format!(".git/{path}")),
        ["--exec-path"] => Some("/usr/lib/git-core".to_owned()),
        ["branch", "--show-current"] | ["rev-parse", "--abbrev-ref", "HEAD"] | ["symbolic-ref", "--short", "HEAD"] => {
            Some("HEAD".to_owned())
        }
        // For branch names, the exact value matters.
        _ if arguments.iter().any(|flag| BRANCH_NAME_FLAGS.iter().any(|name| flag.starts_with(name))) => None,
        ["rev-parse", "HEAD" | "--short" | "--verify", ..]
        | ["describe" | "merge-base" | "write-tree" | "commit-tree" | "hash-object", ..]
        | ["rev-list", "--count" | "-1" | "-n1", ..] => Some(SOME_WORD.to_owned()),
        _ => None,
    }
}

/// Returns a placeholder for a new file or directory.
fn temporary_path(arguments: &[&str]) -> String {
    let takes_directory = |flag: &&str| matches!(*flag, "--tmpdir") || is_short(flag, 'p');
    let directory = arguments
        .iter()
        .zip(arguments.iter().skip(1))
        .find(|(flag, _)| takes_directory(flag))
        .map(|(_, directory)| *directory);
    let directory = directory.or_else(|| arguments.iter().find_map(|flag| flag.strip_prefix("--tmpdir=")));
    let is_template = |word: &&&str| word.contains("XXX") && !word.starts_with('-');
    let template = arguments.iter().rfind(is_template).filter(|template| Some(**template) != directory);
    let is_in_temporary = arguments.iter().any(|flag| is_short(flag, 't'));
    match (directory, template) {
        (Some(directory), _) => format!("{directory}/tmp.XXXXXXXXXX"),
        (None, Some(template)) if template.contains('/') || !is_in_temporary => (*template).to_owned(),
        _ => format!("{}/tmp.XXXXXXXXXX", path::TEMP_PLACEHOLDER),
    }
}

/// True if a short flag, or a cluster of short flags, ends with this letter: `-dt`.
fn is_short(flag: &str, letter: char) -> bool {
    flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with(letter)
}
