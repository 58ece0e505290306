//! What a program text in another language finds when a command runs it: its words, its file, its variables.

use std::borrow::Cow;

use super::command::SimpleCommand;
use super::through::script_file;
use crate::one_liner::{Given, Language};
use crate::programs::Role;

pub(super) fn given(command: &SimpleCommand) -> Given {
    let file = command.script.as_ref().and_then(|_| script_file(command)).map(Cow::into_owned);
    let exported = command.exported.iter().map(|exported| (&*exported.name, exported.value.as_deref()));
    let set = command.assignments.iter().map(|set| (set.name.as_str(), set.value.value.as_deref()));
    let mut variables: Vec<(String, String)> = Vec::new();
    for (name, value) in exported.chain(set) {
        // The last counts, and one that nobody knows is none.
        variables.retain(|(known, _)| known != name);
        variables.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    }
    Given { words: words(command), file, variables }
}

fn words(command: &SimpleCommand) -> Option<Vec<Option<String>>> {
    let list = &command.arguments.as_ref()?.list;
    // `node -e` has one name less before them, and takes `--` away.
    let is_node = command.program().and_then(Language::of) == Some(Language::Node);
    let in_command = list.iter().any(|argument| argument.role == Role::Code);
    let words = list.iter().find(|argument| argument.role == Role::Words && !(is_node && in_command))?;
    let words = command.words.get(words.word..)?.iter();
    Some(words.map(|word| word.value.clone().filter(|_| !word.glob)).collect())
}
