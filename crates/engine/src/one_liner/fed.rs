//! What a text writes into the programs that it has started: `sh.stdin.write("ls")`.
//!
//! Not followed but looked over: which of them it is written into is not told apart.

use super::Spawn;
use super::token::Token;
use crate::shell::quoted;

/// Programs that run what they read, if they are given nothing else.
const RUNNING: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "perl", "ruby"];

/// The same, with what they read; and whether one of them runs what nobody knows.
pub(super) fn with_input(mut spawns: Vec<Spawn>, tokens: &[Token]) -> (Vec<Spawn>, bool) {
    let alone: Vec<&str> = spawns.iter().filter_map(alone).collect();
    if alone.is_empty() {
        return (spawns, false);
    }
    let written: Vec<Option<&str>> = written(tokens).collect();
    let text: Option<String> = written.iter().copied().collect();
    let fed = |program: &&str| text.as_ref().map(|text| Spawn::Shell(format!("{program} <<< {}", quoted(text))));
    let fed: Vec<Spawn> = alone.iter().filter(|_| !written.is_empty()).filter_map(fed).collect();
    spawns.extend(fed);
    (spawns, text.is_none())
}

/// A program that is given nothing but what it reads.
fn alone(spawn: &Spawn) -> Option<&str> {
    let program = match spawn {
        Spawn::Shell(text) => text.trim(),
        Spawn::Words(words) => match words.as_slice() {
            [Some(program)] => program,
            _ => return None,
        },
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    RUNNING.contains(&name).then_some(program)
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
