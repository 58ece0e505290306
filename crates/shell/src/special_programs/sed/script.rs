//! Parses a `sed` script into its commands, with the syntax of POSIX and GNU.

/// A command, and whether addresses precede it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step<'t> {
    pub(super) is_addressed: bool,
    pub(super) command: Command<'t>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command<'t> {
    /// `s/from/to/flags`, and the file of the flag `w`.
    Substitute { from: &'t str, to: &'t str, flags: &'t str, file: Option<&'t str> },
    /// Any other command: its letter, and the file, text or label that follows.
    Other(char, &'t str),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Steps<'t> {
    pub(super) list: Vec<Step<'t>>,
    /// True if the whole script was parsed.
    pub(super) is_complete: bool,
}

/// Parses a script. Its braces need not be balanced, because a script may be given in pieces: `-e '1{' -e p -e '}'`.
pub(super) fn steps(script: &str) -> Steps<'_> {
    let mut cursor = Cursor { rest: script };
    let mut list = Vec::new();
    loop {
        cursor.skip(|c| c.is_whitespace() || c == ';');
        if cursor.rest.is_empty() {
            return Steps { list, is_complete: true };
        }
        let Some(step) = cursor.step() else { return Steps { list, is_complete: false } };
        list.push(step);
    }
}

struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    fn step(&mut self) -> Option<Step<'t>> {
        let is_addressed = self.addresses()?;
        let command = match self.next()? {
            's' => self.substitution()?,
            'y' => {
                let delimiter = self.delimiter()?;
                let from = self.part(delimiter)?;
                self.part(delimiter)?;
                Command::Other('y', from)
            }
            // The text of `a`, `i` and `c` may start on the next line. A backslash at the end of a line continues the
            // text on the next line.
            name @ ('a' | 'i' | 'c' | 'e') => Command::Other(name, self.text().trim_start_matches([' ', '\t'])),
            // The file name is the rest of the line, whatever it contains.
            name @ ('r' | 'R' | 'w' | 'W') => Command::Other(name, self.line().trim_start()).with_file_name()?,
            name @ ('#' | 'v') => Command::Other(name, self.line()),
            name @ (':' | 'b' | 't' | 'T') => {
                self.skip(|c| matches!(c, ' ' | '\t'));
                Command::Other(name, self.take(|c| !c.is_whitespace() && !matches!(c, ';' | '}')))
            }
            name @ ('q' | 'Q' | 'l' | 'L') => {
                self.skip(|c| matches!(c, ' ' | '\t'));
                Command::Other(name, self.take(|c| c.is_ascii_digit()))
            }
            name if "{}=dDgGhHnNpPxzF".contains(name) => Command::Other(name, ""),
            _ => return None,
        };
        Some(Step { is_addressed, command })
    }

    /// Skips addresses: `1,$`, `/re/I`, `\,re,`, `/re/,+2`, `0~4`, `2!`. Returns true if there were any.
    fn addresses(&mut self) -> Option<bool> {
        let start = self.rest;
        loop {
            self.skip(|c| c.is_ascii_digit() || " \t,$!~+".contains(c));
            let delimiter = match self.rest.chars().next() {
                Some('/') => self.delimiter()?,
                Some('\\') => {
                    self.next();
                    self.delimiter()?
                }
                _ => break,
            };
            self.pattern(delimiter)?;
            self.skip(|c| matches!(c, ' ' | '\t' | 'I' | 'M'));
        }
        Some(self.rest.len() < start.len())
    }

    fn substitution(&mut self) -> Option<Command<'t>> {
        let delimiter = self.delimiter()?;
        let from = self.pattern(delimiter)?;
        let to = self.part(delimiter)?;
        let flags = self.take(|c| c.is_ascii_digit() || " \tgpiImMe".contains(c));
        let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | '}' | '#');
        let file = match self.rest.chars().next() {
            Some('w') => Some(self.line().get(1..)?.trim_start()),
            Some(c) if !is_end(c) => return None,
            _ => None,
        };
        Some(Command::Substitute { from, to, flags: flags.trim(), file })
    }

    /// Reads the delimiter between the parts of a command.
    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|delimiter| !matches!(delimiter, '\n' | '\\'))
    }

    /// Reads up to the next delimiter without a backslash, and skips the delimiter.
    fn part(&mut self, delimiter: char) -> Option<&'t str> {
        let mut is_escaped = false;
        let is_end = |c: char| {
            let ends = c == delimiter && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        };
        let (part, rest) = self.rest.split_once(is_end)?;
        self.rest = rest;
        Some(part)
    }

    /// Like [`Self::part`], but a delimiter inside brackets is part of the pattern: `s/[/]/-/`.
    fn pattern(&mut self, delimiter: char) -> Option<&'t str> {
        let start = self.rest;
        loop {
            match self.next()? {
                c if c == delimiter => break,
                '\\' => {
                    self.next()?;
                }
                '[' => self.brackets(delimiter),
                '\n' => return None,
                _ => {}
            }
        }
        start.get(..start.len() - self.rest.len() - delimiter.len_utf8())
    }

    /// Skips a bracket expression, after its opening bracket. Without a closing bracket, the opening bracket is an
    /// ordinary character.
    fn brackets(&mut self, delimiter: char) {
        let before = self.rest;
        if self.rest.starts_with('^') {
            self.next();
        }
        let mut is_first = true;
        while let Some(c) = self.next() {
            let class = self.rest.chars().next().filter(|kind| c == '[' && matches!(kind, ':' | '.' | '='));
            match (c, class) {
                (']', _) if !is_first => return,
                ('\n', _) => break,
                // Implementations differ on whether an escaped delimiter ends the pattern here.
                ('\\', _) if self.rest.starts_with(delimiter) => {
                    self.next();
                }
                (_, Some(kind)) => {
                    let end = self.rest.get(1..).and_then(|inside| inside.find(&format!("{kind}]")));
                    self.rest = end.and_then(|end| self.rest.get(end + 3..)).unwrap_or(self.rest);
                }
                _ => {}
            }
            is_first = false;
        }
        self.rest = before;
    }

    /// Reads to the end of the line, and the next line too if a backslash continues the line.
    fn text(&mut self) -> &'t str {
        let mut is_escaped = false;
        self.take(|c| {
            let continues = c != '\n' || is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            continues
        })
    }

    fn line(&mut self) -> &'t str {
        self.take(|c| c != '\n')
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let c = characters.next();
        self.rest = characters.as_str();
        c
    }

    fn take(&mut self, mut is_part: impl FnMut(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (part, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        part
    }

    fn skip(&mut self, is_part: impl FnMut(char) -> bool) {
        self.take(is_part);
    }
}

impl Command<'_> {
    /// Returns `None` if the file name is empty.
    fn with_file_name(self) -> Option<Self> {
        match self {
            Self::Other(_, "") => None,
            command => Some(command),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> String {
        let Steps { list, is_complete } = steps(script);
        let step = |step: &Step| {
            let address = if step.is_addressed { "@" } else { "" };
            match step.command {
                Command::Substitute { from, to, flags, file } => {
                    let file = file.map(|file| format!(" w {file}")).unwrap_or_default();
                    format!("{address}s<{from}><{to}>{flags}{file}")
                }
                Command::Other(name, "") => format!("{address}{name}"),
                Command::Other(name, text) => format!("{address}{name}<{text}>"),
            }
        };
        let steps: Vec<String> = list.iter().map(step).collect();
        steps.join(" ") + if is_complete { "" } else { " ?" }
    }

    #[test]
    fn commands() {
        let cases = [
            ("p;p", "p p"),
            ("s/;e x/{}/g;d", "s<;e x><{}>g d"),
            ("y/;{/}e/;p", "y<;{> p"),
            ("\\,x,I,/y/M{p;d}", "@{ p d }"),
            ("1,$!s|a/b|c|2p", "@s<a/b><c>2p"),
            ("/a/,+3d;0~4p;2,~4 ! p", "@d @p @p"),
            ("s/[/]/x/;/[^]/]/d;s/[[:space:]/]/-/", "s<[/]><x> @d s<[[:space:]/]><->"),
            ("s,a\\,b,c,e", "s<a\\,b><c>e"),
            ("s/\\[/x/;p", "s<\\[><x> p"),
            ("a foo;e bar\np", "a<foo;e bar> p"),
            ("i\\\n  foo\\\ne bar\np", "i<\\\n  foo\\\ne bar> p"),
            (":a;N;$!ba;s/\\n/ /g", ":<a> N @b<a> s<\\n>< >g"),
            ("/x/{bend};e ls", "@{ b<end> } e<ls>"),
            ("r a;b}\np", "r<a;b}> p"),
            ("s/a/b/w out;p\np", "s<a><b> w out;p p"),
            ("#n e rm\np#x\nq5", "#<n e rm> p #<x> q<5>"),
            ("s/a/b", " ?"),
            ("r", " ?"),
            ("s/a/b/k", " ?"),
            ("k", " ?"),
        ];
        for (script, expected) in cases {
            assert_eq!(shown(script), expected, "{script}");
        }
    }
}
