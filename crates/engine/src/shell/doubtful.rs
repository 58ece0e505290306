//! Constructs that are known to be read differently by bash than here. Where one stands, nobody should think that the
//! picture is complete.
//!
//! Each was found by comparing with bash. Most are rare in work that means no harm, so that asking about them costs
//! little; understanding one of them properly removes it from here.

use super::command::{Redirect, RedirectKind, SimpleCommand, Word};
use super::extent;
use super::state::SOME_NUMBER;

/// More here-documents are not looked through.
const MAX_DOCUMENTS: usize = 64;

/// What is doubtful about the text as a whole.
pub(super) fn in_text(text: &str) -> Option<&'static str> {
    let expansions = || text.split("${").skip(1).map(|rest| rest.split('}').next().unwrap_or_default());
    if expansions().any(|inside| inside.contains("<(") || inside.contains(">(")) {
        return Some("a process substitution inside `${…}`");
    }
    let runs = |index: &str| without_arithmetic(index).contains("$(") || index.contains('`');
    if expansions().any(|inside| inside.split_once('[').is_some_and(|(_, index)| runs(index))) {
        return Some("an expansion in an array index");
    }
    let is_continued = || here_documents(text).take(MAX_DOCUMENTS).any(is_continued);
    if text.contains("\\\n") && (is_continued() || here_documents(text).nth(MAX_DOCUMENTS).is_some()) {
        return Some("a line continuation in a here-document");
    }
    if expansions().any(|inside| inside.contains("<<")) {
        return Some("`<<` inside `${…}`");
    }
    if expansions().any(|inside| inside.ends_with("@P")) {
        return Some("a text that is expanded once more");
    }
    // A word goes on behind a process substitution; the parser sees a comment.
    // Without quotes; a mark of its own, or it would go as a comment.
    let goes_on = || extent::unquoted(&text.replace(")#", ")\u{1}")).is_none_or(|plain| plain.contains(")\u{1}"));
    if text.contains(")#") && (text.contains("<(") || text.contains(">(")) && goes_on() {
        return Some("`#` behind a parenthesis");
    }
    // The parser takes `\\$'` for the beginning of `$'…'`, in which a backslash keeps the next quote from ending it.
    let quoted = text.split("\\$'").skip(1).map(|rest| rest.split('\'').next().unwrap_or_default());
    if quoted.into_iter().any(|inside| inside.contains('\\')) {
        return Some("an escaped `$` before a quote with a backslash");
    }
    if ends_at_parenthesis(text) {
        return Some("a here-document that a parenthesis ends");
    }
    if !text.contains("=(") {
        return None;
    }
    let plain = extent::unquoted(text);
    let plain = plain.as_deref().unwrap_or(text);
    plain.split("=(").skip(1).any(goes_on_behind_array).then_some("text right behind an array")
}

/// Less each `$((…))` in which nothing can be run.
fn without_arithmetic(index: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_+-*/% ".contains(letter);
    let mut parts = index.split("$((");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("))").filter(|(inside, _)| inside.chars().all(is_plain)) {
            Some((_, behind)) => rest.push_str(behind),
            None => rest.extend(["$((", part]),
        }
    }
    rest
}

/// A line with the tag of a here-document and a parenthesis right behind it.
fn ends_at_parenthesis(text: &str) -> bool {
    text.split("<<").skip(1).any(|rest| {
        let tag = rest.trim_start_matches(['-', ' ', '\t']).trim_start_matches(['\'', '"', '\\']);
        let length = tag.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(tag.len());
        let tag = tag.get(..length).filter(|tag| !tag.is_empty());
        let is_end = |line: &str, tag: &str| {
            line.trim_start_matches('\t').strip_prefix(tag).is_some_and(|behind| behind.starts_with(')'))
        };
        tag.is_some_and(|tag| rest.lines().skip(1).any(|line| is_end(line, tag)))
    })
}

/// What stands behind each `<<` that begins a here-document whose body is expanded, or may be one.
fn here_documents(text: &str) -> impl Iterator<Item = &str> {
    let is_plain = |rest: &&str| {
        let tag = rest.trim_start_matches('-').trim_start_matches([' ', '\t']);
        !tag.starts_with(['<', '\'', '"', '=']) && !tag.starts_with(|first: char| first.is_ascii_digit())
    };
    text.match_indices("<<").filter_map(|(place, mark)| text.get(place + mark.len()..)).filter(is_plain)
}

/// Whether a line goes on with the next one in the here-document whose tag comes first, or on its line.
fn is_continued(behind: &str) -> bool {
    let behind = behind.trim_start_matches('-').trim_start_matches([' ', '\t']);
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let length = behind.find(|letter| !is_letter(letter)).unwrap_or(behind.len());
    let (tag, rest) = behind.split_at_checked(length).unwrap_or((behind, ""));
    // One that ends otherwise may end anywhere.
    if tag.is_empty() || !rest.starts_with([' ', '\t', '\n', ';', '|', '&', '<', '>', ')']) && !rest.is_empty() {
        return true;
    }
    let mut lines = rest.split('\n');
    let first = lines.next().unwrap_or_default();
    first.ends_with('\\')
        || lines.take_while(|line| line.trim_start_matches('\t') != tag).any(|line| line.ends_with('\\'))
}

/// Of `a=(x)y`, bash makes a value of the whole; the parser makes `y` the program.
fn goes_on_behind_array(rest: &str) -> bool {
    let mut depth = 1_usize;
    let mut letters = rest.chars();
    for letter in letters.by_ref() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    letters.next().is_some_and(|next| !next.is_whitespace() && !";|&)<>}".contains(next))
}

/// Of a pattern in the place of a program, nobody knows what it becomes: `for test in tests/*; do $test; done`. It could
/// even be several words, so only one that stays in a folder of the project is a program like any that is not known.
pub(super) fn forget_pattern(command: &mut SimpleCommand) {
    let Some(first) = command.words.first_mut().filter(|first| first.glob) else { return };
    let stays = |text: &str| !text.starts_with(['/', '~', '$']) && !text.contains("..");
    let Some((folder, _)) =
        first.meaning().filter(|text| stays(text)).and_then(|text| text.split_once(['*', '?', '[']))
    else {
        return;
    };
    if folder.contains('/') {
        let shown = format!("{folder}$…");
        *first = Word { raw: shown.clone(), shown, ..Word::default() };
    }
}

/// What is doubtful about one command.
pub(super) fn in_command(command: &SimpleCommand) -> Option<&'static str> {
    if let Some(first) = command.words.first() {
        // `[` and `[[` are programs.
        if first.glob && first.value.as_ref().is_none_or(|text| text.len() > 2) {
            return Some("a pattern in the place of a program");
        }
        if matches!(first.value.as_deref(), Some("time" | "!" | "--" | "-p")) {
            return Some("`time` where bash reads it differently");
        }
    }
    let set = command.assignments.iter().filter_map(|set| Some((set.name.as_str(), set.value.value.as_deref()?)));
    if set.clone().any(|(_, value)| has_command_in_index(value)) {
        return Some("a command in an array index");
    }
    if set.clone().any(|(name, value)| PROMPTS.contains(&name) && runs_something(value)) {
        return Some("a command in a prompt");
    }
    if takes_names(command) && command.words.iter().any(|word| word.value.as_deref().is_some_and(has_command_in_index))
    {
        return Some("a command in an array index");
    }
    if declares(command) && command.words.iter().any(|word| word.value.as_deref().is_some_and(sets_command_in_index)) {
        return Some("a command in an array index");
    }
    if makes_completions(command) && command.words.iter().any(|word| word.value.as_deref().is_some_and(runs_something))
    {
        return Some("a command in a list of words");
    }
    if command.words.iter().any(|word| descriptor_variable(word).is_some()) {
        return Some("a redirection to a descriptor that a variable names");
    }
    if command.redirects.iter().any(is_odd_duplicate) {
        return Some("an odd duplication of a descriptor");
    }
    command.words.iter().any(has_odd_braces).then_some("odd braces")
}

/// Whether words of it are names of variables, which bash expands once more.
fn takes_names(command: &SimpleCommand) -> bool {
    match command.program() {
        Some("read" | "unset" | "mapfile" | "readarray" | "declare" | "typeset" | "local" | "let" | "test" | "[") => {
            true
        }
        Some("printf") => command.words.get(1).is_some_and(|word| word.value.as_deref() == Some("-v")),
        _ => false,
    }
}

/// Whether words of it may be arithmetic: `declare -i n=…`, `let n=…`.
fn declares(command: &SimpleCommand) -> bool {
    matches!(command.program(), Some("declare" | "typeset" | "local" | "readonly" | "export" | "let"))
}

/// Whether it expands a word that it is given: `compgen -W`.
fn makes_completions(command: &SimpleCommand) -> bool {
    matches!(command.program(), Some("compgen" | "complete"))
}

/// `'n=a[$(command)]'`
fn sets_command_in_index(text: &str) -> bool {
    text.split_once('=').is_some_and(|(_, value)| has_command_in_index(value))
}

/// What a shell shows before it runs something. It expands them then.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4"];

/// `'a[$(command)]'`: arithmetic runs it.
fn has_command_in_index(text: &str) -> bool {
    let name = text.split_once('[').map_or("", |(name, _)| name);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name && runs_something(text)
}

fn runs_something(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

/// The same, of a word of `[[ … ]]` as it is written.
pub(super) fn has_quoted_index(raw: &str) -> bool {
    raw.strip_prefix('\'').is_some_and(has_command_in_index)
}

/// The name in `{fd}>file`.
pub(super) fn descriptor_variable(word: &Word) -> Option<&str> {
    let name = word.raw.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    name.filter(|name| !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_'))
}

/// Anything behind `>&` but a number or `-`: bash may expand it twice, or end it early.
fn is_odd_duplicate(redirect: &Redirect) -> bool {
    let is_duplicate = matches!(redirect.kind, RedirectKind::DuplicateInput | RedirectKind::DuplicateOutput);
    let is_plain = |target: &str| target == "-" || target.bytes().all(|byte| byte.is_ascii_digit());
    // `exec {fd}>file` and `coproc` set such.
    let is_number = redirect.target.means.as_deref() == Some(SOME_NUMBER);
    is_duplicate && !is_number && !redirect.target.value.as_deref().is_some_and(is_plain)
}

/// Unbalanced braces.
fn has_odd_braces(word: &Word) -> bool {
    let raw = word.raw.as_str();
    if !raw.contains('{') || raw.contains(['\'', '"', '\\', '$']) {
        return false;
    }
    raw.matches('{').count() != raw.matches('}').count()
}
