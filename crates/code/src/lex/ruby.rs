//! Ruby's tokens.

use super::cursor::Row;
use super::{Escapes, INTERPOLATED, Lexer, Style, closer, is_name, starts_name};
use crate::Language;
use crate::token::{Kind, Literal, Part, Token, Usage};

/// Words that are followed by a value, so that a slash or percent sign after them begins a literal.
const BEFORE_A_VALUE: &[&str] = &[
    "if", "unless", "and", "or", "not", "while", "until", "return", "when", "in", "puts", "print", "p", "pp", "then",
    "do", "elsif", "else", "raise", "system", "exec", "spawn", "require", "yield", "warn", "printf", "grep", "match",
    "split", "scan", "case", "load", "eval",
];

impl Lexer<'_> {
    pub(super) fn ruby(&mut self) -> Vec<Token> {
        let mut row = Row::new();
        let mut pending = Vec::new();
        while let Some(character) = self.cursor.peek() {
            match character {
                '\n' => {
                    self.cursor.next();
                    row.newline();
                    self.written(Language::Ruby, &mut row, &mut pending);
                    if self.cursor.rest().lines().next() == Some("__END__") {
                        self.cursor.finish();
                    }
                }
                '#' => self.cursor.skip_line(),
                '=' if self.cursor.starts_line() && self.cursor.rest().starts_with("=begin") => {
                    if !self.cursor.skip_past_line("=end") {
                        break;
                    }
                }
                '\\' if self.cursor.peek_at(1) == Some('\n') => {
                    self.cursor.take("\\\n");
                    row.spaced = true;
                }
                _ if character.is_whitespace() => row.spaced |= self.cursor.skip_blanks(),
                '"' | '\'' | '`' => {
                    self.cursor.next();
                    let literal = self.ruby_literal(Some((character, character)), quote_style(character));
                    row.push(Kind::Text(literal));
                }
                '<' if self.cursor.rest().starts_with("<<") && self.ruby_value_follows(&row, 2) => {
                    if !self.announced(&mut row, &mut pending) {
                        self.number_or_mark(character, &mut row);
                    }
                }
                '/' if self.ruby_value_follows(&row, 1) => self.ruby_pattern(&mut row),
                '%' if self.ruby_value_follows(&row, 1) => self.ruby_percent(&mut row),
                ':' if self.ruby_symbol(&mut row) => {}
                '?' if !row.after_value()
                    && self.cursor.peek_at(1).is_some_and(|letter| !letter.is_whitespace())
                    && !self.cursor.peek_at(2).is_some_and(is_name) =>
                {
                    self.cursor.next();
                    let text = self.cursor.next().map(String::from).unwrap_or_default();
                    row.push(Kind::Text(Literal::constant(text)));
                }
                '@' | '$' => self.ruby_sigiled(character, &mut row),
                _ if starts_name(character) => {
                    let name = self.ruby_name();
                    row.push(Kind::Name(name));
                }
                '}' if !row.in_brackets() && self.depth > 1 => break,
                _ => self.number_or_mark(character, &mut row),
            }
        }
        self.sound &= pending.is_empty();
        row.tokens
    }

    /// `/…/i`.
    fn ruby_pattern(&mut self, row: &mut Row) {
        self.cursor.next();
        let style = Style { usage: Usage::Pattern, ..INTERPOLATED };
        let literal = self.ruby_literal(Some(('/', '/')), style);
        self.cursor.take_while(char::is_alphabetic);
        row.push(Kind::Text(literal));
    }

    /// `@name`, `@@name`, `$name`.
    fn ruby_sigiled(&mut self, sigil: char, row: &mut Row) {
        self.cursor.take_while(|letter| letter == sigil);
        let name = self.cursor.take_while(is_name);
        if name.is_empty() && sigil == '$' {
            self.cursor.next();
        }
        row.push(Kind::Name(format!("{sigil}{name}")));
    }

    /// A name, with the `?` or `!` that a method's name may end in.
    fn ruby_name(&mut self) -> String {
        let mut name = self.cursor.take_while(is_name).to_owned();
        if matches!(self.cursor.peek(), Some('?' | '!')) && !matches!(self.cursor.peek_at(1), Some('=' | ':')) {
            name.extend(self.cursor.next());
        }
        name
    }

    /// Whether the sign here begins a literal. After a name that depends on what the name means, so where that is not
    /// sure the text is not either.
    fn ruby_value_follows(&mut self, row: &Row, sign: usize) -> bool {
        let Some(name) = row.last_name() else { return !row.after_value() };
        let is_method = row.last_is_member();
        if BEFORE_A_VALUE.contains(&name) && !is_method {
            self.sound &= !row.is_variable(name);
            return true;
        }
        let is_tight = !self.cursor.peek_at(sign).is_some_and(char::is_whitespace);
        if row.spaced && is_tight && !name.starts_with(['@', '$']) {
            self.sound &= is_method;
            return true;
        }
        false
    }

    /// `%w[…]`, `%x{…}`, `%(…)`.
    fn ruby_percent(&mut self, row: &mut Row) {
        let kind = self.cursor.peek_at(1).filter(|kind| "wWiIqQxrs".contains(*kind));
        let open = self.cursor.peek_at(if kind.is_some() { 2 } else { 1 });
        let Some(open) = open.filter(|open| !open.is_alphanumeric() && !open.is_whitespace()) else {
            return self.number_or_mark('%', row);
        };
        self.cursor.advance(1 + usize::from(kind.is_some()) + open.len_utf8());
        let plain = Style { holes: false, escapes: Escapes::Quote, usage: Usage::Text };
        let style = match kind {
            Some('w' | 'i') => Style { usage: Usage::Words, ..plain },
            Some('W' | 'I') => Style { usage: Usage::Words, ..INTERPOLATED },
            Some('q' | 's') => plain,
            Some('x') => Style { usage: Usage::Command, ..INTERPOLATED },
            Some('r') => Style { usage: Usage::Pattern, ..INTERPOLATED },
            _ => INTERPOLATED,
        };
        let literal = self.ruby_literal(Some((open, closer(open))), style);
        row.push(Kind::Text(literal));
    }

    /// `:name`, `:"name"`.
    fn ruby_symbol(&mut self, row: &mut Row) -> bool {
        let Some(next) = self.cursor.peek_at(1) else { return false };
        if row.after_value() && !row.spaced {
            return false;
        }
        if starts_name(next) {
            self.cursor.next();
            let mut name = self.cursor.take_while(is_name).to_owned();
            if matches!(self.cursor.peek(), Some('?' | '!')) {
                name.extend(self.cursor.next());
            }
            row.push(Kind::Text(Literal::constant(name)));
            return true;
        }
        if matches!(next, '"' | '\'') {
            self.cursor.advance(2);
            let literal = self.ruby_literal(Some((next, next)), quote_style(next));
            row.push(Kind::Text(literal));
            return true;
        }
        false
    }

    /// From behind its opening delimiter to its closing one; to the end where it has none.
    pub(super) fn ruby_literal(&mut self, delimiters: Option<(char, char)>, style: Style) -> Literal {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut depth = 1_usize;
        loop {
            match (self.cursor.next(), delimiters) {
                (None, Some(_)) => {
                    self.sound = false;
                    break;
                }
                (None, None) => break,
                (Some('\\'), _) => {
                    let next = self.cursor.peek();
                    let is_quote = next == Some('\\')
                        || delimiters.is_some_and(|(open, close)| next == Some(open) || next == Some(close));
                    if style.usage == Usage::Pattern {
                        text.push('\\');
                        text.extend(self.cursor.next());
                    } else if style.escapes == Escapes::All {
                        if self.cursor.escape(&mut text).is_none() {
                            parts.push(Part::Hole(Vec::new()));
                        }
                    } else {
                        if !is_quote {
                            text.push('\\');
                        }
                        text.extend(self.cursor.next());
                    }
                }
                (Some('#'), _) if style.holes && self.cursor.peek() == Some('{') => {
                    self.cursor.next();
                    parts.push(Part::Constant(std::mem::take(&mut text)));
                    let hole = self.hole(Language::Ruby);
                    parts.push(Part::Hole(hole));
                }
                (Some('#'), _) if style.holes && matches!(self.cursor.peek(), Some('@' | '$')) => {
                    parts.push(Part::Hole(Vec::new()));
                }
                (Some(character), Some((_, close))) if character == close => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                    text.push(character);
                }
                (Some(character), _) => {
                    depth += usize::from(delimiters.is_some_and(|(open, _)| character == open));
                    text.push(character);
                }
            }
        }
        parts.push(Part::Constant(text));
        Literal { parts, usage: style.usage }
    }
}

fn quote_style(quote: char) -> Style {
    match quote {
        '\'' => Style { holes: false, escapes: Escapes::Quote, usage: Usage::Text },
        '`' => Style { usage: Usage::Command, ..INTERPOLATED },
        _ => INTERPOLATED,
    }
}
