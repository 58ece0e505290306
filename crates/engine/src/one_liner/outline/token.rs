//! Strings, names and signs of a language that is looked over.

use super::tongue::{Quotes, Tongue};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    /// `None` where it has holes.
    Text(Option<String>),
    /// One that is run where it stands.
    Command(Option<String>),
    Mark(&'t str),
    Newline,
}

impl Token<'_> {
    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self, Self::Mark(found) if *found == mark)
    }
}

pub(super) struct Tokens<'t> {
    pub(super) list: Vec<Token<'t>>,
    /// Whether every string and comment ends.
    pub(super) is_whole: bool,
}

/// Signs of more than one letter.
const LONG_MARKS: &[&str] = &["++", "->", "::", "..", "<>", "=>", "|>"];

pub(super) fn tokens<'t>(tongue: &Tongue, text: &'t str) -> Tokens<'t> {
    let mut found = Tokens { list: Vec::new(), is_whole: true };
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if let Some((open, close)) = tongue.comments.iter().find(|(open, _)| rest.starts_with(open)) {
            let inside = rest.get(open.len()..).unwrap_or_default();
            let end = inside.find(close.unwrap_or("\n"));
            found.is_whole &= end.is_some() || close.is_none();
            rest = end.and_then(|end| inside.get(end + close.map_or(0, str::len)..)).unwrap_or_default();
        } else if tongue.has_transposes && letter == '\'' && ends_value(text, rest) {
            found.list.push(Token::Mark("'"));
            rest = rest.get(1..).unwrap_or_default();
        } else if let Some(quotes) = tongue.strings.iter().find(|quotes| rest.starts_with(quotes.open)) {
            let (text, behind) = string(*quotes, rest.get(quotes.open.len()..).unwrap_or_default());
            found.is_whole &= behind.is_some();
            found.list.push(if quotes.is_command { Token::Command(text) } else { Token::Text(text) });
            rest = behind.unwrap_or_default();
        } else if let Some(behind) = rest.strip_prefix('!').filter(|behind| starts_shell_line(tongue, behind)) {
            let (line, behind) = behind.split_at(behind.find('\n').unwrap_or(behind.len()));
            found.list.push(Token::Command(Some(line.trim().to_owned())));
            rest = behind;
        } else if let Some(lines) = here_document(rest) {
            let behind = behind_here_document(lines);
            found.is_whole &= behind.is_some();
            found.list.push(Token::Text(None));
            rest = behind.unwrap_or_default();
        } else if let Some(behind) = behind_letter(tongue, rest) {
            found.list.push(Token::Text(None));
            rest = behind;
        } else if is_name(letter) {
            let length = name_length(tongue, rest);
            let (name, behind) = rest.split_at(length);
            found.list.push(Token::Name(name));
            rest = behind;
        } else if letter == '\n' {
            found.list.push(Token::Newline);
            rest = rest.get(1..).unwrap_or_default();
        } else {
            let long = LONG_MARKS.iter().find(|mark| rest.starts_with(**mark));
            let (mark, behind) = rest.split_at(long.map_or(letter.len_utf8(), |mark| mark.len()));
            found.list.extend((!letter.is_whitespace()).then_some(Token::Mark(mark)));
            rest = behind;
        }
    }
    found
}

/// Whether a value stands right before the rest of a text.
fn ends_value(text: &str, rest: &str) -> bool {
    let before = text.strip_suffix(rest).unwrap_or_default();
    before.ends_with(|last: char| is_name(last) || matches!(last, ')' | ']' | '}' | '\'' | '.'))
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn name_length(tongue: &Tongue, text: &str) -> usize {
    // In names of R, a dot is a letter; a mark at the end is part of a name of Elixir and Julia.
    let is_r = tongue.joint == "::" && tongue.concat.is_empty();
    let is_part = |letter: char| is_name(letter) || tongue.letters.contains(letter) || letter == '.' && is_r;
    let part = |text: &str| text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let mut length = part(text);
    while let Some(next) = text.get(length..).and_then(|rest| rest.strip_prefix(tongue.joint)) {
        match part(next) {
            0 => break,
            more => length += tongue.joint.len() + more,
        }
    }
    let behind = text.get(length..).unwrap_or_default();
    let has_mark = tongue.joint == "." && behind.starts_with('!') && !behind.starts_with("!=");
    length + usize::from(has_mark)
}

/// Behind `!`: a command, and no comparison.
fn starts_shell_line(tongue: &Tongue, text: &str) -> bool {
    tongue.has_shell_lines && !text.starts_with(['=', '<', '>'])
}

/// `TAG`, some lines, `TAG`, where the text begins with `<<<`.
fn here_document(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("<<<")?.trim_start_matches([' ', '"', '\'']);
    rest.starts_with(is_name).then_some(rest)
}

/// `None` where it does not end.
fn behind_here_document(text: &str) -> Option<&str> {
    let tag = text.get(..text.find(|letter| !is_name(letter))?)?;
    let mut behind = text.split_once('\n')?.1;
    loop {
        if let Some(end) = behind.trim_start_matches([' ', '\t']).strip_prefix(tag) {
            return Some(end);
        }
        behind = behind.split_once('\n')?.1;
    }
}

/// `'"'`, where that is no string.
fn behind_letter<'t>(tongue: &Tongue, text: &'t str) -> Option<&'t str> {
    let rest = text.strip_prefix('\'').filter(|_| !tongue.strings.iter().any(|quotes| quotes.open == "'"))?;
    let mut letters = rest.strip_prefix('\\').unwrap_or(rest).chars();
    letters.next()?;
    letters.as_str().strip_prefix('\'')
}

/// What is in it, and what is behind it; that is `None` where it does not end.
fn string(quotes: Quotes, text: &str) -> (Option<String>, Option<&str>) {
    let mut constant = Some(String::new());
    let mut rest = text;
    loop {
        if let Some(behind) = rest.strip_prefix(quotes.close) {
            return (constant, Some(behind));
        }
        if quotes.holes.iter().any(|hole| rest.strip_prefix(hole).is_some_and(starts_hole)) {
            constant = None;
        }
        let mut letters = rest.chars();
        let Some(letter) = letters.next() else { return (None, None) };
        let letter = if letter == '\\' && quotes.escapes {
            match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(plain) if !plain.is_alphanumeric() => plain,
                // A letter by its number.
                _ => {
                    constant = None;
                    letter
                }
            }
        } else {
            letter
        };
        if let Some(constant) = &mut constant {
            constant.push(letter);
        }
        rest = letters.as_str();
    }
}

/// A lone `$` is one.
fn starts_hole(rest: &str) -> bool {
    rest.starts_with(|letter: char| !letter.is_whitespace() && !"\"'`$/.,)".contains(letter))
}
