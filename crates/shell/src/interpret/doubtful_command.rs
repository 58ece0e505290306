//! Commands that bash may interpret differently from Linchpin.

use crate::model::{Redirect, RedirectKind, SOME_NUMBER, SimpleCommand, Word};
use crate::syntax::bash_differences::{contains_command_substitution, has_command_in_index};

/// Replaces a program name that is a glob by an unknown word: `for test in tests/*; do $test; done`. Only a glob below
/// a directory of the project is replaced, because it can only stand for files below that directory. Any other glob
/// could stand for a program outside of the project, or for a program name and its arguments.
pub(crate) fn forget_glob(command: &mut SimpleCommand) {
    let Some(first) = command.invocation.words.first_mut().filter(|first| first.glob) else { return };
    let is_in_project = |text: &str| !text.starts_with(['/', '~', '$']) && !text.contains("..");
    let Some((directory, _)) = first
        .value_or_placeholder()
        .filter(|text| is_in_project(text))
        .and_then(|text| text.split_once(['*', '?', '[']))
    else {
        return;
    };
    if directory.contains('/') {
        let shown = format!("{directory}$…");
        let unknown = Word { raw: shown.clone(), shown, ..Word::default() };
        let pattern = std::mem::replace(first, unknown);
        first.possible_paths.push(pattern);
    }
}

/// Returns a description of the first construct in a command that bash may interpret differently from Linchpin.
pub(crate) fn doubtful_construct(command: &SimpleCommand) -> Option<&'static str> {
    if let Some(first) = command.words().first() {
        // `[` and `[[` are names of commands, not globs.
        if first.glob && first.value.as_ref().is_none_or(|text| text.len() > 2) {
            return Some("a glob instead of a program");
        }
        if matches!(first.value.as_deref(), Some("time" | "!" | "--" | "-p")) {
            return Some("`time` where bash reads it differently");
        }
    }
    let set = command.assignments().iter().filter_map(|set| Some((set.name.as_str(), set.value.value.as_deref()?)));
    if set.clone().any(|(_, value)| has_command_in_index(value)) {
        return Some("a command in an array index");
    }
    if set.clone().any(|(name, value)| PROMPTS.contains(&name) && contains_command_substitution(value)) {
        return Some("a command in a prompt");
    }
    if takes_names(command)
        && command.words().iter().any(|word| word.value.as_deref().is_some_and(has_command_in_index))
    {
        return Some("a command in an array index");
    }
    if declares(command) && command.words().iter().any(|word| word.value.as_deref().is_some_and(sets_command_in_index))
    {
        return Some("a command in an array index");
    }
    if makes_completions(command)
        && command.words().iter().any(|word| word.value.as_deref().is_some_and(contains_command_substitution))
    {
        return Some("a command in a list of words");
    }
    if command.words().iter().any(|word| descriptor_variable(word).is_some()) {
        return Some("a redirection to a descriptor that a variable names");
    }
    if command.redirects().iter().any(is_odd_duplicate) {
        return Some("an odd duplication of a descriptor");
    }
    command.words().iter().any(has_odd_braces).then_some("odd braces")
}

/// True if the command's arguments are names of variables, which bash expands once more.
fn takes_names(command: &SimpleCommand) -> bool {
    match command.program() {
        Some("read" | "unset" | "mapfile" | "readarray" | "declare" | "typeset" | "local" | "let" | "test" | "[") => {
            true
        }
        Some("printf") => command.words().get(1).is_some_and(|word| word.value.as_deref() == Some("-v")),
        _ => false,
    }
}

/// True if the command's arguments may be arithmetic: `declare -i n=…`, `let n=…`.
fn declares(command: &SimpleCommand) -> bool {
    matches!(command.program(), Some("declare" | "typeset" | "local" | "readonly" | "export" | "let"))
}

/// True if the command expands one of its arguments: `compgen -W`.
fn makes_completions(command: &SimpleCommand) -> bool {
    matches!(command.program(), Some("compgen" | "complete"))
}

/// True for an assignment whose value is an array element with a command in its index: `n=a[$(command)]`.
fn sets_command_in_index(text: &str) -> bool {
    text.split_once('=').is_some_and(|(_, value)| has_command_in_index(value))
}

/// Variables that contain prompts, which the shell expands before it prints them.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4"];

/// Returns the name in `{fd}>file`.
pub(crate) fn descriptor_variable(word: &Word) -> Option<&str> {
    let name = word.raw.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    name.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// True for `>&` with a target that is neither a number nor `-`. Bash may expand the target twice, or read only its
/// beginning.
fn is_odd_duplicate(redirect: &Redirect) -> bool {
    let is_duplicate = matches!(redirect.kind, RedirectKind::DuplicateInput | RedirectKind::DuplicateOutput);
    let is_plain = |target: &str| target == "-" || target.bytes().all(|byte| byte.is_ascii_digit());
    // `exec {fd}>file` and `coproc` set variables to numbers of file descriptors. The placeholder stands for such a
    // number.
    let is_number = redirect.target.placeholder.as_deref() == Some(SOME_NUMBER);
    is_duplicate && !is_number && !redirect.target.value.as_deref().is_some_and(is_plain)
}

/// True if the word has unbalanced braces, and no quotes or expansions.
fn has_odd_braces(word: &Word) -> bool {
    let raw = word.raw.as_str();
    if !raw.contains('{') || raw.contains(['\'', '"', '\\', '$']) {
        return false;
    }
    raw.matches('{').count() != raw.matches('}').count()
}
