//! A script as Linchpin parses it, for the comparison with the recorded calls.

use shell::{self, Script, SimpleCommand};

use crate::bash::{Call, STAND_INS};

pub struct ParsedScript {
    script: Script,
}

impl ParsedScript {
    pub fn of(script: &str) -> Self {
        Self { script: shell::parse(script) }
    }

    pub fn is_complete(&self) -> bool {
        self.script.complete
    }

    fn commands(&self) -> impl Iterator<Item = &SimpleCommand> {
        self.script.commands.iter().filter(|command| !command.words().is_empty())
    }

    /// Returns a message about a call that matches none of the commands.
    pub fn unlisted(&self, calls: &[Call]) -> Option<String> {
        let call = calls.iter().find(|call| !self.commands().any(|command| could_be(command, call)))?;
        Some(format!("bash ran {call:?}, which is not listed"))
    }

    /// Returns a message about a difference between the commands and the calls. Commands that are not stand-ins are not
    /// compared.
    pub fn difference(&self, calls: &[Call]) -> Option<String> {
        let known: Vec<Call> = self.commands().filter(|command| is_fixed(command)).filter_map(as_call).collect();
        let not_listed = calls.iter().find(|call| !known.contains(call));
        let not_run = known.iter().find(|call| is_stand_in(call) && !calls.contains(call));
        match (not_listed, not_run) {
            (Some(call), _) => Some(format!("bash ran {call:?}, which is not listed as known")),
            (None, Some(call)) => Some(format!("{call:?} is listed, but was not run")),
            (None, None) => None,
        }
    }
}

fn is_stand_in(call: &Call) -> bool {
    call.first().is_some_and(|program| STAND_INS.contains(&program.as_str()))
}

/// True if the values of all words are known exactly.
fn is_fixed(command: &SimpleCommand) -> bool {
    command.words().iter().all(|word| word.value.is_some() && !word.glob && !word.tilde)
}

fn as_call(command: &SimpleCommand) -> Option<Call> {
    let mut call: Call = command.words().iter().filter_map(|word| word.value.clone()).collect();
    command.program()?.clone_into(call.first_mut()?);
    Some(call)
}

/// True if the command could be the recorded call. An unknown word may expand to any number of words.
fn could_be(command: &SimpleCommand, call: &Call) -> bool {
    let mut reached = vec![false; call.len() + 1];
    reached[0] = true;
    for (index, word) in command.words().iter().enumerate() {
        let known = if index == 0 { command.program() } else { word.value.as_deref() };
        let known = known.filter(|_| !word.glob && !word.tilde);
        let mut next = vec![false; call.len() + 1];
        for at in 0..=call.len() {
            match known {
                Some(known) => next[at] = at > 0 && reached[at - 1] && call[at - 1] == known,
                None => next[at] = reached[..=at].contains(&true),
            }
        }
        reached = next;
    }
    reached[call.len()]
}
