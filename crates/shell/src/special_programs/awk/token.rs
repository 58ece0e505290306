//! The tokens of an `awk` program. The slash is ambiguous: it is a division, or the start of a regex.

use std::iter::Peekable;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A string constant, with its escape sequences replaced.
    Text(String),
    Regex,
    Number,
    Name(&'t str),
    /// An operator, a bracket, or the end of a line.
    Mark(&'t str),
}

impl Token<'_> {
    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self, Token::Mark(found) if *found == mark)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tokens<'t> {
    pub(super) list: Vec<Token<'t>>,
    /// True if all strings end.
    pub(super) is_whole: bool,
}

const LONG_MARKS: &[&str] =
    &["||", "|&", "&&", ">>", ">=", "<=", "==", "!=", "!~", "+=", "-=", "*=", "/=", "%=", "^=", "++", "--", "**"];

/// A regex may follow these words, as it may follow an operator.
const BEFORE_REGEX: &[&str] = &["print", "printf", "return", "in", "else", "do", "case", "getline", "exit"];

pub(super) fn tokens(code: &str) -> Tokens<'_> {
    let mut list: Vec<Token> = Vec::new();
    // For each open parenthesis: true if it contains a condition.
    let mut open = Vec::new();
    let mut takes_regex = true;
    let mut rest = code;
    while let Some(letter) = rest.chars().next() {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (token, length) = match letter {
            ' ' | '\t' | '\r' => (None, 1),
            '\\' if rest.starts_with("\\\n") => (None, 2),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '"' => match text(rest) {
                Some((text, length)) => (Some(Token::Text(text)), length),
                None => return Tokens { list, is_whole: false },
            },
            '/' if takes_regex && let Some(length) = regex_length(rest) => (Some(Token::Regex), length),
            '0'..='9' => {
                let is_part = |letter: char| is_name(letter) || letter == '.';
                (Some(Token::Number), rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()))
            }
            letter if is_name(letter) => {
                let length = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
                (rest.get(..length).map(Token::Name), length)
            }
            letter => {
                let long = LONG_MARKS.iter().find(|mark| rest.starts_with(**mark));
                let length = long.map_or(letter.len_utf8(), |mark| mark.len());
                (rest.get(..length).map(Token::Mark), length)
            }
        };
        rest = rest.get(length..).unwrap_or_default();
        let Some(token) = token else { continue };
        takes_regex = match token {
            Token::Name(name) => BEFORE_REGEX.contains(&name),
            Token::Mark("(") => {
                open.push(matches!(list.last(), Some(Token::Name("if" | "while" | "for" | "switch"))));
                true
            }
            Token::Mark(")") => open.pop().unwrap_or(false),
            Token::Mark(mark) => !matches!(mark, "]" | "++" | "--" | "$"),
            _ => false,
        };
        list.push(token);
    }
    Tokens { list, is_whole: true }
}

/// Returns the length of the regex with both slashes; `None` if it does not end on its line.
fn regex_length(text: &str) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    let mut in_brackets = false;
    // Some implementations end a regex at a slash in brackets. Here, it only does if the bracket is not closed on the
    // line.
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\n' => return None,
            '\\' => {
                letters.next()?;
            }
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            '/' if !in_brackets || !text.get(at..)?.lines().next()?.contains(']') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the string constant at the start of the code, and its length in the code.
fn text(code: &str) -> Option<(String, usize)> {
    let mut bytes = Vec::new();
    let mut letters = code.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((String::from_utf8(bytes).ok()?, at + 1)),
            '\n' => return None,
            '\\' => match letters.next()?.1 {
                'n' => bytes.push(b'\n'),
                't' => bytes.push(b'\t'),
                'r' => bytes.push(b'\r'),
                'a' => bytes.push(0x07),
                'b' => bytes.push(0x08),
                'f' => bytes.push(0x0c),
                'v' => bytes.push(0x0b),
                '\n' => {}
                'x' => bytes.push(number(&mut letters, 0, 16)),
                digit @ '0'..='7' => bytes.push(number(&mut letters, digit.to_digit(8)?, 8)),
                // Some implementations keep the backslash, which a shell then removes.
                other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
            },
            _ => bytes.extend(letter.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    None
}

/// Reads up to two digits that follow the first one.
fn number(letters: &mut Peekable<impl Iterator<Item = (usize, char)>>, first: u32, radix: u32) -> u8 {
    let mut value = first;
    for _ in 0..2 {
        let Some((_, digit)) = letters.next_if(|(_, next)| next.is_digit(radix)) else { break };
        value = value * radix + digit.to_digit(radix).unwrap_or_default();
    }
    u8::try_from(value & 0xff).unwrap_or_default()
}
