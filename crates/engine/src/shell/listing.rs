//! Commands that print paths, one a line: what goes to `xargs`, into a `while read` or into a `$(…)`.

use super::command::{SimpleCommand, Word};
use super::find;
use crate::programs::Role;

/// The paths that a command prints, where they are all that it prints; as patterns. `read`: those that it reads.
pub(super) fn printed(command: &SimpleCommand, read: &[Word]) -> Vec<Word> {
    let Some(program) = command.program() else { return Vec::new() };
    let has = |names: &[&str]| command.arguments.as_ref().is_some_and(|arguments| arguments.has_flag(names));
    let form = command.arguments.as_ref().and_then(|arguments| arguments.subcommands.first()).map(String::as_str);
    match program {
        "find" | "gfind" => find::found(command),
        // These pass on what they read, or a part of it.
        "sort" | "uniq" | "head" | "tail" | "cat" | "tac" | "shuf" => read.to_vec(),
        "grep" | "egrep" | "fgrep" if !read.is_empty() => read.to_vec(),
        "ls" if !has(&["-l", "-o", "-g"]) => listed(command),
        "echo" | "printf" => patterns(command),
        "git" if matches!(form, Some("ls-files" | "grep" | "diff" | "ls-tree")) => {
            let names_files = form == Some("ls-files") || has(&["--name-only", "-l", "--files-with-matches"]);
            if names_files { below(command) } else { Vec::new() }
        }
        "rg" if has(&["--files", "-l", "--files-with-matches", "--files-without-match"]) => below(command),
        "grep" | "egrep" | "fgrep" if has(&["-l", "-L", "--files-with-matches", "--files-without-match"]) => {
            below(command)
        }
        "fd" | "fdfind" => below(command),
        _ => Vec::new(),
    }
}

/// Somewhere below the folders that it is given, or below the one that it runs in.
fn below(command: &SimpleCommand) -> Vec<Word> {
    let arguments = command.arguments.iter().flat_map(|arguments| &arguments.list);
    let folders = arguments.filter(|argument| argument.from == 0 && matches!(argument.role, Role::Read | Role::Look));
    let folders: Vec<Word> = folders.filter_map(|argument| command.words.get(argument.word)).cloned().collect();
    let some_of = |folder: &str| Word { glob: true, ..Word::known(&format!("{folder}/*")) };
    match folders.iter().map(Word::meaning).collect::<Option<Vec<_>>>() {
        Some(folders) if folders.is_empty() => vec![some_of(".")],
        Some(folders) => folders.into_iter().map(some_of).collect(),
        None => Vec::new(),
    }
}

/// What is printed word by word, where it is one pattern.
fn patterns(command: &SimpleCommand) -> Vec<Word> {
    let mut patterns = command.words.iter().skip(1).filter(|word| word.glob);
    patterns.next().filter(|_| patterns.next().is_none()).cloned().into_iter().collect()
}

/// The names that a pattern stands for. What is in a folder nobody knows.
fn listed(command: &SimpleCommand) -> Vec<Word> {
    let operands = command.arguments.iter().flat_map(|arguments| &arguments.operands);
    let operands: Vec<Word> = operands.filter_map(|place| command.words.get(*place)).cloned().collect();
    match operands.as_slice() {
        [pattern] if pattern.glob => operands,
        _ => Vec::new(),
    }
}
