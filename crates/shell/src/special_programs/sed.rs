//! Effects of a `sed` script other than changing text: `r` and `w` name files, `e` runs a command.

mod regex;
mod script;

use path::Access;

use script::{Command, Step, Steps, steps};

/// The files and commands in a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SedScript {
    pub(crate) accesses: Vec<(Access, String)>,
    /// Shell scripts that the script runs; `None` for a script that is not known.
    pub(crate) shell_scripts: Vec<Option<String>>,
}

pub(crate) fn is_sed(program: &str) -> bool {
    matches!(program, "sed" | "gsed")
}

pub(crate) fn read(script: &str) -> SedScript {
    let mut found = SedScript::default();
    let Steps { list, is_complete } = steps(script);
    for step in list {
        match step.command {
            Command::Other('r' | 'R', file) => found.accesses.push((Access::Read, file.to_owned())),
            Command::Other('w' | 'W', file) => found.accesses.push((Access::Write, file.to_owned())),
            // Without a command, `e` runs the current line. A command with a backslash counts as unknown, because `sed`
            // interprets escapes in it.
            Command::Other('e', text) => {
                found
                    .shell_scripts
                    .push(Some(text).filter(|text| !text.is_empty() && !text.contains('\\')).map(str::to_owned));
            }
            Command::Substitute { flags, file, .. } => {
                found.accesses.extend(file.map(|file| (Access::Write, file.to_owned())));
                found.shell_scripts.extend(flags.contains('e').then_some(None));
            }
            Command::Other(..) => {}
        }
    }
    found.shell_scripts.extend((!is_complete).then_some(None));
    found
}

/// Returns `FROM` and `TO` if the script is a single `s/FROM/TO/flags`.
pub(crate) fn only_substitution(script: &str) -> Option<(&str, &str)> {
    let Steps { list, is_complete } = steps(script);
    match list.as_slice() {
        [Step { is_addressed: false, command }] if is_complete => plain_substitution(command),
        _ => None,
    }
}

/// Applies a script that consists only of substitutions. Returns `None` for any other script, or if the result is not
/// known.
pub(crate) fn apply(script: &str, is_extended: bool, text: &str) -> Option<String> {
    let Steps { list, is_complete } = steps(script);
    let mut text = Some(text.to_owned()).filter(|_| is_complete && !list.is_empty())?;
    for step in list {
        let Command::Substitute { from, to, flags, file: None } = step.command else { return None };
        let is_plain = !step.is_addressed && flags.chars().all(|flag| matches!(flag, 'g' | 'i' | 'I'));
        text = regex::substituted(&text, from, to, Some(flags).filter(|_| is_plain)?, is_extended)?;
    }
    Some(text)
}

/// True if a script only changes or deletes lines. With `-i`, all output of such a script goes to the edited file.
pub(crate) fn only_edits(script: &str) -> bool {
    let Steps { list, is_complete } = steps(script);
    let is_edit = |step: &Step| match &step.command {
        Command::Other(name, _) => matches!(name, 'd' | '{' | '}' | '#'),
        command @ Command::Substitute { .. } => plain_substitution(command).is_some(),
    };
    is_complete && list.iter().all(is_edit)
}

/// Returns the parts of a substitution that runs no command and writes no file.
fn plain_substitution<'t>(command: &Command<'t>) -> Option<(&'t str, &'t str)> {
    match *command {
        Command::Substitute { from, to, flags, file: None } if !flags.contains('e') => Some((from, to)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> String {
        let SedScript { accesses, shell_scripts } = read(script);
        let accesses = accesses.iter().map(|(access, path)| format!("{access:?} {path}"));
        let shell_scripts = shell_scripts.iter().map(|run| format!("runs {}", run.as_deref().unwrap_or("?")));
        accesses.chain(shell_scripts).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn files_and_commands() {
        let cases = [
            ("s/read/write/g", ""),
            ("1,$p", ""),
            ("/^e rm/d", ""),
            ("s|a/b|c|", ""),
            ("r .env", "Read .env"),
            ("1r .env", "Read .env"),
            ("/x/ r .env", "Read .env"),
            ("p;w out.txt", "Write out.txt"),
            ("s/a/b/w out.txt", "Write out.txt"),
            ("1e rm -rf x", "runs rm -rf x"),
            ("s/^/ls/e", "runs ?"),
            ("s/\\/e/x/", ""),
            ("s/x;y/z/;1e ls", "runs ls"),
            ("s/;e rm x/{e ls}/", ""),
            ("/x/I,+3{w out.txt\n}", "Write out.txt"),
            ("\\,/etc,r .env", "Read .env"),
            ("s/a/b/gw out.txt\ne ls", "Write out.txt, runs ls"),
            ("a e rm x;r .env", ""),
            ("1e \\x6cs", "runs ?"),
            ("e", "runs ?"),
            ("s/a/b/x", "runs ?"),
        ];
        for (script, expected) in cases {
            assert_eq!(shown(script), expected, "{script}");
        }
    }
}
