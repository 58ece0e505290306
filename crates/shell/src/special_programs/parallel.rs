//! `parallel`: runs a command for each argument or each line of its input, or runs the arguments as commands.

use crate::model::{Input, Word};
use crate::special_programs::replacement_string;
use crate::syntax::quoting::quoted;

/// A longer list of arguments counts as unknown.
const MAX_ARGUMENTS: usize = 64;

/// Returns the shell scripts that `parallel` runs; `None` for a script that is not known. `words`: the words after the
/// flags.
pub(crate) fn scripts(words: &[Word], input: Input) -> Vec<Option<String>> {
    let mut lists = words.split(is_argument_marker);
    let template = lists.next().unwrap_or_default().iter().map(|word| word.value.as_deref());
    let template: Option<Vec<&str>> = template.collect();
    let files = words.iter().any(|word| word.value.as_deref().is_some_and(|text| text.starts_with("::::")));
    let argument_list: Option<Vec<String>> = match (lists.next(), lists.next()) {
        (Some(list), None) if !files => list.iter().map(|word| word.value.clone()).collect(),
        (None, _) => match input {
            Input::Text(text) => Some(text.lines().map(str::to_owned).collect()),
            Input::Paths(paths) => paths.iter().map(|path| path.value_or_placeholder().map(str::to_owned)).collect(),
            _ => None,
        },
        _ => None,
    };
    let Some(template) = template else { return vec![None] };
    let Some(argument_list) = argument_list.filter(|list| list.len() <= MAX_ARGUMENTS) else {
        // The command is known, but its arguments are not: an unknown variable stands for them.
        let template = Some(template).filter(|template| !template.is_empty());
        return vec![template.and_then(|template| filled_with(&template, "\"${LINE}\""))];
    };
    argument_list.into_iter().map(|argument| filled(&template, argument)).collect()
}

/// Returns the files that `parallel` reads its arguments from, which follow `::::`.
pub(crate) fn files(words: &[Word]) -> impl Iterator<Item = &Word> {
    let mut is_after_marker = false;
    words.iter().filter(move |word| {
        if is_argument_marker(word) {
            is_after_marker = word.value.as_deref().is_some_and(|text| text.starts_with("::::"));
        }
        is_after_marker && !is_argument_marker(word)
    })
}

/// True for `:::` or `::::`, which precede the arguments.
pub(crate) fn is_argument_marker(word: &Word) -> bool {
    word.value.as_deref().is_some_and(|text| text.starts_with(":::"))
}

fn filled(template: &[&str], argument: String) -> Option<String> {
    if template.is_empty() {
        return Some(argument);
    }
    filled_with(template, &quoted(&argument))
}

fn filled_with(template: &[&str], argument: &str) -> Option<String> {
    let text = template.join(" ");
    let text = if text.contains("{}") { text } else { format!("{text} {{}}") };
    replacement_string::insert(&text, "{}", argument)
}
