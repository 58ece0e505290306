//! Strings that a program writes to the stdin of commands that it has started: `sh.stdin.write("ls")`.
//!
//! This is a heuristic over the tokens: it assumes that every string can be written to every command.

use super::spawn::{Spawn, SpawnedCommand, Stdin};
use super::token::Token;

/// Programs that read a script from stdin if they have no arguments.
const INTERPRETERS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "perl", "ruby"];

/// For each command that is an interpreter and reads a script from stdin, adds a copy whose stdin consists of the
/// strings that the program writes, if all of them are constant. Also returns true if there is such a command
/// and one of the strings is not constant.
pub(super) fn with_scripts_on_stdin(mut spawns: Vec<Spawn>, tokens: &[Token]) -> (Vec<Spawn>, bool) {
    let script_readers: Vec<Spawn> = spawns.iter().filter(|spawn| reads_script_from_stdin(spawn)).cloned().collect();
    if script_readers.is_empty() {
        return (spawns, false);
    }
    let written: Vec<Option<&str>> = written_strings(tokens).collect();
    let script: Option<String> = written.iter().copied().collect();
    if script.is_some() && !written.is_empty() {
        spawns.extend(script_readers.into_iter().map(|spawn| Spawn { stdin: Stdin::Piped(script.clone()), ..spawn }));
    }
    (spawns, script.is_none())
}

/// True for an interpreter without arguments, whose stdin is inherited.
fn reads_script_from_stdin(spawn: &Spawn) -> bool {
    let program = match &spawn.command {
        SpawnedCommand::CommandLine(string) => string.trim(),
        SpawnedCommand::Words(words) => match words.as_slice() {
            [Some(program)] => program,
            _ => return false,
        },
    };
    spawn.inherits_everything() && INTERPRETERS.contains(&program.rsplit('/').next().unwrap_or(program))
}

/// Returns the strings that the program writes to the stdin of commands; `None` for each that is not constant.
fn written_strings(tokens: &[Token]) -> impl Iterator<Item = Option<&str>> {
    let is_stdin_write = |window: &[Token]| match window {
        [stream, dot, method, open, _] => {
            stream.name() == Some("stdin")
                && dot.is(".")
                && matches!(method.name(), Some("write" | "end" | "puts" | "print"))
                && open.is("(")
        }
        _ => false,
    };
    let first_tokens =
        tokens.windows(5).filter(move |window| is_stdin_write(window)).filter_map(|window| window.last());
    first_tokens.filter(|first| !first.is(")")).map(Token::constant)
}
