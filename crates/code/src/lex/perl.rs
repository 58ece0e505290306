//! Perl's tokens.

use super::cursor::{Cursor, Row, opener};
use super::{Lexer, closer, is_name, starts_name};
use crate::token::{Kind, Literal, Part, Token, Usage};
use crate::{Language, MAX_DEPTH};

/// Words that are followed by a value, so that a slash after them begins a regular expression.
const BEFORE_A_VALUE: &[&str] = &[
    "split", "grep", "map", "join", "if", "unless", "and", "or", "not", "while", "until", "return", "print", "push",
    "unshift", "x", "lt", "gt", "le", "ge", "eq", "ne", "cmp", "when", "say", "die", "printf", "xor", "first", "any",
    "all", "else", "unlink", "sort", "reverse", "scalar",
];

/// Others that a quote may stand right behind.
const BEFORE_A_TEXT: &[&str] = &[
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

/// In bytes: how far the end of a subscript or of `<…>` is looked for.
const LONGEST_SUBSCRIPT: usize = 512;

impl Lexer<'_> {
    pub(super) fn perl(&mut self) -> Vec<Token> {
        let mut row = Row::new();
        let mut pending = Vec::new();
        while let Some(character) = self.cursor.peek() {
            let after_value = after_value(&row);
            match character {
                '\n' => {
                    self.cursor.next();
                    row.spaced = true;
                    self.written(Language::Perl, &mut row, &mut pending);
                }
                '#' => self.cursor.skip_line(),
                '=' if (row.last().is_none() || row.last_is(";") || row.last_is("}") && !after_value)
                    && self.cursor.starts_line()
                    && self.cursor.peek_at(1).is_some_and(starts_name) =>
                {
                    if !self.cursor.skip_past_line("=cut") {
                        break;
                    }
                }
                _ if character.is_whitespace() => row.spaced |= self.cursor.skip_blanks(),
                '"' => self.perl_literal("qq", &mut row),
                '\'' => self.perl_literal("q", &mut row),
                '`' => self.perl_literal("qx", &mut row),
                '$' | '@' => self.perl_variable(&mut row),
                '%' if !after_value
                    && self.cursor.peek_at(1).is_some_and(|next| starts_name(next) || "${+-!:^".contains(next)) =>
                {
                    self.perl_variable(&mut row);
                }
                '&' if !after_value && self.cursor.peek_at(1).is_some_and(starts_name) => {
                    self.cursor.next();
                    let name = self.perl_name();
                    row.push(Kind::Name(name));
                }
                '<' if !after_value => self.perl_angle(&mut row, &mut pending),
                '/' if !after_value => {
                    self.sound &= row.last_name().is_none_or(|name| BEFORE_A_VALUE.contains(&name));
                    self.sound &= !row.last_is("}") || ends_statement(&row.tokens);
                    self.perl_literal("m", &mut row);
                }
                _ if starts_name(character) => {
                    let name = self.perl_name();
                    if matches!(name.as_str(), "__END__" | "__DATA__") && !self.perl_is_key(&row) {
                        self.cursor.finish();
                        break;
                    }
                    self.perl_word(name, &mut row);
                }
                '}' if !row.in_brackets() && self.depth > 1 => break,
                _ => self.number_or_mark(character, &mut row),
            }
        }
        self.sound &= pending.is_empty();
        row.tokens
    }

    /// A name, or the literal that it begins: `q(…)`.
    fn perl_word(&mut self, name: String, row: &mut Row) {
        if !self.perl_is_quote(&name, row) {
            return row.push(Kind::Name(name));
        }
        if name != "q" && name != "qq" || self.cursor.peek().is_some_and(char::is_whitespace) {
            self.cursor.take_while(char::is_whitespace);
        }
        self.perl_literal(&name, row);
    }

    /// A literal of the kind that an operator names.
    fn perl_literal(&mut self, operator: &str, row: &mut Row) {
        let literal = self.perl_quoted(operator);
        row.push(Kind::Text(literal));
    }

    /// A name, in which `'` may stand for `::`; but not behind a function of the language, before its argument.
    fn perl_name(&mut self) -> String {
        let mut name = self.cursor.take_while(is_name).to_owned();
        while self.cursor.peek() == Some('\'')
            && self.cursor.peek_at(1).is_some_and(starts_name)
            && !BEFORE_A_VALUE.contains(&name.as_str())
            && !BEFORE_A_TEXT.contains(&name.as_str())
        {
            // Not in all versions.
            self.sound = false;
            self.cursor.next();
            name.push_str("::");
            name.push_str(self.cursor.take_while(is_name));
        }
        name
    }

    /// Whether a word that was just read is no more than a text or the name of a member.
    fn perl_is_key(&self, row: &Row) -> bool {
        let next = self.cursor.rest().trim_start();
        let is_key = next.starts_with("=>") || row.last_is("{") && next.starts_with('}');
        is_key || row.last_is("->") || row.last_is("::") || row.last_name() == Some("sub")
    }

    fn perl_is_quote(&self, name: &str, row: &Row) -> bool {
        if !matches!(name, "q" | "qq" | "qw" | "qx" | "qr" | "m" | "s" | "y" | "tr") {
            return false;
        }
        // A member, a function's own name, or a test of a file.
        let is_test = name == "s" && row.last_is("-") && !row.spaced;
        if is_test || self.perl_is_key(row) {
            return false;
        }
        let rest = self.cursor.rest();
        let next = rest.trim_start();
        match next.chars().next() {
            None | Some(',' | ';' | ')') => false,
            Some('#') => rest.starts_with('#'),
            Some(delimiter) => !is_name(delimiter) || rest.len() != next.len(),
        }
    }

    /// At a sigil.
    fn perl_variable(&mut self, row: &mut Row) {
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
        let braced = rest.strip_prefix('{').map(str::trim_start).and_then(|inner| {
            let name = inner.split(|letter| !is_name(letter) && letter != ':').next()?;
            let is_plain = name.starts_with(starts_name) && inner.get(name.len()..)?.trim_start().starts_with('}');
            is_plain.then_some(name)
        });
        if let Some(name) = braced {
            self.cursor.skip_past("}");
            return row.push(Kind::Name(format!("{sigil}{name}")));
        }
        let name = match self.cursor.peek() {
            Some(first) if is_name(first) || (first == ':' && rest.starts_with("::")) => {
                let mut name = self.perl_name();
                while self.cursor.rest().starts_with("::") && self.cursor.peek_at(2).is_some_and(is_name) {
                    self.cursor.take("::");
                    name.push_str("::");
                    name.push_str(self.cursor.take_while(is_name));
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
        row.push(Kind::Name(format!("{sigil}{name}")));
    }

    /// `<>`, `<STDIN>`, `<*.c>` or a here-document.
    fn perl_angle(&mut self, row: &mut Row, pending: &mut Vec<super::Pending>) {
        if self.cursor.take("<<>>") || self.cursor.take("<>") || self.cursor.take("<ARGV>") {
            return row.push(Kind::Name("<>".to_owned()));
        }
        if self.cursor.rest().starts_with("<<") && self.announced(row, pending) {
            return;
        }
        let rest = self.cursor.rest();
        let end = rest.char_indices().take(LONGEST_SUBSCRIPT).find(|(_, letter)| matches!(letter, '>' | '\n' | ';'));
        match end.map(|(place, _)| place) {
            Some(end) if rest.get(end..).is_some_and(|end| end.starts_with('>')) => {
                self.cursor.advance(end + 1);
                let inner = rest.get(1..end).unwrap_or_default();
                // Behind a name that is a constant this compares, and has code in it.
                let is_handle = inner.strip_prefix('$').unwrap_or(inner).chars().all(is_name);
                self.sound &= is_handle || row.last_name().is_none_or(|name| BEFORE_A_VALUE.contains(&name));
                let parts = self.perl_parts(inner, false);
                if is_handle {
                    return row.push(Kind::Text(Literal { parts, usage: Usage::Pattern }));
                }
                let pattern = Kind::Text(Literal { parts, usage: Usage::Text });
                for kind in [Kind::Name("glob".to_owned()), Kind::Mark("("), pattern, Kind::Mark(")")] {
                    row.push(kind);
                }
            }
            _ => {
                if let Some(mark) = self.cursor.mark() {
                    row.push(Kind::Mark(mark));
                }
            }
        }
    }

    /// What follows a quote-like operator, from its delimiter on.
    fn perl_quoted(&mut self, operator: &str) -> Literal {
        let Some(open) = self.cursor.next() else {
            self.sound = false;
            return Literal::default();
        };
        let body = self.perl_body(open);
        let literally = open == '\'' && operator != "qq";
        match operator {
            "q" => Literal::constant(unquoted(&body, open)),
            "qw" => Literal { parts: vec![Part::Constant(body)], usage: Usage::Words },
            "qq" => Literal { parts: self.perl_parts(&body, false), usage: Usage::Text },
            "qx" if literally => Literal { parts: vec![Part::Constant(body)], usage: Usage::Command },
            "qx" => Literal { parts: self.perl_parts(&body, false), usage: Usage::Command },
            "y" | "tr" => {
                self.perl_second(open);
                self.cursor.take_while(char::is_alphabetic);
                Literal { parts: vec![Part::Hole(Vec::new())], usage: Usage::Pattern }
            }
            "s" => {
                let mut parts = if literally { Vec::new() } else { self.perl_parts(&body, true) };
                let replacement = self.perl_second(open);
                let flags = self.cursor.take_while(char::is_alphabetic);
                // The replacement is code, or, twice so, makes code.
                self.sound &= flags.matches('e').count() < 2;
                if flags.contains('e') {
                    parts.push(Part::Hole(self.perl_code(&replacement)));
                } else if !literally {
                    parts.extend(self.perl_parts(&replacement, false));
                }
                parts.push(Part::Hole(Vec::new()));
                Literal { parts, usage: Usage::Pattern }
            }
            _ => {
                let parts = if literally { Vec::new() } else { self.perl_parts(&body, true) };
                self.cursor.take_while(char::is_alphabetic);
                Literal { parts, usage: Usage::Pattern }
            }
        }
    }

    /// The second half of `s{}{}` or `s///`.
    fn perl_second(&mut self, open: char) -> String {
        if closer(open) == open {
            return self.perl_body(open);
        }
        self.cursor.take_while(char::is_whitespace);
        let Some(open) = self.cursor.next() else {
            self.sound = false;
            return String::new();
        };
        self.perl_body(open)
    }

    /// Up to the closing delimiter, as it is written.
    fn perl_body(&mut self, open: char) -> String {
        let close = closer(open);
        let mut body = String::new();
        let mut depth = 1_usize;
        loop {
            match self.cursor.next() {
                None => {
                    self.sound = false;
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

    fn perl_code(&mut self, code: &str) -> Vec<Token> {
        if self.depth > MAX_DEPTH {
            self.sound = false;
            return Vec::new();
        }
        let mut inner = Lexer { cursor: Cursor::new(code), sound: true, depth: self.depth };
        let tokens = inner.tokens(Language::Perl);
        self.sound &= inner.sound && inner.cursor.peek().is_none();
        tokens
    }

    /// The parts of a text in which variables are put in.
    pub(super) fn perl_parts(&mut self, body: &str, is_pattern: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut cursor = Cursor::new(body);
        // Code in a regular expression.
        self.sound &= !is_pattern || !(body.contains("(?{") || body.contains("(??{"));
        while let Some(character) = cursor.next() {
            match character {
                '\\' if is_pattern => {
                    text.push('\\');
                    text.extend(cursor.next());
                }
                '\\' => match cursor.peek() {
                    Some('l' | 'L' | 'u' | 'U' | 'Q' | 'E' | 'F') => {
                        cursor.next();
                        parts.push(Part::Hole(Vec::new()));
                    }
                    _ if cursor.escape(&mut text).is_none() => parts.push(Part::Hole(Vec::new())),
                    _ => {}
                },
                '$' | '@' => {
                    let rest = cursor.rest();
                    let length = variable_length(rest, character == '$' && !is_pattern);
                    if length == 0 {
                        text.push(character);
                        continue;
                    }
                    parts.push(Part::Constant(std::mem::take(&mut text)));
                    let code = format!("{character}{}", rest.get(..length).unwrap_or_default());
                    parts.push(Part::Hole(self.perl_code(&code)));
                    cursor.advance(length);
                }
                other => text.push(other),
            }
        }
        parts.push(Part::Constant(text));
        parts
    }
}

/// How much of the text behind a sigil belongs to the variable, with its subscripts.
fn variable_length(rest: &str, specials: bool) -> usize {
    let name = rest.find(|letter| !is_name(letter) && letter != ':').unwrap_or(rest.len());
    let name = rest.get(..name).unwrap_or_default().trim_end_matches(':').len();
    let mut length = match rest.chars().next() {
        Some('{') => bracketed(rest),
        Some('$') => 1 + rest.get(1..).map_or(0, |inner| inner.find(|letter| !is_name(letter)).unwrap_or(inner.len())),
        Some(special) if name == 0 && specials && "&!0@;,./\\".contains(special) => return special.len_utf8(),
        _ => name,
    };
    if length == 0 {
        return 0;
    }
    loop {
        let more = rest.get(length..).unwrap_or_default();
        let arrow = if more.starts_with("->[") || more.starts_with("->{") { 2 } else { 0 };
        let subscript = more.get(arrow..).unwrap_or_default();
        if !subscript.starts_with(['[', '{']) {
            return length;
        }
        match bracketed(subscript) {
            0 => return length,
            found => length += arrow + found,
        }
    }
}

/// The length of a bracketed text; 0 where it does not end. What is too long to look through is taken whole.
fn bracketed(text: &str) -> usize {
    let mut depth = 0_usize;
    for (place, character) in text.char_indices() {
        if place > LONGEST_SUBSCRIPT {
            return text.len();
        }
        match character {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return place + 1;
                }
            }
            _ => {}
        }
    }
    0
}

fn unquoted(body: &str, open: char) -> String {
    let mut text = String::with_capacity(body.len());
    let mut rest = body.chars().peekable();
    while let Some(character) = rest.next() {
        let escapes = character == '\\'
            && rest.peek().is_some_and(|next| *next == '\\' || *next == open || *next == closer(open));
        text.extend(if escapes { rest.next() } else { Some(character) });
    }
    text
}

/// Whether an operator is to be expected. A bare word is more likely a function before its first argument.
fn after_value(row: &Row) -> bool {
    match row.last_name() {
        Some(name) => name.starts_with(['$', '@', '%', '<']) || matches!(name, "time" | "shift" | "pop" | "wantarray"),
        None if row.last_is("}") => row.closed_a_subscript || ends_value(&row.tokens),
        None => row.after_value(),
    }
}

/// Whether a block that closes here gives a value, as `do {…}` does.
fn ends_value(tokens: &[Token]) -> bool {
    let before = opener(tokens).and_then(|open| tokens.get(open.checked_sub(1)?));
    before.and_then(Token::name).is_some_and(|name| matches!(name, "do" | "eval" | "sub"))
}

/// Whether a statement or an argument begins behind the block that closes here: `if (…) {…}`, `map {…}`.
fn ends_statement(tokens: &[Token]) -> bool {
    let Some(open) = opener(tokens) else { return false };
    open.checked_sub(1).and_then(|place| tokens.get(place)).is_none_or(|before| match &before.kind {
        Kind::Mark(mark) => matches!(*mark, ")" | ";" | "{" | "}"),
        Kind::Name(name) => !name.starts_with(['$', '@', '%']),
        Kind::Text(_) | Kind::Number(_) | Kind::Newline => false,
    })
}
