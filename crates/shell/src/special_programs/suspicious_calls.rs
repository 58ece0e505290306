//! Searches code in languages that Linchpin cannot parse for calls that start programs, or that delete or move files.
//!
//! Strings and comments count as code. Calls that are common in everyday code (`process(`, `thread::spawn`, `db.exec`)
//! must not be listed, because each match asks the user for approval.

/// Functions that start programs, or that delete or move files; in lower case. A name does not count after a letter, or
/// after a character that makes the name part of another name: `.`, `:`, `>`.
const FUNCTIONS: &[&str] = &[
    "exec(",
    "exec ",
    "execl",
    "execv",
    "system(",
    "system \"",
    "system '",
    "system*",
    "system2(",
    "shell(",
    "shell-command",
    "proc_open(",
    "passthru(",
    "call-process",
    "start-process",
    "run-program",
    "run(`",
    "invoke-expression",
    "invoke-command",
    "iex",
    "eval(",
    "remove(\"",
    "remove('",
    "rename(",
    "file delete",
    "file rename",
];

/// Like `FUNCTIONS`, but also matched inside longer names, because these strings have no other meaning.
const ANYWHERE: &[&str] = &[
    "unlink",
    "rmdir",
    "removedirectory",
    "removefile",
    "removepath",
    "remove-item",
    "removeitem",
    "java.shell",
    "remove_all",
    "remove_dir",
    "remove_file",
    "removeall",
    "dir_delete",
    "file_delete",
    "delete-file",
    "delete-directory",
    "callcommand",
    "callprocess",
    "readprocess",
    "processbuilder",
    "popen(",
    "shell_exec(",
    "posix_spawn",
    "os.execute",
    "os[\"execute\"]",
    "os.cmd",
    "os:cmd",
    "os/exec",
    "io.popen",
    "\"system\"",
    "system.cmd",
    "import system",
    "(system,",
    "= system",
    "sys.command",
    "sys.process",
    "system.process",
    "process::command",
    "process as ",
    "process.start",
    "getruntime",
    "os.remove",
    "os.rename",
    "std::remove",
    "sys.remove",
    "file.remove",
    "fs::remove",
    "filesystem::remove",
    "file.rm",
    "file:del",
    ":file.delete",
    "files.delete",
    "file.delete",
    "directory.delete",
    ".deletesync",
    ".delete()",
    "deletedir",
    "deleterecursively",
    ":!",
    "(rm,",
    "mv(\"/",
];

/// Pairs of a program and a call that is suspicious only in code that this program runs.
const FOR_PROGRAM: &[(&str, &str)] = &[("expect", "spawn ")];

/// Flags of git that discard work. A flag counts if the text mentions git.
const FLAGS_OF_GIT: &[&str] = &["--hard", "--force"];

/// The text that follows `rm` as a command, or as the name of a function that deletes.
const AFTER_RM: &[&str] = &[" -", " /", " \"", " '", "(\"", "('", "_r", "_f", "!(", "\",", "\")"];

/// True if the code that a program runs contains a call that may start a program, or delete or move a file.
pub(crate) fn contains_suspicious_call(program: &str, text: &str) -> bool {
    let text = with_normalized_spaces(&text.to_ascii_lowercase());
    FUNCTIONS.iter().any(|name| is_called(&text, name))
        || FOR_PROGRAM.iter().any(|(owner, name)| *owner == program && is_called(&text, name))
        || ANYWHERE.iter().any(|name| text.contains(name))
        || (text.contains("git") && FLAGS_OF_GIT.iter().any(|flag| text.contains(flag)))
        || AFTER_RM.iter().any(|after| is_called(&text, &format!("rm{after}")))
}

fn is_called(text: &str, name: &str) -> bool {
    let is_part = |last: char| last.is_alphanumeric() || "_.:>@-".contains(last);
    text.match_indices(name).any(|(at, _)| !text.get(..at).is_some_and(|before| before.ends_with(is_part)))
}

/// Collapses whitespace, and removes whitespace before an opening parenthesis.
fn with_normalized_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" (", "(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyday_code_has_no_suspicious_calls() {
        for text in [
            "fn main() { std::process::exit(1); }",
            "use std::process::ExitCode; fn f() { std::thread::spawn(|| 1); println!(\"--force\"); }",
            "/* Reports the operating system name */ int process(int x) { return a.exec(); }",
            "db.Exec(\"create table t(x)\") // Prints the file system root",
            "<?php $p->exec('select 1'); echo 'nutshell'; // shell",
            "shell_colour <- 1; cat(\"operating system info\")",
            "process(x)=x+1; using Pkg; Pkg.rm(\"X\"); @eval 1",
            "System.out.println(list.remove(0)); m.remove(key);",
            "-- spawn the player",
            "spawn(fn -> 1 end)",
        ] {
            assert!(!contains_suspicious_call("php", text), "{text}");
        }
    }

    #[test]
    fn starting_and_deleting_are_suspicious() {
        for text in [
            "std::filesystem::remove_all(\"/home/x\");",
            "remove (\"/home/x/y\");",
            "file.remove(\"/home/x\")",
            "fs::dir_delete('/x')",
            "Directory.Delete(\"/home/x\", true)",
            "file  delete /x",
            "f.delete ()",
            "<?php echo `git reset --hard`;",
            "File.rm_rf!(\"/etc\")",
            "foreach(rm, readdir(\"/x\"))",
            "Command::new(\"rm\").args([\"-rf\"])",
            "(system \"ls\")",
        ] {
            assert!(contains_suspicious_call("php", text), "{text}");
        }
    }
}
