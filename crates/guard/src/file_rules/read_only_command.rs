//! Shell commands that certainly change no file.

use shell::{Effect, SimpleCommand};

use path::Access;

/// Programs that change no file, apart from those that flags and redirects name.
const PROGRAMS: &[&str] = &[
    "[", "basename", "bat", "cat", "cd", "column", "comm", "cut", "date", "df", "diff", "dirname", "du", "echo",
    "egrep", "export", "false", "fd", "fgrep", "file", "find", "grep", "head", "id", "jq", "less", "ls", "nl",
    "printf", "ps", "pwd", "readlink", "realpath", "rg", "sed", "seq", "sleep", "sort", "stat", "tail", "test", "tr",
    "tree", "true", "type", "uname", "uniq", "wc", "which", "whoami",
];

/// Subcommands of git that change no file, apart from those that flags and redirects name.
const GIT_SUBCOMMANDS: &[&str] = &[
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
];

/// True if Linchpin knows everything that the command does, and it only reads files.
pub(super) fn is_read_only(command: &str) -> bool {
    let script = shell::parse(command);
    let reads = |effect: &Effect| matches!(effect.access, Some(Access::Read));
    script.complete && script.commands.iter().all(runs_reader) && script.effects().iter().all(reads)
}

fn runs_reader(command: &SimpleCommand) -> bool {
    match command.program() {
        Some("git") => {
            let subcommand = command.arguments().and_then(|arguments| arguments.subcommands.first());
            subcommand.is_some_and(|subcommand| GIT_SUBCOMMANDS.contains(&subcommand.as_str()))
        }
        Some(program) => PROGRAMS.contains(&program),
        // Only assignments or redirects.
        None => true,
    }
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
