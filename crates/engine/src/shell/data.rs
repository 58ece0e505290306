//! Which operands are data to their program: text that it prints, stores, searches for or interprets by itself, and that no
//! shell runs.
//!
//! A program that is not known has no data operands, so that all it is given stays visible to rules.

use super::command::Word;
use crate::programs::{Role, arguments};

/// Sets [`Word::role`] of every word. The program is the first of them.
pub(super) fn mark(words: &mut [Word]) {
    for word in &mut *words {
        word.role = Role::Plain;
        word.flag_length = 0;
    }
    let Some(program) = words.first().and_then(|program| program.value.as_deref()) else { return };
    let program = program.rsplit('/').next().unwrap_or(program);
    // An expansion that begins like a flag is one, whatever follows.
    let texts: Vec<Option<&str>> = words
        .iter()
        .map(|word| {
            word.value.as_deref().or(Some(&word.shown).filter(|shown| shown.starts_with('-')).map(String::as_str))
        })
        .collect();
    let Some(arguments) = arguments(program, &texts) else { return };
    for argument in arguments.list.iter().filter(|argument| matches!(argument.role, Role::Data | Role::Code)) {
        if let Some(word) = words.get_mut(argument.word) {
            word.role = argument.role;
            word.flag_length = argument.from;
        }
    }
}
