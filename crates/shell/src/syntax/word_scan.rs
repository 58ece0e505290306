//! Scans the raw text of a word, and removes its quotes.

use crate::limits::{Gap, MAX_NESTING};
use crate::syntax::closing::{self, Construct};
use crate::syntax::escape;

/// A part of a word after quote removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unit {
    /// An unquoted character: may be part of a glob, a brace expansion or a tilde.
    Bare(char),
    Quoted(char),
    /// A `~` from the value of a variable. It stands for the home directory although it is not at the start of the
    /// word.
    Home,
    /// An expansion. Its value may be known from the commands before it.
    Expansion(Box<Expansion>),
    /// A boundary between two words of an expansion's value.
    Break,
    /// Empty quotes, which still make a word.
    Empty,
}

/// An expansion in a word: `$x`, `${…}`, `$(…)`, `$((…))`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expansion {
    pub(crate) raw: String,
    pub(crate) quoted: bool,
    /// The script of a command substitution.
    pub(crate) script: Option<String>,
    /// A placeholder for the value, if only its kind is known: `$(mktemp)`, `$TMPDIR`.
    pub(crate) placeholder: Option<String>,
    /// True for a variable that the script does not set.
    pub(crate) is_inherited: bool,
}

impl Expansion {
    /// True if the text that follows cannot become part of the variable's name.
    pub(crate) fn is_closed(&self) -> bool {
        self.quoted || self.raw.ends_with(['}', ')', '`'])
    }
}

/// How the text around an expansion is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    /// A word of a command.
    Word,
    /// Text in which only expansions and backslashes are special: a heredoc, arithmetic.
    Text,
}

/// The result of scanning a word.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) units: Vec<Unit>,
    /// The scripts of command substitutions inside other expansions, in order.
    pub(crate) scripts: Vec<String>,
    pub(crate) gap: Option<Gap>,
    /// The number of bytes scanned. The bytes of a nested expansion count once for each level.
    pub(crate) length: usize,
}

/// True if the word has no quotes, escapes, expansions or braces.
pub(crate) fn is_plain(raw: &str) -> bool {
    !raw.bytes().any(|byte| matches!(byte, b'\'' | b'"' | b'\\' | b'$' | b'`' | b'{'))
}

/// Splits the text of a word into units.
pub(crate) fn scan(raw: &str, context: Context) -> Scanned {
    let mut scanned = Scanned::default();
    scan_into(raw, context, 0, &mut scanned);
    scanned
}

/// Scans shell text. Recurses into the words of `${…}` and `$((…))`, up to the nesting limit.
fn scan_into(text: &str, context: Context, depth: usize, found: &mut Scanned) {
    if depth > MAX_NESTING {
        found.gap = Some(Gap::TooDeep);
        return;
    }
    found.length += text.len();
    let mut scanner = Scanner { text, at: 0, context, in_double_quotes: false, depth, found };
    while let Some(character) = scanner.peek() {
        if scanner.step(character).is_none() {
            let gap = if closing::nests_too_deeply(scanner.rest()) {
                Gap::TooDeep
            } else {
                Gap::Rejected("it has an expansion or quote that is not closed".to_owned())
            };
            scanner.found.gap.get_or_insert(gap);
            scanner.push_unknown_until(text.len());
        }
    }
}

struct Scanner<'a, 'b> {
    text: &'a str,
    at: usize,
    context: Context,
    in_double_quotes: bool,
    depth: usize,
    found: &'b mut Scanned,
}

impl<'a> Scanner<'a, '_> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn quoted(&self) -> bool {
        self.in_double_quotes || self.context == Context::Text
    }

    /// Reads one unit or quote. Returns `None` if a quote or expansion that opens here is not closed.
    fn step(&mut self, character: char) -> Option<()> {
        match character {
            '\\' => self.backslash(),
            '$' => self.dollar()?,
            '`' => self.backquote()?,
            '"' if self.context == Context::Word => {
                if !self.in_double_quotes && self.rest().starts_with("\"\"") {
                    self.found.units.push(Unit::Empty);
                }
                self.in_double_quotes = !self.in_double_quotes;
                self.at += 1;
            }
            '\'' if !self.quoted() => {
                let length = self.text.get(self.at + 1..)?.find('\'')?;
                self.push_quoted_range(self.at + 1, self.at + 1 + length);
                self.at += length + 2;
            }
            _ => {
                self.found.units.push(if self.quoted() { Unit::Quoted(character) } else { Unit::Bare(character) });
                self.at += character.len_utf8();
            }
        }
        Some(())
    }

    fn push_quoted_range(&mut self, from: usize, to: usize) {
        let text = self.text.get(from..to).unwrap_or_default();
        self.push_quoted(text);
    }

    fn push_quoted(&mut self, text: &str) {
        self.found.units.extend(text.chars().map(Unit::Quoted));
        if text.is_empty() {
            self.found.units.push(Unit::Empty);
        }
    }

    fn push_unknown_until(&mut self, end: usize) {
        self.push_expansion_until(end, None);
    }

    fn push_expansion_until(&mut self, end: usize, script: Option<String>) {
        let raw = self.text.get(self.at..end).unwrap_or_default().to_owned();
        let expansion = Expansion { raw, quoted: self.quoted(), script, placeholder: None, is_inherited: false };
        self.found.units.push(Unit::Expansion(Box::new(expansion)));
        self.at = end;
    }

    fn backslash(&mut self) {
        let next = self.rest().chars().nth(1);
        match next {
            Some('\n') => self.at += 2,
            Some(next)
                if !self.quoted() || matches!(next, '$' | '`' | '\\') || (next == '"' && self.in_double_quotes) =>
            {
                self.found.units.push(Unit::Quoted(next));
                self.at += 1 + next.len_utf8();
            }
            _ => {
                self.found.units.push(Unit::Quoted('\\'));
                self.at += 1;
            }
        }
    }

    fn backquote(&mut self) -> Option<()> {
        let end = closing::closing_backquote(self.text, self.at + 1)?;
        let inner = self.text.get(self.at + 1..end)?;
        let script = unescape_backquoted(inner, self.in_double_quotes);
        self.push_expansion_until(end + 1, Some(script));
        Some(())
    }

    fn dollar(&mut self) -> Option<()> {
        let rest = self.rest();
        if let Some((construct, length)) = closing::opened_by_dollar(rest.as_bytes(), self.quoted()) {
            let end = closing::closing(self.text, self.at + length, construct)?;
            let inner = self.text.get(self.at + length..end)?;
            let mut script = None;
            match (construct, arithmetic_expression(inner)) {
                (Construct::Arithmetic, Some(expression)) => self.scan_nested(expression, Context::Text),
                (Construct::Commands | Construct::Arithmetic, _) => script = Some(inner.to_owned()),
                (Construct::Parameter { in_double_quotes: false }, _) => self.scan_nested(inner, Context::Word),
                _ => self.scan_nested(inner, Context::Text),
            }
            self.push_expansion_until(end + 1, script);
            return Some(());
        }
        match rest.chars().nth(1) {
            Some('\'') if !self.quoted() => {
                let end = closing::closing_ansi_c(self.text, self.at + 2)?;
                match escape::decode(self.text.get(self.at + 2..end)?) {
                    Some(decoded) => {
                        self.push_quoted(&decoded);
                        self.at = end + 1;
                    }
                    None => self.push_unknown_until(end + 1),
                }
            }
            // `$"…"` is a translated string. Its quotes are read in the next step.
            Some('"') if !self.quoted() => self.at += 1,
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
                let name = self.text.get(self.at + 1..)?;
                let length = name.find(|character| !is_name(character)).unwrap_or(name.len());
                self.push_unknown_until(self.at + 1 + length);
            }
            Some(first) if first.is_ascii_digit() || "@*#?$!-".contains(first) => self.push_unknown_until(self.at + 2),
            _ => {
                self.found.units.push(if self.quoted() { Unit::Quoted('$') } else { Unit::Bare('$') });
                self.at += 1;
            }
        }
        Some(())
    }

    /// Scans the inside of an expansion. Keeps only its command substitutions, because they run commands.
    fn scan_nested(&mut self, inner: &str, context: Context) {
        let mut found = Scanned::default();
        scan_into(inner, context, self.depth + 1, &mut found);
        let scripts = found.units.iter_mut().filter_map(|unit| match unit {
            Unit::Expansion(expansion) => expansion.script.take(),
            _ => None,
        });
        self.found.scripts.extend(scripts);
        self.found.scripts.append(&mut found.scripts);
        self.found.length += found.length;
        if found.gap.is_some() {
            self.found.gap = found.gap;
        }
    }
}

/// Returns the inside of `$((…))`. `None` if the inner parentheses do not enclose the whole text, as in `$((a); (b))`.
fn arithmetic_expression(inner: &str) -> Option<&str> {
    let expression = inner.strip_prefix('(')?.strip_suffix(')')?;
    let closed = closing::closing(inner, 1, Construct::Arithmetic)?;
    (closed + 1 == inner.len()).then_some(expression)
}

fn unescape_backquoted(inner: &str, in_double_quotes: bool) -> String {
    let mut script = String::with_capacity(inner.len());
    let mut rest = inner.chars().peekable();
    while let Some(character) = rest.next() {
        let escapes = |next: &char| matches!(next, '`' | '\\' | '$') || (*next == '"' && in_double_quotes);
        match rest.next_if(|next| character == '\\' && escapes(next)) {
            Some(next) => script.push(next),
            None => script.push(character),
        }
    }
    script
}
