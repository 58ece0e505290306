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
    Symbol(&'t str),
}

impl Token<'_> {
    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self, Token::Symbol(found) if *found == symbol)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tokens<'t> {
    pub(super) list: Vec<Token<'t>>,
    /// False if a string has no end.
    pub(super) is_complete: bool,
}

const LONG_SYMBOLS: &[&str] =
    &["||", "|&", "&&", ">>", ">=", "<=", "==", "!=", "!~", "+=", "-=", "*=", "/=", "%=", "^=", "++", "--", "**"];

/// A regex may follow these words, as it may follow an operator.
const BEFORE_REGEX: &[&str] = &["print", "printf", "return", "in", "else", "do", "case", "getline", "exit"];

/// Splits a program into tokens.
pub(super) fn tokens(code: &str) -> Tokens<'_> {
    let mut list: Vec<Token> = Vec::new();
    // For each open parenthesis: true if it contains a condition.
    let mut open = Vec::new();
    let mut takes_regex = true;
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (token, length) = match c {
            ' ' | '\t' | '\r' => (None, 1),
            '\\' if rest.starts_with("\\\n") => (None, 2),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '"' => match text(rest) {
                Some((text, length)) => (Some(Token::Text(text)), length),
                None => return Tokens { list, is_complete: false },
            },
            '/' if takes_regex && let Some(length) = regex_length(rest) => (Some(Token::Regex), length),
            '0'..='9' => {
                let is_part = |c: char| is_name(c) || c == '.';
                (Some(Token::Number), rest.find(|c| !is_part(c)).unwrap_or(rest.len()))
            }
            c if is_name(c) => {
                let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                (rest.get(..length).map(Token::Name), length)
            }
            c => {
                let long = LONG_SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
                let length = long.map_or(c.len_utf8(), |symbol| symbol.len());
                (rest.get(..length).map(Token::Symbol), length)
            }
        };
        rest = rest.get(length..).unwrap_or_default();
        let Some(token) = token else { continue };
        takes_regex = match token {
            Token::Name(name) => BEFORE_REGEX.contains(&name),
            Token::Symbol("(") => {
                open.push(matches!(list.last(), Some(Token::Name("if" | "while" | "for" | "switch"))));
                true
            }
            Token::Symbol(")") => open.pop().unwrap_or(false),
            Token::Symbol(symbol) => !matches!(symbol, "]" | "++" | "--" | "$"),
            _ => false,
        };
        list.push(token);
    }
    Tokens { list, is_complete: true }
}

/// Returns the length of the regex with both slashes; `None` if the regex does not end on the line on which it starts.
fn regex_length(text: &str) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    let mut in_brackets = false;
    // Some implementations end a regex at a slash in brackets. This function ends the regex there only if the bracket
    // is not closed on the same line.
    while let Some((at, c)) = characters.next() {
        match c {
            '\n' => return None,
            '\\' => {
                characters.next()?;
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
    let mut characters = code.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((String::from_utf8(bytes).ok()?, at + 1)),
            '\n' => return None,
            '\\' => match characters.next()?.1 {
                'n' => bytes.push(b'\n'),
                't' => bytes.push(b'\t'),
                'r' => bytes.push(b'\r'),
                'a' => bytes.push(0x07),
                'b' => bytes.push(0x08),
                'f' => bytes.push(0x0c),
                'v' => bytes.push(0x0b),
                '\n' => {}
                'x' => bytes.push(number(&mut characters, 0, 16)),
                digit @ '0'..='7' => bytes.push(number(&mut characters, digit.to_digit(8)?, 8)),
                // Some implementations keep the backslash. A shell that runs the text then removes the backslash.
                other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
            },
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    None
}

/// Returns the byte that an escape sequence stands for: reads up to two digits, which follow the digit `first`.
fn number(characters: &mut Peekable<impl Iterator<Item = (usize, char)>>, first: u32, radix: u32) -> u8 {
    let mut value = first;
    for _ in 0..2 {
        let Some((_, digit)) = characters.next_if(|(_, next)| next.is_digit(radix)) else { break };
        value = value * radix + digit.to_digit(radix).unwrap_or_default();
    }
    u8::try_from(value & 0xff).unwrap_or_default()
}
