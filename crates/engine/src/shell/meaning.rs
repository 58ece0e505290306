//! What a command prints, in kind: `$(mktemp)` is a path in the temporary folder, whichever.
//!
//! Enough to tell what is done to files and branches. Nobody should take it for the text itself.

use super::command::SimpleCommand;
use crate::paths;

pub(super) fn meaning(command: &SimpleCommand) -> Option<String> {
    let words = command.words.iter().map(|word| word.value.as_deref());
    let words: Vec<&str> = words.collect::<Option<_>>()?;
    let (program, arguments) = words.split_first()?;
    match *program {
        "pwd" => {
            command.folders.only().map(|folder| if folder.is_empty() { ".".to_owned() } else { folder.to_owned() })
        }
        "git" => git(arguments),
        "mktemp" => Some(temporary(arguments)),
        "which" | "command" | "type" => match arguments {
            [name] | ["-v" | "-p" | "-P", name] if !name.contains('/') => Some(format!("/usr/bin/{name}")),
            _ => None,
        },
        // The archive that it makes.
        "npm" | "pnpm" if arguments.first() == Some(&"pack") => Some(format!("{SOME_WORD}.tgz")),
        "date" | "whoami" | "hostname" | "uname" | "nproc" | "id" | "arch" | "uuidgen" => Some(SOME_WORD.to_owned()),
        _ => None,
    }
}

/// What the many print that say a date, a name or a number. Nobody cares which.
const SOME_WORD: &str = "some-word";

/// Flags that make git print names of branches.
const NAMING: &[&str] = &["--abbrev-ref", "--symbolic", "--all", "--contains"];

fn git(arguments: &[&str]) -> Option<String> {
    match arguments {
        ["rev-parse", "--show-toplevel"] => Some(paths::ROOT.to_owned()),
        ["rev-parse", "--git-dir" | "--git-common-dir"] => Some(".git".to_owned()),
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
    let folder = arguments.iter().zip(arguments.iter().skip(1)).find(|(flag, _)| matches!(**flag, "-p" | "--tmpdir"));
    let template = arguments.last().filter(|template| template.contains("XXX"));
    match (folder, template) {
        (Some((_, folder)), _) => format!("{folder}/tmp.XXXXXXXXXX"),
        (None, Some(template)) if template.contains('/') => (*template).to_owned(),
        (None, Some(template)) if !arguments.contains(&"-t") => (*template).to_owned(),
        _ => format!("{}/tmp.XXXXXXXXXX", paths::TEMP),
    }
}
