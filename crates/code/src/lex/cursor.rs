//! A cursor over the characters of the source.

use crate::token::punctuation;

pub(super) struct Cursor<'t> {
    source: &'t str,
    position: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(source: &'t str) -> Self {
        Self { source, position: 0 }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.source.get(self.position..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the character that is `ahead` characters after the next one.
    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.rest().chars().nth(ahead)
    }

    pub(super) fn previous(&self) -> Option<char> {
        self.source.get(..self.position).unwrap_or_default().chars().next_back()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.position += character.len_utf8();
        Some(character)
    }

    /// If the source continues with the prefix, skips it and returns true.
    pub(super) fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.position += prefix.len();
        }
        found
    }

    /// Skips and returns the characters that satisfy a condition.
    pub(super) fn take_while(&mut self, condition: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|character| !condition(character)).unwrap_or(rest.len());
        self.position += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Skips to the end of the line. The newline is not skipped.
    pub(super) fn skip_line(&mut self) {
        self.take_while(|character| character != '\n');
    }

    /// Skips the rest of the line and its newline, and returns it without the newline.
    pub(super) fn take_line(&mut self) -> &'t str {
        let line = self.take_while(|character| character != '\n');
        self.next();
        line
    }

    /// Skips to the end of the next occurrence of a string. If there is none, skips to the end and returns false.
    pub(super) fn skip_past(&mut self, end: &str) -> bool {
        let rest = self.rest();
        let found = rest.find(end);
        self.position += found.map_or(rest.len(), |index| index + end.len());
        found.is_some()
    }

    /// Skips to the end of the next line that begins with a word. If there is none, skips to the end and returns false.
    pub(super) fn skip_past_line(&mut self, word: &str) -> bool {
        loop {
            self.take_line();
            if self.peek().is_none() {
                return false;
            }
            let ends_word = |rest: &str| !rest.starts_with(|next: char| next == '_' || next.is_alphanumeric());
            if self.rest().strip_prefix(word).is_some_and(ends_word) {
                self.skip_line();
                return true;
            }
        }
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.position += bytes;
    }

    pub(super) fn skip_to_end(&mut self) {
        self.position = self.source.len();
    }

    pub(super) fn starts_line(&self) -> bool {
        matches!(self.previous(), None | Some('\n'))
    }

    /// Skips whitespace other than newlines. Returns true if there was any.
    pub(super) fn skip_blanks(&mut self) -> bool {
        !self.take_while(|character| character.is_whitespace() && character != '\n').is_empty()
    }

    /// Skips a number. Returns its value if it is a decimal integer. A number with a leading zero has no value, because
    /// it can be octal.
    pub(super) fn take_number(&mut self) -> Option<usize> {
        let digits = self.take_while(|character| character.is_alphanumeric() || character == '_');
        let mut number = digits.parse().ok().filter(|_| digits.len() == 1 || !digits.starts_with('0'));
        while self.peek() == Some('.') && self.peek_at(1).is_some_and(|digit| digit.is_ascii_digit()) {
            number = None;
            self.next();
            self.take_while(|character| character.is_alphanumeric() || character == '_');
        }
        number
    }

    /// Skips and returns punctuation. Any other character is skipped, and `None` is returned.
    pub(super) fn take_punct(&mut self) -> Option<&'static str> {
        let found = punctuation(self.rest());
        match found {
            Some(punct) => self.position += punct.len(),
            None => {
                self.next();
            }
        }
        found
    }

    /// Reads an escape sequence after its backslash, and appends its character. Returns `None` if the escape sequence
    /// is not supported.
    pub(super) fn read_escape_sequence(&mut self, string: &mut String) -> Option<()> {
        let character = match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'e' => '\u{1b}',
            // A backslash at the end of a line continues the string on the next line.
            '\n' => return Some(()),
            first @ '0'..='7' => {
                let mut value = first.to_digit(8)?;
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|digit| digit.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    self.next();
                }
                char::from_u32(value)?
            }
            'x' | 'u' if self.peek() == Some('{') => self.read_braced_hexadecimal()?,
            'x' => self.read_hexadecimal(2)?,
            'u' => self.read_hexadecimal(4)?,
            'U' => self.read_hexadecimal(8)?,
            // Escape sequences for named characters and control characters are not supported.
            'N' | 'c' | 'C' | 'M' => return None,
            other => other,
        };
        string.push(character);
        Some(())
    }

    fn read_hexadecimal(&mut self, digits: usize) -> Option<char> {
        let mut value = 0;
        for _ in 0..digits {
            value = value * 16 + self.peek()?.to_digit(16)?;
            self.next();
        }
        char::from_u32(value)
    }

    fn read_braced_hexadecimal(&mut self) -> Option<char> {
        self.next();
        let digits = self.take_while(|digit| digit.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok()?;
        self.take("}").then(|| char::from_u32(value))?
    }
}
