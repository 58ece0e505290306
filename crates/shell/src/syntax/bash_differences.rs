//! Constructs that bash reads differently from this parser. A script that contains one is never complete.
//!
//! They were found by comparing the results with bash. Most of them are rare in harmless scripts, so asking a person
//! about them costs little. A construct that the parser reads correctly is removed from here.

use super::closing;

/// With more heredocs, a script with a line continuation counts as doubtful.
const MAX_DOCUMENTS: usize = 64;

/// Returns a doubtful construct in the script, as text.
pub(crate) fn in_text(text: &str) -> Option<&'static str> {
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
    // A `#` directly after a process substitution continues the word, but the parser reads a comment. A placeholder
    // replaces this `#`, so that `unquoted` does not remove it as a comment.
    let goes_on = || closing::unquoted(&text.replace(")#", ")\u{1}")).is_none_or(|plain| plain.contains(")\u{1}"));
    if text.contains(")#") && (text.contains("<(") || text.contains(">(")) && goes_on() {
        return Some("`#` behind a parenthesis");
    }
    // The parser reads `\\$'` as the start of `$'…'`, in which the backslash escapes the closing quote.
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
    let plain = closing::unquoted(text);
    let plain = plain.as_deref().unwrap_or(text);
    plain.split("=(").skip(1).any(goes_on_behind_array).then_some("text right behind an array")
}

/// Removes each `$((…))` that cannot run anything.
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

/// True if a line consists of the tag of a heredoc, directly followed by a parenthesis.
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

/// Returns the text after each `<<` that starts, or may start, a heredoc whose body is expanded.
fn here_documents(text: &str) -> impl Iterator<Item = &str> {
    let is_plain = |rest: &&str| {
        let tag = rest.trim_start_matches('-').trim_start_matches([' ', '\t']);
        !tag.starts_with(['<', '\'', '"', '=']) && !tag.starts_with(|first: char| first.is_ascii_digit())
    };
    text.match_indices("<<").filter_map(|(place, mark)| text.get(place + mark.len()..)).filter(is_plain)
}

/// True if a line of the heredoc that starts here, or the line of its tag, continues on the next line.
fn is_continued(behind: &str) -> bool {
    let behind = behind.trim_start_matches('-').trim_start_matches([' ', '\t']);
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let length = behind.find(|letter| !is_letter(letter)).unwrap_or(behind.len());
    let (tag, rest) = behind.split_at_checked(length).unwrap_or((behind, ""));
    // If another character follows the tag, the end of the heredoc is not certain.
    if tag.is_empty() || !rest.starts_with([' ', '\t', '\n', ';', '|', '&', '<', '>', ')']) && !rest.is_empty() {
        return true;
    }
    let mut lines = rest.split('\n');
    let first = lines.next().unwrap_or_default();
    first.ends_with('\\')
        || lines.take_while(|line| line.trim_start_matches('\t') != tag).any(|line| line.ends_with('\\'))
}

/// `a=(x)y`: bash reads the whole as the value, but the parser reads `y` as the program.
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

/// True if a word of `[[ … ]]` is a quoted array element with a command in its index.
pub(crate) fn has_quoted_index(raw: &str) -> bool {
    raw.strip_prefix('\'').is_some_and(has_command_in_index)
}

/// `'a[$(command)]'`: runs the command if it is evaluated as arithmetic.
pub(crate) fn has_command_in_index(text: &str) -> bool {
    let name = text.split_once('[').map_or("", |(name, _)| name);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name && runs_something(text)
}

pub(crate) fn runs_something(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}
