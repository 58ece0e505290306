//! The lexer for Ruby.

use super::token_list::TokenList;
use super::{Escapes, INTERPOLATED, Lexer, Style, closing_delimiter, is_name_character, starts_name};
use crate::Language;
use crate::token::{Literal, LiteralKind, LiteralPart, Token, TokenKind};

/// Words that a value follows. A slash or percent sign after them begins a literal.
const WORDS_BEFORE_VALUE: &[&str] = &[
    "if", "unless", "and", "or", "not", "while", "until", "return", "when", "in", "puts", "print", "p", "pp", "then",
    "do", "elsif", "else", "raise", "system", "exec", "spawn", "require", "yield", "warn", "printf", "grep", "match",
    "split", "scan", "case", "load", "eval",
];

impl Lexer<'_> {
    pub(super) fn read_ruby(&mut self) -> Vec<Token> {
        let mut list = TokenList::new();
        let mut heredocs = Vec::new();
        while let Some(character) = self.cursor.peek() {
            match character {
                '\n' => {
                    self.cursor.next();
                    list.push_newline();
                    self.read_heredoc_contents(Language::Ruby, &mut list, &mut heredocs);
                    if self.cursor.rest().lines().next() == Some("__END__") {
                        self.cursor.skip_to_end();
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
                    list.after_space = true;
                }
                _ if character.is_whitespace() => list.after_space |= self.cursor.skip_blanks(),
                '"' | '\'' | '`' => {
                    self.cursor.next();
                    let literal = self.read_ruby_literal(Some((character, character)), quote_style(character));
                    list.push(TokenKind::String(literal));
                }
                '<' if self.cursor.rest().starts_with("<<") && self.does_ruby_literal_follow(&list, 2) => {
                    if !self.read_heredoc_start(&mut list, &mut heredocs) {
                        self.read_number_or_punct(character, &mut list);
                    }
                }
                '/' if self.does_ruby_literal_follow(&list, 1) => self.read_ruby_regex(&mut list),
                '%' if self.does_ruby_literal_follow(&list, 1) => self.read_ruby_percent(&mut list),
                ':' if self.read_ruby_symbol(&mut list) => {}
                '?' if !list.after_value()
                    && self.cursor.peek_at(1).is_some_and(|character| !character.is_whitespace())
                    && !self.cursor.peek_at(2).is_some_and(is_name_character) =>
                {
                    self.cursor.next();
                    let string = self.cursor.next().map(String::from).unwrap_or_default();
                    list.push(TokenKind::String(Literal::constant(string)));
                }
                '@' | '$' => self.read_ruby_variable(character, &mut list),
                _ if starts_name(character) => {
                    let name = self.read_ruby_name();
                    list.push(TokenKind::Name(name));
                }
                '}' if !list.in_brackets() && self.depth > 1 => break,
                _ => self.read_number_or_punct(character, &mut list),
            }
        }
        self.is_understood &= heredocs.is_empty();
        list.tokens
    }

    /// Reads a regular expression: `/…/i`.
    fn read_ruby_regex(&mut self, list: &mut TokenList) {
        self.cursor.next();
        let style = Style { kind: LiteralKind::Regex, ..INTERPOLATED };
        let literal = self.read_ruby_literal(Some(('/', '/')), style);
        self.cursor.take_while(char::is_alphabetic);
        list.push(TokenKind::String(literal));
    }

    /// Reads a variable: `@name`, `@@name`, `$name`.
    fn read_ruby_variable(&mut self, sigil: char, list: &mut TokenList) {
        self.cursor.take_while(|character| character == sigil);
        let name = self.cursor.take_while(is_name_character);
        if name.is_empty() && sigil == '$' {
            self.cursor.next();
        }
        list.push(TokenKind::Name(format!("{sigil}{name}")));
    }

    /// Reads a name, including the `?` or `!` at the end of a method name.
    fn read_ruby_name(&mut self) -> String {
        let mut name = self.cursor.take_while(is_name_character).to_owned();
        if matches!(self.cursor.peek(), Some('?' | '!')) && !matches!(self.cursor.peek_at(1), Some('=' | ':')) {
            name.extend(self.cursor.next());
        }
        name
    }

    /// True if the operator at the cursor begins a literal. After a name, this depends on whether the name is a method.
    /// If that is not certain, the source counts as not understood.
    fn does_ruby_literal_follow(&mut self, list: &TokenList, operator_length: usize) -> bool {
        let Some(name) = list.last_name() else { return !list.after_value() };
        let is_method = list.last_is_member();
        if WORDS_BEFORE_VALUE.contains(&name) && !is_method {
            self.is_understood &= !list.may_be_variable(name);
            return true;
        }
        let is_adjacent = !self.cursor.peek_at(operator_length).is_some_and(char::is_whitespace);
        if list.after_space && is_adjacent && !name.starts_with(['@', '$']) {
            self.is_understood &= is_method;
            return true;
        }
        false
    }

    /// Reads a literal that begins with a percent sign: `%w[…]`, `%x{…}`, `%(…)`.
    fn read_ruby_percent(&mut self, list: &mut TokenList) {
        let kind = self.cursor.peek_at(1).filter(|kind| "wWiIqQxrs".contains(*kind));
        let open = self.cursor.peek_at(if kind.is_some() { 2 } else { 1 });
        let Some(open) = open.filter(|open| !open.is_alphanumeric() && !open.is_whitespace()) else {
            return self.read_number_or_punct('%', list);
        };
        self.cursor.advance(1 + usize::from(kind.is_some()) + open.len_utf8());
        let plain = Style { has_interpolations: false, escapes: Escapes::DelimiterOnly, kind: LiteralKind::String };
        let style = match kind {
            Some('w' | 'i') => Style { kind: LiteralKind::Words, ..plain },
            Some('W' | 'I') => Style { kind: LiteralKind::Words, ..INTERPOLATED },
            Some('q' | 's') => plain,
            Some('x') => Style { kind: LiteralKind::ShellCommand, ..INTERPOLATED },
            Some('r') => Style { kind: LiteralKind::Regex, ..INTERPOLATED },
            _ => INTERPOLATED,
        };
        let literal = self.read_ruby_literal(Some((open, closing_delimiter(open))), style);
        list.push(TokenKind::String(literal));
    }

    /// Reads a symbol: `:name`, `:"name"`. Returns false if none begins at the cursor.
    fn read_ruby_symbol(&mut self, list: &mut TokenList) -> bool {
        let Some(next) = self.cursor.peek_at(1) else { return false };
        if list.after_value() && !list.after_space {
            return false;
        }
        if starts_name(next) {
            self.cursor.next();
            let mut name = self.cursor.take_while(is_name_character).to_owned();
            if matches!(self.cursor.peek(), Some('?' | '!')) {
                name.extend(self.cursor.next());
            }
            list.push(TokenKind::String(Literal::constant(name)));
            return true;
        }
        if matches!(next, '"' | '\'') {
            self.cursor.advance(2);
            let literal = self.read_ruby_literal(Some((next, next)), quote_style(next));
            list.push(TokenKind::String(literal));
            return true;
        }
        false
    }

    /// Reads a literal. The cursor is after its opening delimiter. If `delimiters` is `None`, the literal extends to
    /// the end of the source.
    pub(super) fn read_ruby_literal(&mut self, delimiters: Option<(char, char)>, style: Style) -> Literal {
        let mut parts = Vec::new();
        let mut string = String::new();
        let mut depth = 1_usize;
        loop {
            match (self.cursor.next(), delimiters) {
                (None, Some(_)) => {
                    self.is_understood = false;
                    break;
                }
                (None, None) => break,
                (Some('\\'), _) => {
                    let next = self.cursor.peek();
                    let is_escapable = next == Some('\\')
                        || delimiters.is_some_and(|(open, close)| next == Some(open) || next == Some(close));
                    if style.kind == LiteralKind::Regex {
                        string.push('\\');
                        string.extend(self.cursor.next());
                    } else if style.escapes == Escapes::All {
                        if self.cursor.read_escape_sequence(&mut string).is_none() {
                            parts.push(LiteralPart::Interpolation(Vec::new()));
                        }
                    } else {
                        if !is_escapable {
                            string.push('\\');
                        }
                        string.extend(self.cursor.next());
                    }
                }
                (Some('#'), _) if style.has_interpolations && self.cursor.peek() == Some('{') => {
                    self.cursor.next();
                    parts.push(LiteralPart::Constant(std::mem::take(&mut string)));
                    let interpolation = self.read_interpolation(Language::Ruby);
                    parts.push(LiteralPart::Interpolation(interpolation));
                }
                (Some('#'), _) if style.has_interpolations && matches!(self.cursor.peek(), Some('@' | '$')) => {
                    parts.push(LiteralPart::Interpolation(Vec::new()));
                }
                (Some(character), Some((_, close))) if character == close => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                    string.push(character);
                }
                (Some(character), _) => {
                    depth += usize::from(delimiters.is_some_and(|(open, _)| character == open));
                    string.push(character);
                }
            }
        }
        parts.push(LiteralPart::Constant(string));
        Literal { parts, kind: style.kind }
    }
}

fn quote_style(quote: char) -> Style {
    match quote {
        '\'' => Style { has_interpolations: false, escapes: Escapes::DelimiterOnly, kind: LiteralKind::String },
        '`' => Style { kind: LiteralKind::ShellCommand, ..INTERPOLATED },
        _ => INTERPOLATED,
    }
}
