//! The tokens of Perl.

use super::cursor::Cursor;
use super::token_list::{TokenList, opening_bracket};
use super::{Lexer, closer, is_name, starts_name};
use crate::token::{Kind, Literal, LiteralKind, Part, Token};
use crate::{Language, MAX_DEPTH};

/// Words that are followed by a value, so that a slash after them begins a regular expression.
const BEFORE_A_VALUE: &[&str] = &[
    "split", "grep", "map", "join", "if", "unless", "and", "or", "not", "while", "until", "return", "print", "push",
    "unshift", "x", "lt", "gt", "le", "ge", "eq", "ne", "cmp", "when", "say", "die", "printf", "xor", "first", "any",
    "all", "else", "unlink", "sort", "reverse", "scalar",
];

/// Other words that a quote may follow without a space.
const BEFORE_A_STRING: &[&str] = &[
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

/// How many bytes are searched for the end of a subscript or of `<…>`.
const LONGEST_SUBSCRIPT: usize = 512;

impl Lexer<'_> {
    pub(super) fn perl(&mut self) -> Vec<Token> {
        let mut list = TokenList::new();
        let mut pending = Vec::new();
        while let Some(character) = self.cursor.peek() {
            let after_value = after_value(&list);
            match character {
                '\n' => {
                    self.cursor.next();
                    list.after_space = true;
                    self.heredoc_bodies(Language::Perl, &mut list, &mut pending);
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
                '"' => self.perl_literal("qq", &mut list),
                '\'' => self.perl_literal("q", &mut list),
                '`' => self.perl_literal("qx", &mut list),
                '$' | '@' => self.perl_variable(&mut list),
                '%' if !after_value
                    && self.cursor.peek_at(1).is_some_and(|next| starts_name(next) || "${+-!:^".contains(next)) =>
                {
                    self.perl_variable(&mut list);
                }
                '&' if !after_value && self.cursor.peek_at(1).is_some_and(starts_name) => {
                    self.cursor.next();
                    let name = self.perl_name();
                    list.push(Kind::Name(name));
                }
                '<' if !after_value => self.perl_angle(&mut list, &mut pending),
                '/' if !after_value => {
                    self.is_understood &= list.last_name().is_none_or(|name| BEFORE_A_VALUE.contains(&name));
                    self.is_understood &= !list.last_is("}") || ends_statement(&list.tokens);
                    self.perl_literal("m", &mut list);
                }
                _ if starts_name(character) => {
                    let name = self.perl_name();
                    if matches!(name.as_str(), "__END__" | "__DATA__") && !self.perl_is_key(&list) {
                        self.cursor.finish();
                        break;
                    }
                    self.perl_word(name, &mut list);
                }
                '}' if !list.in_brackets() && self.depth > 1 => break,
                _ => self.number_or_punct(character, &mut list),
            }
        }
        self.is_understood &= pending.is_empty();
        list.tokens
    }

    /// Reads a name, or the literal that it begins: `q(…)`.
    fn perl_word(&mut self, name: String, list: &mut TokenList) {
        if !self.perl_is_quote(&name, list) {
            return list.push(Kind::Name(name));
        }
        if name != "q" && name != "qq" || self.cursor.peek().is_some_and(char::is_whitespace) {
            self.cursor.take_while(char::is_whitespace);
        }
        self.perl_literal(&name, list);
    }

    /// Reads a literal of a quote-like operator.
    fn perl_literal(&mut self, operator: &str, list: &mut TokenList) {
        let literal = self.perl_quoted(operator);
        list.push(Kind::String(literal));
    }

    /// Reads a name. `'` may separate its parts like `::`, except between a function and its argument.
    fn perl_name(&mut self) -> String {
        let mut name = self.cursor.take_while(is_name).to_owned();
        while self.cursor.peek() == Some('\'')
            && self.cursor.peek_at(1).is_some_and(starts_name)
            && !BEFORE_A_VALUE.contains(&name.as_str())
            && !BEFORE_A_STRING.contains(&name.as_str())
        {
            // Newer versions of Perl do not support this separator.
            self.is_understood = false;
            self.cursor.next();
            name.push_str("::");
            name.push_str(self.cursor.take_while(is_name));
        }
        name
    }

    /// True if the word that was just read is a hash key, a member or a function definition.
    fn perl_is_key(&self, list: &TokenList) -> bool {
        let next = self.cursor.rest().trim_start();
        let is_key = next.starts_with("=>") || list.last_is("{") && next.starts_with('}');
        is_key || list.last_is("->") || list.last_is("::") || list.last_name() == Some("sub")
    }

    fn perl_is_quote(&self, name: &str, list: &TokenList) -> bool {
        if !matches!(name, "q" | "qq" | "qw" | "qx" | "qr" | "m" | "s" | "y" | "tr") {
            return false;
        }
        // A hash key, a member, a function definition or a file test (`-s`).
        let is_test = name == "s" && list.last_is("-") && !list.after_space;
        if is_test || self.perl_is_key(list) {
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

    /// Reads a variable. The cursor is at its sigil.
    fn perl_variable(&mut self, list: &mut TokenList) {
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
            return list.push(Kind::Name(format!("{sigil}{name}")));
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
        list.push(Kind::Name(format!("{sigil}{name}")));
    }

    /// Reads `<>`, `<STDIN>`, `<*.c>` or a heredoc.
    fn perl_angle(&mut self, list: &mut TokenList, pending: &mut Vec<super::PendingHeredoc>) {
        if self.cursor.take("<<>>") || self.cursor.take("<>") || self.cursor.take("<ARGV>") {
            return list.push(Kind::Name("<>".to_owned()));
        }
        if self.cursor.rest().starts_with("<<") && self.heredoc_start(list, pending) {
            return;
        }
        let rest = self.cursor.rest();
        let end = rest.char_indices().take(LONGEST_SUBSCRIPT).find(|(_, letter)| matches!(letter, '>' | '\n' | ';'));
        match end.map(|(place, _)| place) {
            Some(end) if rest.get(end..).is_some_and(|end| end.starts_with('>')) => {
                self.cursor.advance(end + 1);
                let inner = rest.get(1..end).unwrap_or_default();
                // After the name of a constant, `<` is a comparison, and code follows it.
                let is_handle = inner.strip_prefix('$').unwrap_or(inner).chars().all(is_name);
                self.is_understood &= is_handle || list.last_name().is_none_or(|name| BEFORE_A_VALUE.contains(&name));
                let parts = self.perl_parts(inner, false);
                if is_handle {
                    return list.push(Kind::String(Literal { parts, kind: LiteralKind::Regex }));
                }
                let pattern = Kind::String(Literal { parts, kind: LiteralKind::String });
                for kind in [Kind::Name("glob".to_owned()), Kind::Punct("("), pattern, Kind::Punct(")")] {
                    list.push(kind);
                }
            }
            _ => {
                if let Some(punct) = self.cursor.punct() {
                    list.push(Kind::Punct(punct));
                }
            }
        }
    }

    /// Reads the literal of a quote-like operator, from its delimiter on.
    fn perl_quoted(&mut self, operator: &str) -> Literal {
        let Some(open) = self.cursor.next() else {
            self.is_understood = false;
            return Literal::default();
        };
        let body = self.perl_delimited(open);
        let literally = open == '\'' && operator != "qq";
        match operator {
            "q" => Literal::constant(unquoted(&body, open)),
            "qw" => Literal { parts: vec![Part::Constant(body)], kind: LiteralKind::Words },
            "qq" => Literal { parts: self.perl_parts(&body, false), kind: LiteralKind::String },
            "qx" if literally => Literal { parts: vec![Part::Constant(body)], kind: LiteralKind::ShellCommand },
            "qx" => Literal { parts: self.perl_parts(&body, false), kind: LiteralKind::ShellCommand },
            "y" | "tr" => {
                self.perl_second_part(open);
                self.cursor.take_while(char::is_alphabetic);
                Literal { parts: vec![Part::Interpolation(Vec::new())], kind: LiteralKind::Regex }
            }
            "s" => {
                let mut parts = if literally { Vec::new() } else { self.perl_parts(&body, true) };
                let replacement = self.perl_second_part(open);
                let flags = self.cursor.take_while(char::is_alphabetic);
                // The replacement is code (`e`), or code that produces code (`ee`).
                self.is_understood &= flags.matches('e').count() < 2;
                if flags.contains('e') {
                    parts.push(Part::Interpolation(self.perl_code(&replacement)));
                } else if !literally {
                    parts.extend(self.perl_parts(&replacement, false));
                }
                parts.push(Part::Interpolation(Vec::new()));
                Literal { parts, kind: LiteralKind::Regex }
            }
            _ => {
                let parts = if literally { Vec::new() } else { self.perl_parts(&body, true) };
                self.cursor.take_while(char::is_alphabetic);
                Literal { parts, kind: LiteralKind::Regex }
            }
        }
    }

    /// Reads the second part of `s{}{}` or `s///`.
    fn perl_second_part(&mut self, open: char) -> String {
        if closer(open) == open {
            return self.perl_delimited(open);
        }
        self.cursor.take_while(char::is_whitespace);
        let Some(open) = self.cursor.next() else {
            self.is_understood = false;
            return String::new();
        };
        self.perl_delimited(open)
    }

    /// Returns the source up to the closing delimiter.
    fn perl_delimited(&mut self, open: char) -> String {
        let close = closer(open);
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

    fn perl_code(&mut self, code: &str) -> Vec<Token> {
        if self.depth > MAX_DEPTH {
            self.is_understood = false;
            return Vec::new();
        }
        let mut inner = Lexer { cursor: Cursor::new(code), is_understood: true, depth: self.depth };
        let tokens = inner.tokens(Language::Perl);
        self.is_understood &= inner.is_understood && inner.cursor.peek().is_none();
        tokens
    }

    /// Splits an interpolated string into constants and interpolations.
    pub(super) fn perl_parts(&mut self, body: &str, is_regex: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut string = String::new();
        let mut cursor = Cursor::new(body);
        // `(?{…})` runs code inside a regular expression.
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
                        parts.push(Part::Interpolation(Vec::new()));
                    }
                    _ if cursor.escape(&mut string).is_none() => parts.push(Part::Interpolation(Vec::new())),
                    _ => {}
                },
                '$' | '@' => {
                    let rest = cursor.rest();
                    let length = variable_length(rest, character == '$' && !is_regex);
                    if length == 0 {
                        string.push(character);
                        continue;
                    }
                    parts.push(Part::Constant(std::mem::take(&mut string)));
                    let code = format!("{character}{}", rest.get(..length).unwrap_or_default());
                    parts.push(Part::Interpolation(self.perl_code(&code)));
                    cursor.advance(length);
                }
                other => string.push(other),
            }
        }
        parts.push(Part::Constant(string));
        parts
    }
}

/// Returns the length of the variable after a sigil, including its subscripts.
fn variable_length(rest: &str, specials: bool) -> usize {
    let name = rest.find(|letter| !is_name(letter) && letter != ':').unwrap_or(rest.len());
    let name = rest.get(..name).unwrap_or_default().trim_end_matches(':').len();
    let mut length = match rest.chars().next() {
        Some('{') => bracketed_length(rest),
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
        match bracketed_length(subscript) {
            0 => return length,
            found => length += arrow + found,
        }
    }
}

/// Returns the length of the bracketed source; 0 if the bracket does not close. A bracket that is longer than the limit
/// extends to the end.
fn bracketed_length(source: &str) -> usize {
    let mut depth = 0_usize;
    for (place, character) in source.char_indices() {
        if place > LONGEST_SUBSCRIPT {
            return source.len();
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
    let mut string = String::with_capacity(body.len());
    let mut rest = body.chars().peekable();
    while let Some(character) = rest.next() {
        let escapes = character == '\\'
            && rest.peek().is_some_and(|next| *next == '\\' || *next == open || *next == closer(open));
        string.extend(if escapes { rest.next() } else { Some(character) });
    }
    string
}

/// True if an operator is expected. A bare word is more likely a function before its first argument.
fn after_value(list: &TokenList) -> bool {
    match list.last_name() {
        Some(name) => name.starts_with(['$', '@', '%', '<']) || matches!(name, "time" | "shift" | "pop" | "wantarray"),
        None if list.last_is("}") => list.closed_a_subscript || ends_value(&list.tokens),
        None => list.after_value(),
    }
}

/// True if the block that closes here returns a value, as `do {…}` does.
fn ends_value(tokens: &[Token]) -> bool {
    let before = opening_bracket(tokens).and_then(|open| tokens.get(open.checked_sub(1)?));
    before.and_then(Token::name).is_some_and(|name| matches!(name, "do" | "eval" | "sub"))
}

/// True if a statement or an argument begins after the block that closes here: `if (…) {…}`, `map {…}`.
fn ends_statement(tokens: &[Token]) -> bool {
    let Some(open) = opening_bracket(tokens) else { return false };
    open.checked_sub(1).and_then(|place| tokens.get(place)).is_none_or(|before| match &before.kind {
        Kind::Punct(punct) => matches!(*punct, ")" | ";" | "{" | "}"),
        Kind::Name(name) => !name.starts_with(['$', '@', '%']),
        Kind::String(_) | Kind::Number(_) | Kind::Newline => false,
    })
}
