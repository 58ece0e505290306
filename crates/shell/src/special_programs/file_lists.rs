//! Commands that read the names of files to process from a list: `cpio -o`, `tar -T LIST`, `rsync --files-from=-`.

use crate::model::{SimpleCommand, Word};
use crate::programs::{Argument, Arguments, Role};

/// True if the command reads file names from stdin.
pub(crate) fn reads_file_names(command: &SimpleCommand) -> bool {
    let Some(arguments) = command.arguments() else { return false };
    let is_read = |argument: &Argument| {
        argument.role == Role::Names && command.text_from(argument.word, argument.from) == Some("-")
    };
    match command.program() {
        Some("cpio") => arguments.has_flag(&["-o", "-p", "--create", "--pass-through"]),
        Some("zip") => arguments.has_flag(&["-@"]),
        _ => arguments.with_roles.iter().any(is_read),
    }
}

/// Returns the file names in the lists, as far as they are known.
pub(crate) fn listed_names(command: &SimpleCommand, arguments: &Arguments) -> Vec<Word> {
    let lists = arguments.with_roles.iter().filter(|argument| argument.role == Role::Names);
    let lists = lists.filter_map(|argument| command.words().get(argument.word));
    let listed =
        lists.flat_map(|list| names_in_text(list.contents.as_deref()).chain(list.possible_paths.iter().cloned()));
    let mut names: Vec<Word> = listed.collect();
    if reads_file_names(command) {
        names.extend(names_in_text(command.stdin_text()));
        names.extend(command.provenance.piped_names.iter().cloned());
    }
    names
}

fn names_in_text(text: Option<&str>) -> impl Iterator<Item = Word> {
    text.into_iter().flat_map(|text| text.split(['\n', '\0'])).filter(|name| !name.is_empty()).map(Word::known)
}
