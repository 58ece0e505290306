//! Recognizes shell commands that certainly change no file.

use shell::{Effect, SimpleCommand};

use path::Access;

/// Programs that change no file, apart from those that flags and redirects name.
const PROGRAMS: &[&str] = &[
    "[", "basename", "bat", "cat", "cd", "column", "comm", "cut", "date", "df", "diff", "dirname", "du", "echo",
    "egrep", "export", "false", "fd", "fgrep", "file", "find", "grep", "head", "id", "jq", "less", "ls", "nl",
    "printf", "ps", "pwd", "readlink", "realpath", "rg", "sed", "seq", "sleep", "sort", "stat", "tail", "test", "tr",
    "tree", "true", "type", "uname", "uniq", "wc", "which", "whoami",
];

/// Subcommands that change no file, apart from those that flags and redirects name.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "blame",
            "cat-file",
            "describe",
            "diff",
            "for-each-ref",
            "grep",
            "log",
            "ls-files",
            "ls-tree",
            "merge-base",
            "rev-list",
            "rev-parse",
            "shortlog",
            "show",
            "show-ref",
            "status",
        ],
    ),
    // `linchpin check` and `linchpin next` are left out, because they may run the command of a rule or gate.
    ("linchpin", &["ack", "doctor", "explain", "log", "status", "try", "validate"]),
];

/// True if Linchpin knows everything that the command does, and it only reads files.
pub(super) fn is_read_only(command: &str) -> bool {
    let script = shell::parse(command);
    let reads = |effect: &Effect| matches!(effect.access, Some(Access::Read));
    script.complete && script.commands.iter().all(runs_reader) && script.effects().iter().all(reads)
}

/// True if the command's program is in one of the lists above, or if the command only prints the program's version.
fn runs_reader(command: &SimpleCommand) -> bool {
    // A command without a program consists only of assignments or redirects.
    let Some(program) = command.program() else { return true };
    if let Some((_, subcommands)) = SUBCOMMANDS.iter().find(|(name, _)| *name == program) {
        let named = command.arguments().and_then(|arguments| arguments.subcommands.first()).map(String::as_str);
        let first = || command.words().get(1).and_then(|word| word.value.as_deref());
        return named.or_else(first).is_some_and(|subcommand| subcommands.contains(&subcommand))
            || prints_version(command);
    }
    PROGRAMS.contains(&program) || prints_version(command)
}

/// True for `NAME --version`, unless the program is a file of the project: `./gen.sh --version`.
fn prints_version(command: &SimpleCommand) -> bool {
    let words: Vec<&str> = command.words().iter().filter_map(|word| word.value.as_deref()).collect();
    matches!(words.as_slice(), [name, "--version"] if !name.contains('/')) && command.words().len() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_only_read_are_recognized() {
        for command in [
            "ls",
            "cd src && cat a.rs | grep -n x | head -20",
            "git status --short; git diff HEAD~1 -- src | wc -l",
            "git -C sub log --oneline",
            "find . -name '*.rs'",
            "sed -n 1,20p src/a.rs",
            "rg -n needle 2>/dev/null",
            "for f in src/*; do wc -l \"$f\"; done",
            "linchpin status && linchpin explain event 3",
            "linchpin ack docs --reason 'a typo'",
            "python3 --version; git --version",
        ] {
            assert!(is_read_only(command), "{command}");
        }
    }

    #[test]
    fn commands_that_may_write_are_not_read_only() {
        for command in [
            "make",
            "cargo test",
            "npm run build",
            "pytest",
            "python gen.py",
            "./gen.sh",
            "./gen.sh --version",
            "python3 --version gen.py",
            "linchpin check --fix",
            "linchpin next",
            "linchpin log > log.txt",
            "unknown",
            "ls > files.txt",
            "sort -o a.txt a.txt",
            "find . -name '*.pyc' -delete",
            "find . -exec ./fix.sh {} +",
            "sed -i s/a/b/ a.txt",
            "git checkout .",
            "git stash",
            "git diff --output=a.txt",
            "cat \"unclosed",
            "cat $(./gen.sh)",
            "$PROGRAM a",
        ] {
            assert!(!is_read_only(command), "{command}");
        }
    }
}
