//! Strings, names and signs of a language that is looked over.

use super::tongue::{LongStrings, Quotes, Tongue};

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

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The text that it is, where that has no holes.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => text.as_deref(),
            _ => None,
        }
    }
}

pub(super) struct Tokens<'t> {
    pub(super) list: Vec<Token<'t>>,
    /// Whether every string and comment ends.
    pub(super) is_whole: bool,
}

/// Signs of more than one letter.
const LONG_MARKS: &[&str] = &["++", "->", "::", "..", "<>", "=>", "|>"];

pub(super) fn tokens<'t>(tongue: &'t Tongue, text: &'t str) -> Tokens<'t> {
    let mut lexer =
        Lexer { tongue, text, rest: text, holes: Vec::new(), found: Tokens { list: Vec::new(), is_whole: true } };
    while let Some(letter) = lexer.rest.chars().next() {
        lexer.next(letter);
    }
    lexer.found.is_whole &= lexer.holes.is_empty();
    lexer.found
}

struct Lexer<'t> {
    tongue: &'t Tongue,
    text: &'t str,
    rest: &'t str,
    /// Strings whose holes are being read, with the brackets that are open in each.
    holes: Vec<(Quotes, usize)>,
    found: Tokens<'t>,
}

impl<'t> Lexer<'t> {
    fn next(&mut self, letter: char) {
        let (tongue, rest) = (self.tongue, self.rest);
        if let Some(unread) = tongue.unread.iter().find(|unread| rest.starts_with(**unread)) {
            self.found.is_whole = false;
            self.skip(unread.len());
        } else if let Some((_, close)) = tongue.code_within.filter(|(_, close)| rest.starts_with(close)) {
            self.found.list.push(Token::Newline);
            self.rest = rest.get(close.len()..).and_then(|rest| behind_print(tongue, rest)).unwrap_or_default();
        } else if let Some((open, close)) = tongue.comments.iter().find(|(open, _)| rest.starts_with(open)) {
            self.comment(open, *close);
        } else if tongue.has_transposes && letter == '\'' && self.is_behind_value() {
            // Some word may stand there that is no value.
            self.found.is_whole &= !rest.get(1..).is_some_and(|behind| behind.starts_with(['"', '\'', '`']));
            self.mark(1);
        } else if let Some((text, behind)) = long_string(tongue, rest) {
            self.found.is_whole &= tongue.long_strings != LongStrings::Tagged || !defines_tag(self.text);
            self.found.list.push(Token::Text(Some(text.to_owned())));
            self.end_at(behind);
        } else if let Some((kind, quotes)) = sigil(tongue, rest) {
            self.sigil(kind, quotes);
        } else if let Some(quotes) = tongue.strings.iter().find(|quotes| rest.starts_with(quotes.open)) {
            let is_raw = tongue.long_strings == LongStrings::Named && self.is_behind(is_name);
            let holes = if is_raw { &[] } else { quotes.holes };
            self.skip(quotes.open.len());
            self.string(Quotes { holes, ..*quotes });
        } else if let Some(behind) = rest.strip_prefix('!').filter(|behind| starts_shell_line(tongue, behind)) {
            let (line, behind) = behind.split_at(behind.find('\n').unwrap_or(behind.len()));
            self.found.list.push(Token::Command(Some(line.trim().to_owned())));
            self.rest = behind;
        } else if let Some(lines) = here_document(tongue, rest) {
            let behind = behind_here_document(lines);
            let inside = behind.and_then(|behind| lines.strip_suffix(behind)).unwrap_or_default();
            let has_calls = inside.contains('(') && (inside.contains("{$") || inside.contains("${"));
            self.found.is_whole &= !has_calls;
            self.found.list.push(Token::Text(None));
            self.end_at(behind);
        } else if let Some(behind) = behind_letter(tongue, rest) {
            self.found.list.push(Token::Text(None));
            self.rest = behind;
        } else if is_name(letter) {
            let (name, behind) = rest.split_at(name_length(tongue, rest));
            self.found.list.push(Token::Name(name));
            self.rest = behind;
        } else if letter == '\n' {
            self.found.list.push(Token::Newline);
            self.skip(1);
        } else if letter.is_whitespace() {
            self.skip(letter.len_utf8());
        } else {
            let long = LONG_MARKS.iter().find(|mark| rest.starts_with(**mark));
            self.mark(long.map_or(letter.len_utf8(), |mark| mark.len()));
            self.bracket(letter);
        }
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    fn mark(&mut self, length: usize) {
        self.found.list.extend(self.rest.get(..length).map(Token::Mark));
        self.skip(length);
    }

    /// Goes on behind something, or notes that it has no end.
    fn end_at(&mut self, behind: Option<&'t str>) {
        self.found.is_whole &= behind.is_some();
        self.rest = behind.unwrap_or_default();
    }

    /// In a hole: the string goes on behind the bracket that ends it.
    fn bracket(&mut self, letter: char) {
        let Some((quotes, depth)) = self.holes.last_mut() else { return };
        match letter {
            '(' | '[' | '{' => *depth += 1,
            ')' | ']' | '}' if *depth == 0 => {
                let quotes = *quotes;
                self.holes.pop();
                self.string(quotes);
            }
            ')' | ']' | '}' => *depth -= 1,
            _ => {}
        }
    }

    /// From the inside of a string on, up to its end or to code in it.
    fn string(&mut self, quotes: Quotes) {
        let (text, stop) = string(quotes, self.rest);
        self.found.list.push(if quotes.is_command { Token::Command(text) } else { Token::Text(text) });
        match stop {
            Stop::End(behind) => self.rest = behind,
            Stop::Missing => self.end_at(None),
            Stop::Hole(code) => {
                self.rest = code;
                self.mark(1);
                self.holes.push((quotes, 0));
            }
        }
    }

    fn sigil(&mut self, kind: &str, quotes: Quotes) {
        self.skip(1 + kind.len() + quotes.open.len());
        if !kind.eq_ignore_ascii_case("w") {
            return self.string(quotes);
        }
        match string(quotes, self.rest) {
            (Some(words), Stop::End(behind)) => {
                self.found.list.push(Token::Mark("["));
                self.found.list.extend(words.split_whitespace().map(|word| Token::Text(Some(word.to_owned()))));
                self.found.list.push(Token::Mark("]"));
                self.rest = behind;
            }
            _ => self.string(quotes),
        }
    }

    fn comment(&mut self, open: &str, close: Option<&str>) {
        self.skip(open.len());
        let Some(close) = close else {
            let long =
                long_string(self.tongue, self.rest).filter(|_| self.tongue.long_strings == LongStrings::Brackets);
            if let Some((_, behind)) = long {
                return self.end_at(behind);
            }
            let line = self.rest.find('\n').unwrap_or(self.rest.len());
            let code = self.tongue.code_within.and_then(|(_, close)| self.rest.get(..line)?.find(close));
            return self.skip(code.unwrap_or(line));
        };
        let mut depth = 1_usize;
        while depth > 0 {
            let Some(end) = self.rest.find(close) else { return self.end_at(None) };
            let inside = self.rest.get(..end).unwrap_or_default();
            let opened = if self.tongue.comments_nest && !close.is_empty() { inside.matches(open).count() } else { 0 };
            depth = depth + opened - 1;
            self.skip(end + close.len());
        }
    }

    fn is_behind(&self, is_it: impl Fn(char) -> bool) -> bool {
        let before = self.text.len().checked_sub(self.rest.len()).and_then(|length| self.text.get(..length));
        before.is_some_and(|before| before.ends_with(is_it))
    }

    fn is_behind_value(&self) -> bool {
        let is_word = matches!(self.found.list.last(), Some(Token::Name(name)) if WORDS_BEFORE_VALUES.contains(name));
        !is_word && self.is_behind(|last| is_name(last) || matches!(last, ')' | ']' | '}' | '\'' | '"' | '.'))
    }
}

/// Names that are no values.
const WORDS_BEFORE_VALUES: &[&str] =
    &["case", "do", "else", "elseif", "if", "in", "isa", "otherwise", "return", "try", "until", "while"];

/// Behind the next sign that begins code, where all before it is printed.
pub(super) fn behind_print<'t>(tongue: &Tongue, text: &'t str) -> Option<&'t str> {
    let (open, _) = tongue.code_within?;
    let mut rest = text;
    loop {
        rest = rest.split_once(open)?.1;
        // `<?xml` is printed too.
        if !rest.starts_with("xml ") {
            return Some(rest.strip_prefix("php").unwrap_or(rest));
        }
    }
}

/// What is in a string between long brackets or of raw text, and what is behind it.
fn long_string<'t>(tongue: &Tongue, text: &'t str) -> Option<(&'t str, Option<&'t str>)> {
    let (inside, end) = match tongue.long_strings {
        LongStrings::Brackets => {
            let rest = text.strip_prefix('[')?;
            let inside = rest.trim_start_matches('=');
            let fill = rest.strip_suffix(inside)?;
            (inside.strip_prefix('[')?, format!("]{fill}]"))
        }
        LongStrings::Raw => {
            let rest = text.strip_prefix(['r', 'R'])?;
            let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            let rest = rest.get(1..)?;
            let inside = rest.trim_start_matches('-');
            let fill = rest.strip_suffix(inside)?;
            let close = match inside.chars().next()? {
                '(' => ')',
                '[' => ']',
                '{' => '}',
                _ => return None,
            };
            (inside.get(1..)?, format!("{close}{fill}{quote}"))
        }
        LongStrings::Hashes => {
            let rest = text.strip_prefix(['b', 'c']).unwrap_or(text).strip_prefix('r')?;
            let inside = rest.trim_start_matches('#');
            let fill = rest.strip_suffix(inside)?;
            (inside.strip_prefix('"')?, format!("\"{fill}"))
        }
        LongStrings::Tagged => {
            let rest = ["u8", "u", "U", "L"].iter().find_map(|kind| text.strip_prefix(kind)).unwrap_or(text);
            let (tag, inside) = rest.strip_prefix("R\"")?.split_once('(')?;
            (inside, format!("){tag}\""))
        }
        LongStrings::None | LongStrings::Sigils | LongStrings::Named => return None,
    };
    match inside.split_once(&end) {
        Some((inside, behind)) => Some((inside, Some(behind))),
        None => Some((inside, None)),
    }
}

/// Whether what begins a raw text of C++ may be a macro, and the text another one.
fn defines_tag(text: &str) -> bool {
    let names = text.split("define").skip(1).map(str::trim_start);
    let mut names = names.filter_map(|rest| rest.split(|letter| !is_name(letter)).next());
    names.any(|name| matches!(name, "R" | "LR" | "uR" | "UR" | "u8R"))
}

/// The quotes of sigils; longer ones stand first.
const SIGIL_QUOTES: &[(&str, &str)] = &[
    ("\"\"\"", "\"\"\""),
    ("'''", "'''"),
    ("\"", "\""),
    ("'", "'"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("<", ">"),
    ("/", "/"),
    ("|", "|"),
];

/// `~s(x)`: its letters, and how it is quoted.
fn sigil<'t>(tongue: &Tongue, text: &'t str) -> Option<(&'t str, Quotes)> {
    let rest = text.strip_prefix('~').filter(|_| tongue.long_strings == LongStrings::Sigils)?;
    let (kind, rest) = rest.split_at(rest.find(|letter: char| !letter.is_ascii_alphanumeric())?);
    let (open, close) = SIGIL_QUOTES.iter().find(|(open, _)| !kind.is_empty() && rest.starts_with(open))?;
    let holes: &[&str] = if kind.starts_with(|letter: char| letter.is_ascii_lowercase()) { &["#{"] } else { &[] };
    Some((kind, Quotes { open, close, escapes: true, holes, is_command: false, doubles: false }))
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn name_length(tongue: &Tongue, text: &str) -> usize {
    let is_part = |letter: char| is_name(letter) || tongue.letters.contains(letter);
    let part = |text: &str| text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let mut length = part(text);
    while let Some(next) = text.get(length..).and_then(|rest| rest.strip_prefix(tongue.joint)) {
        match part(next) {
            0 => break,
            more => length += tongue.joint.len() + more,
        }
    }
    let behind = text.get(length..).unwrap_or_default();
    let has_last = behind.starts_with(|letter| tongue.last_letters.contains(letter)) && !behind.starts_with("!=");
    length + usize::from(has_last)
}

/// Behind `!`: a command, and no comparison.
fn starts_shell_line(tongue: &Tongue, text: &str) -> bool {
    tongue.has_shell_lines && !text.starts_with(['=', '<', '>'])
}

/// `TAG`, some lines, `TAG`, where the text begins with `<<<`.
fn here_document<'t>(tongue: &Tongue, text: &'t str) -> Option<&'t str> {
    let rest = text.strip_prefix("<<<").filter(|_| tongue.code_within.is_some())?;
    let rest = rest.trim_start_matches([' ', '"', '\'']);
    rest.starts_with(is_name).then_some(rest)
}

/// `None` where it does not end.
fn behind_here_document(text: &str) -> Option<&str> {
    let tag = text.get(..text.find(|letter| !is_name(letter))?)?;
    let mut behind = text.split_once('\n')?.1;
    loop {
        let end = behind.trim_start_matches([' ', '\t']).strip_prefix(tag);
        if let Some(end) = end.filter(|end| !end.starts_with(is_name)) {
            return Some(end);
        }
        behind = behind.split_once('\n')?.1;
    }
}

/// One letter as a value: `'"'`, where that is no string; `#\"`, `?"`.
fn behind_letter<'t>(tongue: &Tongue, text: &'t str) -> Option<&'t str> {
    if let Some(sign) = tongue.letter_signs.iter().find(|sign| text.starts_with(**sign)) {
        let rest = text.get(sign.len()..)?;
        let mut letters = rest.strip_prefix('\\').filter(|_| !sign.ends_with('\\')).unwrap_or(rest).chars();
        letters.next()?;
        return Some(letters.as_str());
    }
    let rest = text.strip_prefix('\'').filter(|_| tongue.has_letters)?;
    let mut letters = rest.strip_prefix('\\').unwrap_or(rest).chars();
    letters.next()?;
    letters.as_str().strip_prefix('\'')
}

/// Where a string stops to be one.
enum Stop<'t> {
    /// Behind its end.
    End(&'t str),
    /// At the bracket of a hole with code.
    Hole(&'t str),
    Missing,
}

/// What is in it, and where it stops.
fn string(quotes: Quotes, text: &str) -> (Option<String>, Stop<'_>) {
    let mut constant = Some(String::new());
    let mut rest = text;
    loop {
        if let Some(behind) = rest.strip_prefix(quotes.close) {
            match behind.strip_prefix(quotes.close).filter(|_| quotes.doubles) {
                Some(behind) => {
                    if let Some(constant) = &mut constant {
                        constant.push_str(quotes.close);
                    }
                    rest = behind;
                    continue;
                }
                None => return (constant, Stop::End(behind)),
            }
        }
        if let Some(hole) = quotes.holes.iter().find(|hole| rest.starts_with(**hole)) {
            if let Some(code) = hole.find(['{', '(']).and_then(|bracket| rest.get(bracket..)) {
                return (None, Stop::Hole(code));
            }
            if rest.get(hole.len()..).is_some_and(starts_hole) {
                constant = None;
            }
        }
        let mut letters = rest.chars();
        let Some(letter) = letters.next() else { return (None, Stop::Missing) };
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
