//! The lexer for JavaScript and TypeScript.

use super::token_list::{TokenList, opening_bracket};
use super::{Lexer, is_name_character, starts_name};
use crate::Language;
use crate::token::{Literal, LiteralKind, LiteralPart, Token, TokenKind};

/// Keywords that a value follows. A slash after them begins a regular expression.
const WORDS_BEFORE_VALUE: &[&str] =
    &["return", "typeof", "case", "in", "delete", "void", "throw", "new", "else", "do", "instanceof"];

/// Like [`WORDS_BEFORE_VALUE`], for words that are keywords in some places and names in others.
const WORDS_SOMETIMES_BEFORE_VALUE: &[&str] = &["await", "yield", "of"];

/// Keywords that are followed by a condition in parentheses, and then by a statement.
const WORDS_BEFORE_CONDITION: &[&str] = &["if", "while", "for", "with"];

/// The meaning of a slash, as determined by the tokens before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlashMeaning {
    Division,
    Regex,
    /// The slash is read as a division, but could also begin a regular expression.
    LikelyDivision,
    /// The slash is read as the beginning of a regular expression, but could also be a division.
    LikelyRegex,
}

impl Lexer<'_> {
    pub(super) fn read_javascript(&mut self) -> Vec<Token> {
        let mut list = TokenList::new();
        while let Some(character) = self.cursor.peek() {
            match character {
                '\n' => {
                    self.cursor.next();
                    list.push_newline();
                }
                _ if self.cursor.rest().starts_with("//")
                    || (list.tokens.is_empty() && self.cursor.rest().starts_with("#!")) =>
                {
                    self.cursor.skip_line();
                }
                '/' if self.cursor.take("/*") => {
                    self.is_understood &= self.cursor.skip_past("*/");
                    list.after_space = true;
                }
                '/' => self.read_javascript_slash(&mut list),
                // `<!--` begins a comment, as in HTML. In a module, it consists of operators instead.
                '<' if self.cursor.take("<!--") => {
                    let line = self.cursor.rest().lines().next().unwrap_or_default();
                    self.is_understood &= !line.contains(['(', '`']) && !line.contains("/*");
                    self.cursor.skip_line();
                }
                '-' if self.cursor.rest().starts_with("-->") && list.starts_line() => {
                    self.is_understood = false;
                    self.cursor.skip_line();
                }
                _ if character.is_whitespace() => list.after_space |= self.cursor.skip_blanks(),
                '"' | '\'' | '`' => {
                    let literal = self.read_javascript_string();
                    list.push(TokenKind::String(literal));
                }
                _ if starts_name(character) || character == '$' || character == '#' => {
                    self.cursor.next();
                    let name = self.cursor.take_while(|character| is_name_character(character) || character == '$');
                    list.push(TokenKind::Name(format!("{character}{name}")));
                }
                // A backslash outside of literals begins a Unicode escape in a name. Such names are not supported.
                '\\' => {
                    self.is_understood = false;
                    self.cursor.next();
                }
                '}' if !list.in_brackets() && self.depth > 1 => break,
                _ => self.read_number_or_punct(character, &mut list),
            }
        }
        list.tokens
    }

    /// Reads a division or a regular expression.
    fn read_javascript_slash(&mut self, list: &mut TokenList) {
        match slash_meaning(&list.tokens) {
            SlashMeaning::Division => self.read_number_or_punct('/', list),
            SlashMeaning::LikelyDivision => {
                self.is_understood &= !regex_body(self.cursor.rest()).is_some_and(may_hide_code);
                self.read_number_or_punct('/', list);
            }
            meaning @ (SlashMeaning::Regex | SlashMeaning::LikelyRegex) => {
                let has_call = || regex_body(self.cursor.rest()).is_some_and(|body| body.contains('('));
                self.is_understood &= meaning == SlashMeaning::Regex || !has_call();
                self.skip_javascript_regex();
                list.push(TokenKind::String(Literal {
                    parts: vec![LiteralPart::Interpolation(Vec::new())],
                    kind: LiteralKind::Regex,
                }));
            }
        }
    }

    fn read_javascript_string(&mut self) -> Literal {
        let Some(quote) = self.cursor.next() else { return Literal::default() };
        let is_template = quote == '`';
        let mut parts = Vec::new();
        let mut string = String::new();
        loop {
            match self.cursor.next() {
                Some(end) if end == quote => break,
                None => {
                    self.is_understood = false;
                    break;
                }
                Some('\n') if !is_template => {
                    self.is_understood = false;
                    break;
                }
                Some('\\') => {
                    // Half of a surrogate pair (`\ud83d`) is not a character. A string with such a half counts as not
                    // constant, but the source still counts as understood.
                    let is_supported = match self.cursor.peek() {
                        Some('a' | 'e' | 'U' | 'N' | 'c' | 'C' | 'M') => {
                            string.extend(self.cursor.next());
                            Some(())
                        }
                        _ => self.cursor.read_escape_sequence(&mut string),
                    };
                    if is_supported.is_none() {
                        parts.push(LiteralPart::Interpolation(Vec::new()));
                    }
                }
                Some('$') if is_template && self.cursor.take("{") => {
                    parts.push(LiteralPart::Constant(std::mem::take(&mut string)));
                    let interpolation = self.read_interpolation(Language::JavaScript);
                    parts.push(LiteralPart::Interpolation(interpolation));
                }
                Some(other) => string.push(other),
            }
        }
        parts.push(LiteralPart::Constant(string));
        Literal { parts, kind: LiteralKind::String }
    }

    fn skip_javascript_regex(&mut self) {
        self.is_understood &= !has_nested_classes(self.cursor.rest());
        self.cursor.next();
        let mut in_class = false;
        loop {
            match self.cursor.next() {
                None | Some('\n') => {
                    self.is_understood = false;
                    return;
                }
                Some('\\') => {
                    self.cursor.next();
                }
                Some('[') => in_class = true,
                Some(']') => in_class = false,
                Some('/') if !in_class => break,
                Some(_) => {}
            }
        }
        self.cursor.take_while(char::is_alphanumeric);
    }
}

/// Returns the meaning of a slash after these tokens.
fn slash_meaning(tokens: &[Token]) -> SlashMeaning {
    let Some((last, previous_tokens)) = tokens.split_last() else { return SlashMeaning::Regex };
    let is_member = previous_tokens.last().is_some_and(|token| token.is(".") || token.is("?."));
    match &last.kind {
        // A line that begins with a slash continues the previous one, except after these keywords.
        TokenKind::Newline => match previous_tokens.last().and_then(Token::name) {
            Some("return" | "yield" | "break" | "continue" | "debugger") => SlashMeaning::Regex,
            _ => slash_meaning(previous_tokens),
        },
        TokenKind::Name(name) if is_member || !may_precede_value(name) => SlashMeaning::Division,
        TokenKind::Name(name) if WORDS_BEFORE_VALUE.contains(&name.as_str()) => SlashMeaning::Regex,
        TokenKind::Name(_) => SlashMeaning::LikelyRegex,
        TokenKind::String(_) | TokenKind::Number(_) | TokenKind::Punct("]") => SlashMeaning::Division,
        TokenKind::Punct(")") => match ends_condition(tokens) {
            Some(true) => SlashMeaning::Regex,
            Some(false) => SlashMeaning::Division,
            None => SlashMeaning::LikelyDivision,
        },
        // The brace closes a block or an object.
        TokenKind::Punct("}") => SlashMeaning::LikelyDivision,
        // After a value, these are postfix operators. The postfix `!` exists only in TypeScript.
        TokenKind::Punct("++" | "--" | "!") if previous_tokens.last().is_some_and(Token::ends_a_value) => {
            slash_meaning(previous_tokens)
        }
        TokenKind::Punct(_) => SlashMeaning::Regex,
    }
}

fn may_precede_value(name: &str) -> bool {
    WORDS_BEFORE_VALUE.contains(&name) || WORDS_SOMETIMES_BEFORE_VALUE.contains(&name)
}

/// Returns true if the last token, a closing parenthesis, ends the condition of a keyword such as `if`. `None` if the
/// source in parentheses is too long.
fn ends_condition(tokens: &[Token]) -> Option<bool> {
    let mut tokens_before = tokens.get(..opening_bracket(tokens)?)?.iter().rev();
    let word = tokens_before.next().and_then(Token::name);
    let is_member = |token: &Token| token.is(".") || token.is("?.");
    Some(match (word, tokens_before.next()) {
        (Some("await"), Some(token)) => token.name() == Some("for"),
        (Some(word), previous) => WORDS_BEFORE_CONDITION.contains(&word) && !previous.is_some_and(is_member),
        (None, _) => false,
    })
}

/// Returns the source of the regular expression that begins with the next character, a slash; `None` if it does not end
/// on this line.
fn regex_body(source: &str) -> Option<&str> {
    let mut in_class = false;
    let mut characters = source.char_indices().skip(1);
    while let Some((index, character)) = characters.next() {
        match character {
            '\n' => return None,
            '\\' => {
                characters.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return source.get(1..index),
            _ => {}
        }
    }
    None
}

/// True if the regular expression has nested character classes, which are allowed with the `v` flag.
fn has_nested_classes(source: &str) -> bool {
    let mut depth = 0_usize;
    let mut are_nested = false;
    let mut characters = source.chars().skip(1);
    while let Some(character) = characters.next() {
        match character {
            '\n' => return false,
            '\\' => {
                characters.next();
            }
            '[' => {
                depth += 1;
                are_nested |= depth > 1;
            }
            ']' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => {
                return are_nested && characters.take_while(char::is_ascii_alphabetic).any(|flag| flag == 'v');
            }
            _ => {}
        }
    }
    false
}

/// True if a string or a comment would begin in the regular expression if it were code.
fn may_hide_code(regex: &str) -> bool {
    regex.contains(['\'', '"', '`']) || regex.contains("//") || regex.contains("/*") || regex.ends_with('\\')
}
