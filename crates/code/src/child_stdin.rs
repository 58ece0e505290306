//! Strings that a program writes to the stdin of commands that it has started: `sh.stdin.write("ls")`.
//!
//! This is a heuristic over the tokens: it does not determine which command gets which string.

use super::spawn::{Spawn, SpawnedCommand, Stdin};
use super::token::Token;

/// Programs that run what they read from stdin if they have no arguments.
const INTERPRETERS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "perl", "ruby"];

/// Adds the strings to the interpreters that read scripts from stdin. The flag is true if one of them may read
/// something that is not constant.
pub(super) fn with_written_stdin(mut spawns: Vec<Spawn>, tokens: &[Token]) -> (Vec<Spawn>, bool) {
    let alone: Vec<Spawn> = spawns.iter().filter(|spawn| reads_script_from_stdin(spawn)).cloned().collect();
    if alone.is_empty() {
        return (spawns, false);
    }
    let written: Vec<Option<&str>> = written_constants(tokens).collect();
    let string: Option<String> = written.iter().copied().collect();
    if string.is_some() && !written.is_empty() {
        spawns.extend(alone.into_iter().map(|spawn| Spawn { stdin: Stdin::Piped(string.clone()), ..spawn }));
    }
    (spawns, string.is_none())
}

/// True for an interpreter without arguments.
fn reads_script_from_stdin(spawn: &Spawn) -> bool {
    let program = match &spawn.command {
        SpawnedCommand::CommandLine(string) => string.trim(),
        SpawnedCommand::Words(words) => match words.as_slice() {
            [Some(program)] => program,
            _ => return false,
        },
    };
    spawn.is_plain() && INTERPRETERS.contains(&program.rsplit('/').next().unwrap_or(program))
}

/// Returns each string that is written, or `None` if it is not constant.
fn written_constants(tokens: &[Token]) -> impl Iterator<Item = Option<&str>> {
    let is_writing = |window: &[Token]| match window {
        [stream, point, method, open, _] => {
            stream.name() == Some("stdin")
                && point.is(".")
                && matches!(method.name(), Some("write" | "end" | "puts" | "print"))
                && open.is("(")
        }
        _ => false,
    };
    let given = tokens.windows(5).filter(move |window| is_writing(window)).filter_map(|window| window.last());
    given.filter(|first| !first.is(")")).map(Token::constant)
}
