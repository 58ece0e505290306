//! Program texts in languages that are not read: whether a text has a word that a rule could be about.
//!
//! Strings and comments count as much as code. A word that everyday code has (`process(`, `thread::spawn`, `db.exec`) must not be
//! here: the person would be asked for nothing.

/// Names of functions that start programs, or that delete or move files; in lower case. Before each stands no letter, and no
/// sign that makes it a part of another name: `.`, `:`, `>`.
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

/// The same: names that mean nothing else, also as a part of others, and names with what they belong to.
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

/// Words that count for one program only.
const OF_PROGRAM: &[(&str, &str)] = &[("expect", "spawn ")];

/// Flags of git that lose work. They count in a text that names git.
const FLAGS_OF_GIT: &[&str] = &["--hard", "--force"];

/// What stands behind `rm` where it is a command, or a function that deletes.
const BEHIND_RM: &[&str] = &[" -", " /", " \"", " '", "(\"", "('", "_r", "_f", "!(", "\",", "\")"];

/// Whether a text that a program runs has such a word.
pub(crate) fn has_one(program: &str, text: &str) -> bool {
    let text = spaced_once(&text.to_ascii_lowercase());
    FUNCTIONS.iter().any(|name| is_called(&text, name))
        || OF_PROGRAM.iter().any(|(own, name)| *own == program && is_called(&text, name))
        || ANYWHERE.iter().any(|name| text.contains(name))
        || (text.contains("git") && FLAGS_OF_GIT.iter().any(|flag| text.contains(flag)))
        || BEHIND_RM.iter().any(|behind| is_called(&text, &format!("rm{behind}")))
}

fn is_called(text: &str, name: &str) -> bool {
    let is_part = |last: char| last.is_alphanumeric() || "_.:>@-".contains(last);
    text.match_indices(name).any(|(at, _)| !text.get(..at).is_some_and(|before| before.ends_with(is_part)))
}

/// One space where there are several, and none before an opening parenthesis.
fn spaced_once(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" (", "(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyday_code_has_none() {
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
            assert!(!has_one("php", text), "{text}");
        }
    }

    #[test]
    fn starting_and_deleting_have_one() {
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
            assert!(has_one("php", text), "{text}");
        }
    }
}
