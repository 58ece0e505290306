//! The lexer for Perl.

use super::cursor::Cursor;
use super::token_list::{TokenList, opening_bracket};
use super::{Lexer, closing_delimiter, is_name_character, starts_name};
use crate::token::{Literal, LiteralKind, LiteralPart, Token, TokenKind};
use crate::{Language, MAX_DEPTH};

/// Words that a value follows. A slash after them begins a regular expression.
const WORDS_BEFORE_VALUE: &[&str] = &[
    "split", "grep", "map", "join", "if", "unless", "and", "or", "not", "while", "until", "return", "print", "push",
    "unshift", "x", "lt", "gt", "le", "ge", "eq", "ne", "cmp", "when", "say", "die", "printf", "xor", "first", "any",
    "all", "else", "unlink", "sort", "reverse", "scalar",
];

/// Other words that can directly precede a quote, without a space between them.
const WORDS_BEFORE_STRING: &[&str] = &[
    "q",
    "qq",
    "qw",
    "qx",
    "qr",
    "m",
    "s",
    "y",
    "tr",
    "require",
    "use",
    "do",
    "eval",
    "system",
    "exec",
    "open",
    "warn",
    "lc",
    "uc",
    "ucfirst",
    "lcfirst",
    "length",
    "chomp",
    "defined",
    "ref",
    "exists",
    "delete",
    "keys",
    "values",
    "each",
    "index",
    "substr",
    "sprintf",
    "chdir",
    "mkdir",
    "rmdir",
    "rename",
    "stat",
    "opendir",
    "glob",
    "pack",
    "unpack",
    "ord",
    "chr",
    "hex",
    "oct",
    "quotemeta",
    "foreach",
    "for",
    "elsif",
    "STDERR",
    "STDOUT",
];

/// The maximum length of a subscript, and of the source in `<…>`.
const MAX_SUBSCRIPT_BYTES: usize = 512;

impl Lexer<'_> {
    pub(super) fn read_perl(&mut self) -> Vec<Token> {
        let mut list = TokenList::new();
        let mut heredocs = Vec::new();
        while let Some(character) = self.cursor.peek() {
            let after_value = after_value(&list);
            match character {
                '\n' => {
                    self.cursor.next();
                    list.after_space = true;
                    self.read_heredoc_contents(Language::Perl, &mut list, &mut heredocs);
                }
                '#' => self.cursor.skip_line(),
                '=' if (list.last().is_none() || list.last_is(";") || list.last_is("}") && !after_value)
                    && self.cursor.starts_line()
                    && self.cursor.peek_at(1).is_some_and(starts_name) =>
                {
                    if !self.cursor.skip_past_line("=cut") {
                        break;
                    }
                }
                _ if character.is_whitespace() => list.after_space |= self.cursor.skip_blanks(),
                '"' => self.read_perl_literal("qq", &mut list),
                '\'' => self.read_perl_literal("q", &mut list),
                '`' => self.read_perl_literal("qx", &mut list),
                '$' | '@' => self.read_perl_variable(&mut list),
                '%' if !after_value
                    && self.cursor.peek_at(1).is_some_and(|next| starts_name(next) || "${+-!:^".contains(next)) =>
                {
                    self.read_perl_variable(&mut list);
                }
                '&' if !after_value && self.cursor.peek_at(1).is_some_and(starts_name) => {
                    self.cursor.next();
                    let name = self.read_perl_name();
                    list.push(TokenKind::Name(name));
                }
                '<' if !after_value => self.read_perl_angle(&mut list, &mut heredocs),
                '/' if !after_value => {
                    self.is_understood &= list.last_name().is_none_or(|name| WORDS_BEFORE_VALUE.contains(&name));
                    self.is_understood &= !list.last_is("}") || ends_block(&list.tokens);
                    self.read_perl_literal("m", &mut list);
                }
                _ if starts_name(character) => {
                    let name = self.read_perl_name();
                    if matches!(name.as_str(), "__END__" | "__DATA__") && !self.is_perl_plain_name(&list) {
                        self.cursor.skip_to_end();
                        break;
                    }
                    self.read_perl_word(name, &mut list);
                }
                '}' if !list.in_brackets() && self.depth > 1 => break,
                _ => self.read_number_or_punct(character, &mut list),
            }
        }
        self.is_understood &= heredocs.is_empty();
        list.tokens
    }

    /// Adds the name, or reads the literal that begins with it: `q(…)`.
    fn read_perl_word(&mut self, name: String, list: &mut TokenList) {
        if !self.is_perl_quote_operator(&name, list) {
            return list.push(TokenKind::Name(name));
        }
        if name != "q" && name != "qq" || self.cursor.peek().is_some_and(char::is_whitespace) {
            self.cursor.take_while(char::is_whitespace);
        }
        self.read_perl_literal(&name, list);
    }

    /// Reads a literal of a quote-like operator.
    fn read_perl_literal(&mut self, operator: &str, list: &mut TokenList) {
        let literal = self.read_perl_quoted(operator);
        list.push(TokenKind::String(literal));
    }

    /// Reads a name. In old versions of Perl, `'` separates the parts of a name, as `::` does, unless it is the quote
    /// of a function's argument.
    fn read_perl_name(&mut self) -> String {
        let mut name = self.cursor.take_while(is_name_character).to_owned();
        while self.cursor.peek() == Some('\'')
            && self.cursor.peek_at(1).is_some_and(starts_name)
            && !WORDS_BEFORE_VALUE.contains(&name.as_str())
            && !WORDS_BEFORE_STRING.contains(&name.as_str())
        {
            // New versions of Perl do not support this separator.
            self.is_understood = false;
            self.cursor.next();
            name.push_str("::");
            name.push_str(self.cursor.take_while(is_name_character));
        }
        name
    }

    /// True if the last word is a hash key, a member or the name in a function definition.
    fn is_perl_plain_name(&self, list: &TokenList) -> bool {
        let next = self.cursor.rest().trim_start();
        let is_key = next.starts_with("=>") || list.last_is("{") && next.starts_with('}');
        is_key || list.last_is("->") || list.last_is("::") || list.last_name() == Some("sub")
    }

    /// True if the name is a quote-like operator.
    fn is_perl_quote_operator(&self, name: &str, list: &TokenList) -> bool {
        if !matches!(name, "q" | "qq" | "qw" | "qx" | "qr" | "m" | "s" | "y" | "tr") {
            return false;
        }
        // The `s` of `-s` is not a quote-like operator: `-s` tests a file.
        let is_file_test = name == "s" && list.last_is("-") && !list.after_space;
        if is_file_test || self.is_perl_plain_name(list) {
            return false;
        }
        let rest = self.cursor.rest();
        let next = rest.trim_start();
        match next.chars().next() {
            None | Some(',' | ';' | ')') => false,
            Some('#') => rest.starts_with('#'),
            Some(delimiter) => !is_name_character(delimiter) || rest.len() != next.len(),
        }
    }

    /// Reads a variable. The cursor is at its sigil.
    fn read_perl_variable(&mut self, list: &mut TokenList) {
        let sigil = self.cursor.next().unwrap_or('$');
        let sigil = if sigil == '$'
            && self.cursor.peek() == Some('#')
            && self.cursor.peek_at(1).is_some_and(|next| starts_name(next) || "${".contains(next))
        {
            self.cursor.next();
            "$#".to_owned()
        } else {
            sigil.to_string()
        };
        let rest = self.cursor.rest();
        let name_in_braces = rest.strip_prefix('{').map(str::trim_start).and_then(|inner| {
            let name = inner.split(|character| !is_name_character(character) && character != ':').next()?;
            let is_plain_name = name.starts_with(starts_name) && inner.get(name.len()..)?.trim_start().starts_with('}');
            is_plain_name.then_some(name)
        });
        if let Some(name) = name_in_braces {
            self.cursor.skip_past("}");
            return list.push(TokenKind::Name(format!("{sigil}{name}")));
        }
        let name = match self.cursor.peek() {
            Some(first) if is_name_character(first) || (first == ':' && rest.starts_with("::")) => {
                let mut name = self.read_perl_name();
                while self.cursor.rest().starts_with("::") && self.cursor.peek_at(2).is_some_and(is_name_character) {
                    self.cursor.take("::");
                    name.push_str("::");
                    name.push_str(self.cursor.take_while(is_name_character));
                }
                name
            }
            Some('{' | '$' | '@') | None => String::new(),
            Some(special) if sigil == "$" && !special.is_whitespace() => {
                self.cursor.next();
                special.to_string()
            }
            Some(special) if "+-!^".contains(special) => {
                self.cursor.next();
                special.to_string()
            }
            Some(_) => String::new(),
        };
        list.push(TokenKind::Name(format!("{sigil}{name}")));
    }

    /// Reads `<>`, `<STDIN>`, `<*.c>` or a heredoc.
    fn read_perl_angle(&mut self, list: &mut TokenList, heredocs: &mut Vec<super::PendingHeredoc>) {
        if self.cursor.take("<<>>") || self.cursor.take("<>") || self.cursor.take("<ARGV>") {
            return list.push(TokenKind::Name("<>".to_owned()));
        }
        if self.cursor.rest().starts_with("<<") && self.read_heredoc_start(list, heredocs) {
            return;
        }
        let rest = self.cursor.rest();
        let end =
            rest.char_indices().take(MAX_SUBSCRIPT_BYTES).find(|(_, character)| matches!(character, '>' | '\n' | ';'));
        match end.map(|(index, _)| index) {
            Some(end) if rest.get(end..).is_some_and(|end| end.starts_with('>')) => {
                self.cursor.advance(end + 1);
                let inner = rest.get(1..end).unwrap_or_default();
                // If the word before it is the name of a constant, `<` is a comparison, and code follows it.
                let is_handle = inner.strip_prefix('$').unwrap_or(inner).chars().all(is_name_character);
                self.is_understood &=
                    is_handle || list.last_name().is_none_or(|name| WORDS_BEFORE_VALUE.contains(&name));
                let parts = self.split_perl_string(inner, false);
                if is_handle {
                    return list.push(TokenKind::String(Literal { parts, kind: LiteralKind::Regex }));
                }
                let pattern = TokenKind::String(Literal { parts, kind: LiteralKind::String });
                for kind in [TokenKind::Name("glob".to_owned()), TokenKind::Punct("("), pattern, TokenKind::Punct(")")]
                {
                    list.push(kind);
                }
            }
            _ => {
                if let Some(punct) = self.cursor.take_punct() {
                    list.push(TokenKind::Punct(punct));
                }
            }
        }
    }

    /// Reads the literal of a quote-like operator. The cursor is at the opening delimiter.
    fn read_perl_quoted(&mut self, operator: &str) -> Literal {
        let Some(open) = self.cursor.next() else {
            self.is_understood = false;
            return Literal::default();
        };
        let body = self.read_perl_delimited(open);
        let is_literal = open == '\'' && operator != "qq";
        match operator {
            "q" => Literal::constant(unescaped(&body, open)),
            "qw" => Literal { parts: vec![LiteralPart::Constant(body)], kind: LiteralKind::Words },
            "qq" => Literal { parts: self.split_perl_string(&body, false), kind: LiteralKind::String },
            "qx" if is_literal => Literal { parts: vec![LiteralPart::Constant(body)], kind: LiteralKind::ShellCommand },
            "qx" => Literal { parts: self.split_perl_string(&body, false), kind: LiteralKind::ShellCommand },
            "y" | "tr" => {
                self.read_perl_replacement(open);
                self.cursor.take_while(char::is_alphabetic);
                Literal { parts: vec![LiteralPart::Interpolation(Vec::new())], kind: LiteralKind::Regex }
            }
            "s" => {
                let mut parts = if is_literal { Vec::new() } else { self.split_perl_string(&body, true) };
                let replacement = self.read_perl_replacement(open);
                let flags = self.cursor.take_while(char::is_alphabetic);
                // With the flag `e`, the replacement is code. With `ee`, it is code whose result is evaluated as code,
                // too.
                self.is_understood &= flags.matches('e').count() < 2;
                if flags.contains('e') {
                    parts.push(LiteralPart::Interpolation(self.lex_perl_code(&replacement)));
                } else if !is_literal {
                    parts.extend(self.split_perl_string(&replacement, false));
                }
                parts.push(LiteralPart::Interpolation(Vec::new()));
                Literal { parts, kind: LiteralKind::Regex }
            }
            _ => {
                let parts = if is_literal { Vec::new() } else { self.split_perl_string(&body, true) };
                self.cursor.take_while(char::is_alphabetic);
                Literal { parts, kind: LiteralKind::Regex }
            }
        }
    }

    /// Reads the second part of `s{…}{…}` or `s/…/…/`. `open` is the opening delimiter of the first part.
    fn read_perl_replacement(&mut self, open: char) -> String {
        if closing_delimiter(open) == open {
            return self.read_perl_delimited(open);
        }
        self.cursor.take_while(char::is_whitespace);
        let Some(open) = self.cursor.next() else {
            self.is_understood = false;
            return String::new();
        };
        self.read_perl_delimited(open)
    }

    /// Reads the source up to the closing delimiter. The cursor is after the opening delimiter.
    fn read_perl_delimited(&mut self, open: char) -> String {
        let close = closing_delimiter(open);
        let mut body = String::new();
        let mut depth = 1_usize;
        loop {
            match self.cursor.next() {
                None => {
                    self.is_understood = false;
                    return body;
                }
                Some('\\') => {
                    body.push('\\');
                    body.extend(self.cursor.next());
                }
                Some(character) if character == close => {
                    depth -= 1;
                    if depth == 0 {
                        return body;
                    }
                    body.push(character);
                }
                Some(character) => {
                    depth += usize::from(character == open);
                    body.push(character);
                }
            }
        }
    }

    /// Splits code that is inside of a literal into tokens.
    fn lex_perl_code(&mut self, code: &str) -> Vec<Token> {
        if self.depth > MAX_DEPTH {
            self.is_understood = false;
            return Vec::new();
        }
        let mut inner = Lexer { cursor: Cursor::new(code), is_understood: true, depth: self.depth };
        let tokens = inner.read_tokens(Language::Perl);
        self.is_understood &= inner.is_understood && inner.cursor.peek().is_none();
        tokens
    }

    /// Splits an interpolated string into constants and interpolations.
    pub(super) fn split_perl_string(&mut self, body: &str, is_regex: bool) -> Vec<LiteralPart> {
        let mut parts = Vec::new();
        let mut string = String::new();
        let mut cursor = Cursor::new(body);
        // `(?{…})` is code inside a regular expression.
        self.is_understood &= !is_regex || !(body.contains("(?{") || body.contains("(??{"));
        while let Some(character) = cursor.next() {
            match character {
                '\\' if is_regex => {
                    string.push('\\');
                    string.extend(cursor.next());
                }
                '\\' => match cursor.peek() {
                    Some('l' | 'L' | 'u' | 'U' | 'Q' | 'E' | 'F') => {
                        cursor.next();
                        parts.push(LiteralPart::Interpolation(Vec::new()));
                    }
                    _ if cursor.read_escape_sequence(&mut string).is_none() => {
                        parts.push(LiteralPart::Interpolation(Vec::new()));
                    }
                    _ => {}
                },
                '$' | '@' => {
                    let rest = cursor.rest();
                    let length = variable_length(rest, character == '$' && !is_regex);
                    if length == 0 {
                        string.push(character);
                        continue;
                    }
                    parts.push(LiteralPart::Constant(std::mem::take(&mut string)));
                    let code = format!("{character}{}", rest.get(..length).unwrap_or_default());
                    parts.push(LiteralPart::Interpolation(self.lex_perl_code(&code)));
                    cursor.advance(length);
                }
                other => string.push(other),
            }
        }
        parts.push(LiteralPart::Constant(string));
        parts
    }
}

/// Returns the length of the variable after a sigil, including its subscripts; 0 if there is none.
fn variable_length(rest: &str, allows_special_variables: bool) -> usize {
    let name = rest.find(|character| !is_name_character(character) && character != ':').unwrap_or(rest.len());
    let name = rest.get(..name).unwrap_or_default().trim_end_matches(':').len();
    let mut length = match rest.chars().next() {
        Some('{') => bracketed_length(rest),
        Some('$') => {
            1 + rest
                .get(1..)
                .map_or(0, |inner| inner.find(|character| !is_name_character(character)).unwrap_or(inner.len()))
        }
        Some(special) if name == 0 && allows_special_variables && "&!0@;,./\\".contains(special) => {
            return special.len_utf8();
        }
        _ => name,
    };
    if length == 0 {
        return 0;
    }
    loop {
        let following = rest.get(length..).unwrap_or_default();
        let arrow = if following.starts_with("->[") || following.starts_with("->{") { 2 } else { 0 };
        let subscript = following.get(arrow..).unwrap_or_default();
        if !subscript.starts_with(['[', '{']) {
            return length;
        }
        match bracketed_length(subscript) {
            0 => return length,
            subscript_length => length += arrow + subscript_length,
        }
    }
}

/// Returns the length of the source in brackets; 0 if the bracket is not closed. Brackets that are longer than
/// [`MAX_SUBSCRIPT_BYTES`] extend to the end.
fn bracketed_length(source: &str) -> usize {
    let mut depth = 0_usize;
    for (index, character) in source.char_indices() {
        if index > MAX_SUBSCRIPT_BYTES {
            return source.len();
        }
        match character {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    0
}

/// Resolves the escape sequences in a string without interpolations.
fn unescaped(body: &str, open: char) -> String {
    let mut string = String::with_capacity(body.len());
    let mut rest = body.chars().peekable();
    while let Some(character) = rest.next() {
        let escapes = character == '\\'
            && rest.peek().is_some_and(|next| *next == '\\' || *next == open || *next == closing_delimiter(open));
        string.extend(if escapes { rest.next() } else { Some(character) });
    }
    string
}

/// True if the last token ends a value, so that an operator follows. False after a bare word: most bare words are
/// functions, so an argument follows.
fn after_value(list: &TokenList) -> bool {
    match list.last_name() {
        Some(name) => name.starts_with(['$', '@', '%', '<']) || matches!(name, "time" | "shift" | "pop" | "wantarray"),
        None if list.last_is("}") => list.last_bracket_was_subscript || ends_value_block(&list.tokens),
        None => list.after_value(),
    }
}

/// True if the last token closes a block that has a value: `do {…}`.
fn ends_value_block(tokens: &[Token]) -> bool {
    let previous = opening_bracket(tokens).and_then(|open| tokens.get(open.checked_sub(1)?));
    previous.and_then(Token::name).is_some_and(|name| matches!(name, "do" | "eval" | "sub"))
}

/// True if the last token closes a block that precedes a statement or an argument: `if (…) {…}`, `map {…}`.
fn ends_block(tokens: &[Token]) -> bool {
    let Some(open) = opening_bracket(tokens) else { return false };
    open.checked_sub(1).and_then(|index| tokens.get(index)).is_none_or(|previous| match &previous.kind {
        TokenKind::Punct(punct) => matches!(*punct, ")" | ";" | "{" | "}"),
        TokenKind::Name(name) => !name.starts_with(['$', '@', '%']),
        TokenKind::String(_) | TokenKind::Number(_) | TokenKind::Newline => false,
    })
}
