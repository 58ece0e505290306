//! What a text writes into the programs that it has started: `sh.stdin.write("ls")`.
//!
//! Not followed but looked over: which of them it is written into is not told apart.

use super::spawn::{Spawn, SpawnedCommand, Stdin};
use super::token::Token;

/// Programs that run what they read, if they are given nothing else.
const RUNNING: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "perl", "ruby"];

/// The same, with what they read; and whether one of them runs what nobody knows.
pub(super) fn with_input(mut spawns: Vec<Spawn>, tokens: &[Token]) -> (Vec<Spawn>, bool) {
    let alone: Vec<Spawn> = spawns.iter().filter(|spawn| runs_its_stdin(spawn)).cloned().collect();
    if alone.is_empty() {
        return (spawns, false);
    }
    let written: Vec<Option<&str>> = written(tokens).collect();
    let text: Option<String> = written.iter().copied().collect();
    if text.is_some() && !written.is_empty() {
        spawns.extend(alone.into_iter().map(|spawn| Spawn { stdin: Stdin::Given(text.clone()), ..spawn }));
    }
    (spawns, text.is_none())
}

/// Whether it is one of those programs, without arguments.
fn runs_its_stdin(spawn: &Spawn) -> bool {
    let program = match &spawn.command {
        SpawnedCommand::Text(text) => text.trim(),
        SpawnedCommand::Words(words) => match words.as_slice() {
            [Some(program)] => program,
            _ => return false,
        },
    };
    spawn.is_plain() && RUNNING.contains(&program.rsplit('/').next().unwrap_or(program))
}

/// Each text that is written, where it is a constant.
fn written(tokens: &[Token]) -> impl Iterator<Item = Option<&str>> {
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
