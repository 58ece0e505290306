//! Constructs that are known to be read differently by bash than here. Where one stands, nobody should think that the
//! picture is complete.
//!
//! Each was found by comparing with bash. Most are rare in work that means no harm, so that asking about them costs
//! little; understanding one of them properly removes it from here.

use super::extent;

/// More here-documents are not looked through.
const MAX_DOCUMENTS: usize = 64;

/// What is doubtful about the text as a whole.
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

/// Whether a word of `[[ … ]]`, as it is written, has a command in an array index.
pub(crate) fn has_quoted_index(raw: &str) -> bool {
    raw.strip_prefix('\'').is_some_and(has_command_in_index)
}

/// `'a[$(command)]'`: arithmetic runs it.
pub(crate) fn has_command_in_index(text: &str) -> bool {
    let name = text.split_once('[').map_or("", |(name, _)| name);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name && runs_something(text)
}

pub(crate) fn runs_something(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}
