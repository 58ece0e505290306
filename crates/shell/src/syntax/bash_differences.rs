//! Constructs that bash parses differently from the parser that Linchpin uses. A script that contains such a construct
//! never counts as complete.
//!
//! The constructs were found by comparing the parser's results with those of bash. They are rare in harmless scripts,
//! so they rarely cause a question to a person. Once the parser supports a construct, remove the construct here.

use super::closing;

/// With more heredocs, a script with a line continuation counts as doubtful.
const MAX_HEREDOCS: usize = 64;

/// Returns a description of a construct in the script that bash may parse differently.
pub(crate) fn doubtful_construct(text: &str) -> Option<&'static str> {
    let expansions = || text.split("${").skip(1).map(|rest| rest.split('}').next().unwrap_or_default());
    if expansions().any(|inside| inside.contains("<(") || inside.contains(">(")) {
        return Some("a process substitution inside `${…}`");
    }
    let runs_command = |index: &str| without_arithmetic(index).contains("$(") || index.contains('`');
    if expansions().any(|inside| inside.split_once('[').is_some_and(|(_, index)| runs_command(index))) {
        return Some("an expansion in an array index");
    }
    let is_continued = || heredocs(text).take(MAX_HEREDOCS).any(is_continued);
    if text.contains("\\\n") && (is_continued() || heredocs(text).nth(MAX_HEREDOCS).is_some()) {
        return Some("a line continuation in a heredoc");
    }
    if expansions().any(|inside| inside.contains("<<")) {
        return Some("`<<` inside `${…}`");
    }
    if expansions().any(|inside| inside.ends_with("@P")) {
        return Some("a value that is expanded a second time");
    }
    // A `#` directly after a process substitution continues the word, but the parser reads a comment. A placeholder
    // replaces this `#`, so that `unquoted` does not remove it as a comment.
    let continues_word =
        || closing::unquoted(&text.replace(")#", ")\u{1}")).is_none_or(|plain| plain.contains(")\u{1}"));
    if text.contains(")#") && (text.contains("<(") || text.contains(">(")) && continues_word() {
        return Some("`#` after a parenthesis");
    }
    // The parser reads `\$'` as the start of `$'…'`, in which a backslash may escape the closing quote.
    let quoted = text.split("\\$'").skip(1).map(|rest| rest.split('\'').next().unwrap_or_default());
    if quoted.into_iter().any(|inside| inside.contains('\\')) {
        return Some("an escaped `$` before a quote with a backslash");
    }
    if ends_at_parenthesis(text) {
        return Some("a heredoc that a parenthesis ends");
    }
    if !text.contains("=(") {
        return None;
    }
    let plain = closing::unquoted(text);
    let plain = plain.as_deref().unwrap_or(text);
    plain.split("=(").skip(1).any(continues_after_array).then_some("text directly after an array")
}

/// Removes each `$((…))` that cannot run anything.
fn without_arithmetic(index: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_+-*/% ".contains(c);
    let mut parts = index.split("$((");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("))").filter(|(inside, _)| inside.chars().all(is_plain)) {
            Some((_, after)) => rest.push_str(after),
            None => rest.extend(["$((", part]),
        }
    }
    rest
}

/// True if a line consists of the tag of a heredoc, directly followed by a parenthesis.
fn ends_at_parenthesis(text: &str) -> bool {
    text.split("<<").skip(1).any(|rest| {
        let tag = rest.trim_start_matches(['-', ' ', '\t']).trim_start_matches(['\'', '"', '\\']);
        let length = tag.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tag.len());
        let tag = tag.get(..length).filter(|tag| !tag.is_empty());
        let is_end = |line: &str, tag: &str| {
            line.trim_start_matches('\t').strip_prefix(tag).is_some_and(|after| after.starts_with(')'))
        };
        tag.is_some_and(|tag| rest.lines().skip(1).any(|line| is_end(line, tag)))
    })
}

/// Returns the text after each `<<` that starts, or may start, a heredoc whose body is expanded.
fn heredocs(text: &str) -> impl Iterator<Item = &str> {
    let is_plain = |rest: &&str| {
        let tag = rest.trim_start_matches('-').trim_start_matches([' ', '\t']);
        !tag.starts_with(['<', '\'', '"', '=']) && !tag.starts_with(|first: char| first.is_ascii_digit())
    };
    text.match_indices("<<").filter_map(|(index, operator)| text.get(index + operator.len()..)).filter(is_plain)
}

/// True if a line of a heredoc, or the line with its opening tag, continues on the next line. `after`: the text after
/// the `<<` of the heredoc.
fn is_continued(after: &str) -> bool {
    let after = after.trim_start_matches('-').trim_start_matches([' ', '\t']);
    let is_name_character = |c: char| c.is_alphanumeric() || c == '_';
    let length = after.find(|c| !is_name_character(c)).unwrap_or(after.len());
    let (tag, rest) = after.split_at_checked(length).unwrap_or((after, ""));
    // If another character follows the tag, the end of the heredoc is not certain.
    if tag.is_empty() || !rest.starts_with([' ', '\t', '\n', ';', '|', '&', '<', '>', ')']) && !rest.is_empty() {
        return true;
    }
    let mut lines = rest.split('\n');
    let first = lines.next().unwrap_or_default();
    first.ends_with('\\')
        || lines.take_while(|line| line.trim_start_matches('\t') != tag).any(|line| line.ends_with('\\'))
}

/// True if text directly follows the end of an array. In `a=(x)y`, bash reads all of `(x)y` as the value, but the
/// parser reads `y` as the program. `rest`: the text after the opening parenthesis.
fn continues_after_array(rest: &str) -> bool {
    let mut depth = 1_usize;
    let mut characters = rest.chars();
    for c in characters.by_ref() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    characters.next().is_some_and(|next| !next.is_whitespace() && !";|&)<>}".contains(next))
}

/// True if a word of `[[ … ]]` is a quoted array element with a command substitution in its index.
pub(crate) fn has_quoted_index(raw: &str) -> bool {
    raw.strip_prefix('\'').is_some_and(has_command_in_index)
}

/// True for an array element with a command substitution in its index: `a[$(command)]`. Bash runs the command when it
/// evaluates the text as arithmetic.
pub(crate) fn has_command_in_index(text: &str) -> bool {
    let name = text.split_once('[').map_or("", |(name, _)| name);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name && contains_command_substitution(text)
}

pub(crate) fn contains_command_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}
