//! What a command prints, in kind: `$(mktemp)` is a path in the temporary folder, whichever.
//!
//! Enough to tell what is done to files and branches. Nobody should take it for the text itself.

use crate::model::{SOME_NUMBER, SimpleCommand, Word};
use crate::programs::Role;
use crate::special_programs::interpreter::is_awk;

pub(crate) fn meaning(command: &SimpleCommand) -> Option<String> {
    if command.program() == Some("mktemp") {
        // What is only known in kind is enough: `mktemp -d "$TMPDIR/x.XXXXXX"`.
        let words: Vec<&str> = command.words().iter().skip(1).map(Word::meaning).collect::<Option<_>>()?;
        return Some(temporary(&words));
    }
    if matches!(command.program(), Some("readlink" | "realpath")) {
        // Where a link to a program leads, that program lies.
        let path = command.words().last()?.meaning()?;
        return path.starts_with("/usr/bin/").then(|| path.to_owned());
    }
    let words: Vec<&str> = command.words().iter().map(|word| word.value.as_deref()).collect::<Option<_>>()?;
    let (program, arguments) = words.split_first()?;
    match *program {
        "pwd" => {
            command.folders().only().map(|folder| if folder.is_empty() { ".".to_owned() } else { folder.to_owned() })
        }
        "git" => git(arguments),
        "which" | "command" | "type" => match arguments {
            [name] | ["-v" | "-p" | "-P", name] if !name.contains('/') => Some(format!("/usr/bin/{name}")),
            _ => None,
        },
        // The archive that it makes.
        "npm" | "pnpm" if arguments.first() == Some(&"pack") => Some(format!("{SOME_WORD}.tgz")),
        // Numbers, and whose.
        "pgrep" | "pidof" => arguments.iter().rfind(|word| !word.starts_with('-')).map(|name| format!("pid-of-{name}")),
        "wc" if files(command) == 0 => Some(SOME_NUMBER.to_owned()),
        "grep" | "egrep" | "fgrep" | "rg" if files(command) < 2 && has(command, &["-c", "--count"]) => {
            Some(SOME_NUMBER.to_owned())
        }
        "stat" if is_number_format(arguments) => Some(SOME_NUMBER.to_owned()),
        "date" | "whoami" | "hostname" | "uname" | "nproc" | "id" | "arch" | "uuidgen" => Some(SOME_WORD.to_owned()),
        _ => None,
    }
}

/// What is left of a number by a command that reads it, or that takes it from what `du` and its like print before a name.
/// `source`: whose output it reads; `read`: that output, in kind.
pub(crate) fn passed_on(
    command: &SimpleCommand,
    source: Option<&SimpleCommand>,
    read: Option<String>,
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
    let is_number = read.as_deref() == Some(SOME_NUMBER);
    let passes = match (*program, arguments) {
        ("tr", ["-d", ..]) | ("xargs" | "cat" | "sort" | "head" | "tail", []) => true,
        _ => is_first_field,
    };
    read.filter(|_| is_number && passes)
}

fn files(command: &SimpleCommand) -> usize {
    let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.list);
    arguments.filter(|argument| matches!(argument.role, Role::Read | Role::Look | Role::Names)).count()
}

fn has(command: &SimpleCommand, flags: &[&str]) -> bool {
    command.arguments().is_some_and(|arguments| arguments.has_flag(flags))
}

/// `stat -c %s`: a size, a time, a mode or a count.
fn is_number_format(arguments: &[&str]) -> bool {
    let format = match arguments {
        ["-c" | "-f" | "--format", format, _] => Some(*format),
        [format, _] => ["-c", "-f", "--format="].iter().find_map(|flag| format.strip_prefix(flag)),
        _ => None,
    };
    matches!(format, Some("%s" | "%z" | "%Y" | "%m" | "%X" | "%Z" | "%a" | "%h" | "%i" | "%u" | "%g" | "%b"))
}

/// What the many print that say a date, a name or a number. Nobody cares which.
const SOME_WORD: &str = "some-word";

/// Flags that make git print names of branches.
const NAMING: &[&str] = &["--abbrev-ref", "--symbolic", "--all", "--contains"];

fn git(arguments: &[&str]) -> Option<String> {
    match arguments {
        ["rev-parse", "--show-toplevel"] => Some(path::ROOT_PLACEHOLDER.to_owned()),
        ["rev-parse", "--git-dir" | "--git-common-dir"] => Some(".git".to_owned()),
        ["rev-parse", "--git-path", path] => Some(format!(".git/{path}")),
        ["--exec-path"] => Some("/usr/lib/git-core".to_owned()),
        ["branch", "--show-current"] | ["rev-parse", "--abbrev-ref", "HEAD"] | ["symbolic-ref", "--short", "HEAD"] => {
            Some("HEAD".to_owned())
        }
        // The name of a branch is another matter.
        _ if arguments.iter().any(|flag| NAMING.iter().any(|naming| flag.starts_with(naming))) => None,
        ["rev-parse", "HEAD" | "--short" | "--verify", ..]
        | ["describe" | "merge-base" | "write-tree" | "commit-tree" | "hash-object", ..]
        | ["rev-list", "--count" | "-1" | "-n1", ..] => Some(SOME_WORD.to_owned()),
        _ => None,
    }
}

/// A new file or folder.
fn temporary(arguments: &[&str]) -> String {
    let behind = |flag: &&str| matches!(*flag, "--tmpdir") || is_short(flag, 'p');
    let folder =
        arguments.iter().zip(arguments.iter().skip(1)).find(|(flag, _)| behind(flag)).map(|(_, folder)| *folder);
    let folder = folder.or_else(|| arguments.iter().find_map(|flag| flag.strip_prefix("--tmpdir=")));
    let is_template = |word: &&&str| word.contains("XXX") && !word.starts_with('-');
    let template = arguments.iter().rfind(is_template).filter(|template| Some(**template) != folder);
    let is_in_temporary = arguments.iter().any(|flag| is_short(flag, 't'));
    match (folder, template) {
        (Some(folder), _) => format!("{folder}/tmp.XXXXXXXXXX"),
        (None, Some(template)) if template.contains('/') || !is_in_temporary => (*template).to_owned(),
        _ => format!("{}/tmp.XXXXXXXXXX", path::TEMP_PLACEHOLDER),
    }
}

/// Whether a flag ends with this letter, which may stand behind others: `-dt`.
fn is_short(flag: &str, letter: char) -> bool {
    flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with(letter)
}
